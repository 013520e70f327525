"""On a Dask cluster the table is the same, also where workers die."""

from __future__ import annotations

from pathlib import Path

import pytest
import study_functions as functions

import armature as arm
from armature.study.run import run_study
from armature.study.spec import Study
from armature.study.store import StudyError


def test_a_cluster_gives_the_table_of_the_local_pool(tmp_path: Path) -> None:
    move = arm.Move([0.0, 0.0], [1.0, 1.0], 1.0)
    study = Study(arm.Job(arm.library("planar2"), move, knots=12), {"duration": [0.9, 1.2], "knots": [10, 12]}, certify=False, keep=True)
    local, cluster = run_study(study, tmp_path / "a.db", workers=1), run_study(study, tmp_path / "b.db", cluster="local:2")
    same = lambda results: {name: v for name, v in results.table().items() if name != "seconds"}
    assert same(local) == same(cluster) and local.complete and all(local.column("ok"))
    assert cluster.plan(3).trajectory.duration == pytest.approx(1.2)


def test_a_poisoned_case_does_not_stop_the_cluster(tmp_path: Path) -> None:
    study = Study(function=functions.deadly_three, vary={"x": range(1, 6)}, attempts=2)
    results = run_study(study, tmp_path / "a.db", cluster="local:1")
    assert results.counts == {"waiting": 0, "done": 4, "failed": 0, "poisoned": 1}
    assert "it cost 2 workers; the last one of the cluster died" in results.rows[2].reason


@pytest.mark.parametrize("address", ["local:0", "local:two", "somewhere"])
def test_an_address_that_is_none_is_told(tmp_path: Path, address: str) -> None:
    with pytest.raises(arm.ArgumentError, match="cluster = "):
        run_study(Study(function=functions.square, vary={"x": [1]}), tmp_path / "a.db", cluster=address)


def test_a_cluster_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armature.study.dask_pool.PATIENCE", 0.5)
    with pytest.raises(StudyError, match="does not answer"):
        run_study(Study(function=functions.square, vary={"x": [1]}), tmp_path / "a.db", cluster="tcp://127.0.0.1:9")
