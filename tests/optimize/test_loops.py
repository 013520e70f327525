"""Compiled loops that are kept on disk: good only as long as nothing that they call has changed."""

import re
from pathlib import Path

from armature.optimize import loops, newton

FOLDER = Path(loops.__file__).parent


def test_a_change_in_any_file_of_loops_makes_all_that_is_kept_of_them_stale():
    kept = newton.direct._cache._cache_file
    assert kept._source_stamp[1] == loops.written
    called = re.findall(r"^from armature\.optimize import (.+)$", (FOLDER / "newton.py").read_text(), re.M)[0].split(", ")
    assert set(called) <= set(loops.files) and "newton" in loops.files and "loops" in loops.files
    for name in called:  # and what these call
        for other in re.findall(r"^from armature\.optimize(?:\.(\w+))? import (.+)$", (FOLDER / f"{name}.py").read_text(), re.M):
            assert set([other[0]] if other[0] else other[1].split(", ")) <= set(loops.files)
