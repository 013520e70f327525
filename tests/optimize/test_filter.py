"""The filter's rules hold for slopes of any size."""

import pytest

from armature.optimize.solver.search import Filter


@pytest.mark.parametrize("slope", [-1e300, -1e140, -1.0, -1e-140, -1e-320])
def test_slopes_of_any_size_are_compared_without_overflow(slope):
    rule = Filter(1.0)
    assert rule.accepts((1e-6, -1e308), (1e-5, 0.0), slope, 1.0) in ("cost", "violation", None)
    assert 0.0 < rule.shortest(1e-5, slope) <= 1.0
    assert (
        rule.accepts((0.0, 0.0), (1e-9, 0.0), slope, 1.0) is None or slope > -1.0
    )  # nothing gained
