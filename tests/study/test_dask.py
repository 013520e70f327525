"""On a Dask cluster the table is the same, also where workers die."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import study_functions as functions

import armature as arm
from armature.study.dask_pool import Tls
from armature.study.run import run_study
from armature.study.spec import Study
from armature.study.store import StudyError


@contextmanager
def cluster_of(workers: int) -> Iterator[str]:
    """The address of a Dask cluster of this machine, which tells of every worker's death."""
    distributed, config = pytest.importorskip("distributed"), pytest.importorskip("dask").config
    told = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-saturation": 1.0,
    }
    options = {
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
        "host": "127.0.0.1",
        "silence_logs": 50,
    }
    with config.set(told), distributed.LocalCluster(n_workers=workers, **options) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_gives_the_table_of_the_local_pool(tmp_path: Path) -> None:
    move = arm.Move([0.0, 0.0], [1.0, 1.0], 1.0)
    study = Study(
        arm.job.Job(arm.library("planar2"), move, knots=12),
        {"duration": [0.9, 1.2], "knots": [10, 12]},
        certify=False,
        keep=True,
    )
    local = run_study(study, tmp_path / "a.db", workers=1)
    with cluster_of(2) as address:
        cluster = run_study(study, tmp_path / "b.db", cluster=address)
    same = lambda results: {name: v for name, v in results.table().items() if name != "seconds"}
    assert same(local) == same(cluster) and local.complete and all(local.column("ok"))
    assert cluster.plan(3).trajectory.duration == pytest.approx(1.2)


def test_a_poisoned_case_does_not_stop_the_cluster(tmp_path: Path) -> None:
    study = Study(function=functions.deadly_three, vary={"x": range(1, 6)}, attempts=2)
    with cluster_of(1) as address:
        results = run_study(study, tmp_path / "a.db", cluster=address)
    assert results.counts == {"waiting": 0, "done": 4, "failed": 0, "poisoned": 1}
    assert "it cost 2 workers; the last one of the cluster died" in results.rows[2].reason


def test_local_processes_listen_at_no_port(tmp_path: Path) -> None:
    study = Study(function=functions.listening, vary={"x": [1, 2, 3]})
    results = run_study(study, tmp_path / "a.db", cluster="local:2")
    assert results.complete and set(results.column("ports")) == {0.0}


@pytest.mark.parametrize(
    "given",
    [
        {"cluster": "tls://127.0.0.1:9"},
        {"cluster": "tls://127.0.0.1:9", "tls": Tls("no", "such", "files")},
    ],
)
def test_tls_needs_certificates(tmp_path: Path, given) -> None:
    with pytest.raises(arm.ArmatureError, match=r"certificates|no such file"):
        run_study(Study(function=functions.square, vary={"x": [1]}), tmp_path / "a.db", **given)


@pytest.mark.parametrize("address", ["local:0", "local:two", "somewhere", "local:99999999999"])
def test_an_address_that_is_none_is_told(tmp_path: Path, address: str) -> None:
    with pytest.raises(arm.errors.ArgumentError, match="cluster = "):
        run_study(
            Study(function=functions.square, vary={"x": [1]}), tmp_path / "a.db", cluster=address
        )


def test_a_cluster_that_does_not_answer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("armature.study.dask_pool.PATIENCE", 0.5)
    with pytest.raises(StudyError, match="does not answer"):
        run_study(
            Study(function=functions.square, vary={"x": [1]}),
            tmp_path / "a.db",
            cluster="tcp://127.0.0.1:9",
        )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tls]:
    """Two authorities, "ours" and "theirs", each with a certificate that it signed."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("certificates are made by openssl, which is not installed")
    folder, found = tmp_path_factory.mktemp("tls"), {}
    call = lambda *words: subprocess.run(
        [openssl, *map(str, words)], cwd=folder, check=True, capture_output=True
    )
    (folder / "name").write_text("subjectAltName=IP:127.0.0.1\n")
    key = "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"
    for who in ("ours", "theirs"):
        ca, mine = f"{who}-ca", f"{who}-me"
        call(
            "req",
            "-x509",
            *key,
            "-keyout",
            f"{ca}.key",
            "-out",
            f"{ca}.pem",
            "-days",
            2,
            "-subj",
            f"/CN={ca}",
        )
        call("req", *key, "-keyout", f"{mine}.key", "-out", f"{mine}.csr", "-subj", "/CN=127.0.0.1")
        signed = (
            "-CA",
            f"{ca}.pem",
            "-CAkey",
            f"{ca}.key",
            "-CAcreateserial",
            "-extfile",
            "name",
            "-days",
            2,
        )
        call("x509", "-req", "-in", f"{mine}.csr", *signed, "-out", f"{mine}.pem")
        found[who] = Tls(folder / f"{ca}.pem", folder / f"{mine}.pem", folder / f"{mine}.key")
    return found


def test_a_scheduler_with_tls_takes_clients_of_its_authority_alone(
    tmp_path, certificates, monkeypatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("armature.study.dask_pool.PATIENCE", 20.0)
    ca, cert, key = map(str, certificates["ours"])
    parts = {
        f"tls_{who}_{what}": path
        for who in ("scheduler", "worker", "client")
        for what, path in (("cert", cert), ("key", key))
    }
    security = distributed.Security(tls_ca_file=ca, require_encryption=True, **parts)
    options = {
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": None,
        "host": "tls://127.0.0.1",
        "silence_logs": 50,
    }
    study = Study(function=functions.square, vary={"x": [1, 2, 3]})
    with distributed.LocalCluster(
        n_workers=1, protocol="tls", security=security, **options
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1")
        done = run_study(study, tmp_path / "a.db", cluster=address, tls=certificates["ours"])
        monkeypatch.setattr("armature.study.dask_pool.PATIENCE", 2.0)
        for name, given, where in (
            ("another authority", certificates["theirs"], address),
            ("no encryption", None, address.replace("tls://", "tcp://")),
        ):
            with pytest.raises(StudyError, match="does not answer"):
                run_study(study, tmp_path / f"{name}.db", cluster=where, tls=given)
    assert done.counts == {"waiting": 0, "done": 3, "failed": 0, "poisoned": 0}
