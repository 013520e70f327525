"""Random moves over the built-in arms, from the least time to five times it: certified, or told why not."""

from benchmarks.moves import trials


def test_random_moves_are_certified():
    found = list(trials(30, seed=7, payloads=1))
    failed = [(t.arm, t.factor, str(t.plan.diagnosis), str(t.plan.certificate)) for t in found if not t.certified]
    assert len(failed) <= 1, failed
    assert all(t.plan.diagnosis is not None for t in found if not t.plan.ok)


def test_plans_never_cost_more_than_a_joint_cubic_of_the_same_duration():
    for trial in trials(10, seed=11, payloads=1):
        base = trial.plan.baseline
        if base.feasible and not base.note:
            assert trial.plan.energy <= base.ledger.energy + 1e-6 * base.ledger.throughput
