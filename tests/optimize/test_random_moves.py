"""Random moves over the built-in arms, from the least time to five times it: certified, or told why not."""

import pytest

from benchmarks.moves import trials


@pytest.fixture(scope="module")
def found():
    return list(trials(25, seed=7, payloads=1))


def test_random_moves_are_certified(found):
    failed = [(t.arm, t.factor, str(t.plan.diagnosis), str(t.plan.certificate)) for t in found if not t.certified]
    assert len(failed) <= 1, failed
    assert all(t.plan.diagnosis is not None for t in found if not t.plan.ok)


def test_plans_never_cost_more_than_a_joint_cubic_of_the_same_duration(found):
    compared = [(t.plan, t.plan.baseline) for t in found if t.plan.ok and t.plan.baseline.feasible and not t.plan.baseline.note]
    assert len(compared) >= 10
    for plan, base in compared:
        assert plan.energy <= base.ledger.energy + 1e-6 * base.ledger.throughput
