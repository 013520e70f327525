"""Random moves over the built-in arms, from the least time to five times it: certified, or told why
not."""

import numpy as np
import pytest
from benchmarks.arms import BUILT_IN
from benchmarks.moves import trials


@pytest.fixture(scope="module")
def found():
    return list(trials(25, 100, tuple(BUILT_IN), ("plain", "near", "moving")))


def test_random_moves_are_certified(found):
    failed = [t.told for t in found if not t.certified]
    assert len(failed) <= 1, failed
    assert all(t.plan.diagnosis is not None for t in found if not t.plan.ok)


def test_plans_never_cost_more_than_a_joint_cubic_of_the_same_duration(found):
    # a joint cubic jumps into its acceleration, which arms with a jerk limit must not do
    free = [
        t.plan
        for t in found
        if t.plan.ok and not any(np.isfinite(j.limits.jerk) for j in t.plan.robot.joints)
    ]
    compared = [
        (plan, plan.baseline) for plan in free if plan.baseline.feasible and not plan.baseline.note
    ]
    assert len(compared) >= 5
    for plan, base in compared:
        assert plan.energy <= base.ledger.energy + 1e-6 * base.ledger.throughput
