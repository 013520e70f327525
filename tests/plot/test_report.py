"""The report: what the page says is what the plan says; it is small, needs nothing else, and failed
plans have one too."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.errors import FileError
from armature.job.saved import load_plan, save_plan
from armature.optimize.problem.result import Status
from armature.plot import words
from armature.plot.limbs import bones, reach, solids
from armature.plot.meshes import meshes, thinned
from armature.plot.page_data import page_data
from armature.plot.region import fastest, peak_current
from armature.plot.report import write_report
from armature.robot import Visual

ROBOT = arm.library("burgevin").with_payload(2.0)
MOVE = arm.Move([0.0, 1.0, 0.6], [1.5, 1.4, 0.8], duration=1.0)


@pytest.fixture(scope="module")
def plan():
    return arm.minimize_energy(ROBOT, MOVE, "non-regenerative", knots=30)


@pytest.fixture(scope="module")
def failed():
    return arm.minimize_energy(ROBOT, replace(MOVE, duration=0.05), knots=30)


def data_of(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1], parse_constant=lambda x: pytest.fail(f"{x} is not JSON"))


def test_page_says_what_the_plan_says(plan, tmp_path):
    text = plan.report(tmp_path / "plan.html").read_text(encoding="utf-8")
    data = data_of(text)
    assert f"{100 * plan.saving:.0f} % less energy drawn than the joint cubic" in text
    assert "The certificate passed" in text and f"{plan.energy:.4g} J" in text
    flows = data["energy"]["flows"]
    assert (flows["plan"]["net"], flows["base"]["net"]) == pytest.approx(
        (plan.energy, plan.baseline.ledger.energy), rel=1e-4
    )
    assert sum(x for _, x in flows["plan"]["in"]) == pytest.approx(
        sum(x for _, x in flows["plan"]["out"]), rel=1e-3
    )
    assert data["iterations"]["cost"][-1] == pytest.approx(plan.iterations[-1].cost, rel=1e-4)
    assert data["margins"][0]["left"] == pytest.approx(plan.certificate.worst.fraction, rel=1e-4)
    assert len(data["margins"]) == sum(len(row) for row in plan.certificate.margins.values())


def test_signals_stand_with_their_limits(plan):
    data = page_data(plan)
    assert (
        [j["name"] for j in data["joints"]]
        == list(ROBOT.joint_names)
        == [a["name"] for a in data["axes"]]
    )
    position, velocity, force = data["joints"][2]["charts"]
    assert (position["unit"], velocity["unit"], force["title"]) == ("m", "m/s", "force")
    assert position["limits"] == pytest.approx(
        [ROBOT.joint("r").limits.lower, ROBOT.joint("r").limits.upper]
    )
    base, own = position["series"]
    assert (base["name"], own["name"]) == ("base", "plan")
    np.testing.assert_allclose(own["y"], plan.trajectory.q[:, 2], rtol=1e-4)
    np.testing.assert_allclose(base["y"], plan.baseline.trajectory.q[:, 2], rtol=1e-4)
    np.testing.assert_allclose(
        data["axes"][2]["charts"][0]["limits"], [-(80**0.5), 80**0.5], rtol=1e-4
    )  # 80 W in 1 Ω
    region = data["graf"][2]["region"]
    inside = np.interp(data["graf"][2]["v"], region["x"], region["high"]) - np.array(
        data["graf"][2]["i"]
    )
    assert np.all(inside > -1e-3)
    edges = [fastest(drive, peak_current(drive)) for drive in ROBOT.drivetrain.drives]
    assert [g["region"]["whole"] for g in data["graf"]] == [
        max(g["region"]["x"]) >= 0.999 * edge for g, edge in zip(data["graf"], edges)
    ]


def test_the_moving_robot_ends_where_the_plan_ends(plan):
    scene = page_data(plan)["scene"]
    for name, motion in (("plan", plan.trajectory), ("base", plan.baseline.trajectory)):
        for frame, q in ((0, motion.q[0]), (-1, motion.q[-1])):
            pose = arm.pose(ROBOT, q, ROBOT.tips[0])
            k = scene["tips"][0]
            np.testing.assert_allclose(
                scene["tracks"][name]["p"][frame][3 * k : 3 * k + 3], pose.p, atol=6e-5
            )
            x, y, z, w = scene["tracks"][name]["r"][frame][4 * k : 4 * k + 4]
            assert (1 - 2 * (y * y + z * z), x * x + y * y + z * z + w * w) == pytest.approx(
                (pose.R[0, 0], 1.0), abs=5e-4
            )


@pytest.mark.parametrize("name", ["six_axis", "scara", "seven_axis", "planar2", "burgevin"])
def test_every_moving_link_has_a_shape(name: str):
    robot = arm.library(name)
    shapes = solids(robot)
    moving = {j.child for j in robot.joints if j.kind != "fixed"}
    assert all(shapes[k] for k, link in enumerate(robot.links) if link.name in moving)
    assert len(bones(robot)) == len(robot.joints) and reach(robot) > 0.2
    sizes = [
        x
        for parts in shapes
        for s in parts
        for x in (*s.get("a", ()), *s.get("b", ()), s.get("r", 0.0))
    ]
    assert np.all(np.isfinite(sizes)) and np.abs(sizes).max() < 2 * reach(robot)


def test_page_is_whole_small_and_quick(plan, tmp_path):
    """No address but the namespace of SVG; matplotlib is not needed for it."""
    import time

    text = plan.report(tmp_path / "plan.html").read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert (
        set(re.findall(r"https?://[^\s\"'`<]*", text)) <= {"http://www.w3.org/2000/svg"}
        and "src=" not in text
        and "@import" not in text
    )
    begin = time.process_time()
    plan.report(tmp_path / "plan.html")
    assert time.process_time() - begin < 2.0
    save_plan(plan, tmp_path / "plan.npz")
    code = (
        "import sys; from armature.job.saved import load_plan\n"
        f"load_plan({str(tmp_path / 'plan.npz')!r}).report({str(tmp_path / 'again.html')!r})\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_saved_plan_gives_the_same_page(plan, tmp_path):
    first = data_of(plan.report(tmp_path / "a.html").read_text(encoding="utf-8"))
    second = data_of(
        load_plan(save_plan(plan, tmp_path / "plan", report=True))
        .report(tmp_path / "b.html")
        .read_text(encoding="utf-8")
    )
    inside = data_of((tmp_path / "plan" / "report.html").read_text(encoding="utf-8"))
    for page in (first, second, inside):
        page["energy"].pop("residual")  # rounding
    assert first == second == inside


def test_a_failed_plan_says_why_and_marks_its_motion(failed, tmp_path):
    text = failed.report(tmp_path / "failed.html").read_text(encoding="utf-8")
    assert "No plan was found" in text and "must not be run" in text
    assert str(failed.diagnosis).split(".")[0] in text.replace("&#x27;", "'")
    assert data_of(text)["names"]["plan"] == "motion of least violation"


def test_a_search_that_ended_in_no_numbers_has_a_page_and_a_file(plan, tmp_path):
    q = plan.trajectory.q.copy()
    q[3:9] = np.nan
    broken = replace(plan, status=Status.INVALID, trajectory=replace(plan.trajectory, q=q, tau=q))
    assert "No plan was found" in broken.report(tmp_path / "page.html").read_text(encoding="utf-8")
    data = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert data["joints"][0]["charts"][0]["series"][1]["y"][4] is None
    for name in ("plan.json", "plan.npz"):
        np.testing.assert_array_equal(load_plan(save_plan(broken, tmp_path / name)).trajectory.q, q)


def test_words_for_every_case(plan, failed):
    fast = arm.minimize_time(ROBOT, replace(MOVE, duration=None), knots=30)
    assert "less time than the joint" in words.headline(
        fast
    ) or fast.baseline.trajectory.duration == pytest.approx(fast.duration, rel=0.01)
    alone = replace(plan, compare=None)
    assert words.headline(alone) == f"{plan.energy:.4g} J drawn, {plan.losses:.4g} J lost"
    assert "not pass" in words.proof(replace(plan.certificate, tracking_error=1.0))
    assert "not pass" in words.proof(
        replace(plan.certificate, worst=replace(plan.certificate.worst, fraction=-0.5))
    )
    assert words.headline(failed) == "No plan was found"
    assert page_data(alone)["names"]["base"] is None


def test_bad_paths_are_refused(plan, tmp_path):
    with pytest.raises(FileError, match=r"html, \.pdf or \.png"):
        plan.report(tmp_path / "plan.docx")
    with pytest.raises(FileError, match="cannot be written"):
        plan.report(tmp_path / "no" / "plan.html")


def box(size: float, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """A finely meshed cube: 12 parts² triangles."""
    import trimesh

    mesh = trimesh.creation.box((size, size, size))
    for _ in range(parts):
        mesh = mesh.subdivide()
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def test_thinned_meshes_keep_their_place_and_lose_their_weight():
    points, faces = box(0.4, 6)
    fewer_points, fewer_faces = thinned(points, faces, cells=10)
    assert len(faces) == 12 * 4**6 and len(fewer_faces) < len(faces) / 20
    assert np.abs(fewer_points).max() <= 0.2 + 1e-12 and np.abs(fewer_points).max(
        axis=0
    ) == pytest.approx([0.2] * 3, abs=0.04)
    corners = fewer_points[fewer_faces]
    area = (
        np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
        ).sum()
        / 2
    )
    assert area == pytest.approx(6 * 0.4**2, rel=0.25)


def test_meshes_are_read_from_the_folders_given_and_nowhere_else(plan, tmp_path):
    import trimesh

    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "arm" / "meshes" / "head.stl")
    (tmp_path / "arm" / "meshes" / "bad.stl").write_text("no mesh")
    names = ("package://arm/meshes/head.stl", "package://arm/meshes/bad.stl", "../secret.stl")
    visuals = tuple(
        Visual("mesh", (2.0, 2.0, 2.0), (0.0, 0.0, 1.0), file=name, colour=(1.0, 0.0, 0.0, 1.0))
        for name in names
    )
    links = tuple(
        replace(link, visuals=visuals) if link.name == "head" else link for link in ROBOT.links
    )
    other = replace(plan, robot=replace(ROBOT, links=links))
    found = meshes(other.robot, [tmp_path])
    assert (
        list(found) == ["head"]
        and len(found["head"]) == 1
        and found["head"][0]["paint"] == [1.0, 0.0, 0.0]
    )
    np.testing.assert_allclose(
        np.ptp(found["head"][0]["points"], axis=0), [0.2, 0.4, 0.6], atol=1e-3
    )
    np.testing.assert_allclose(np.mean(found["head"][0]["points"], axis=0), [0, 0, 1], atol=1e-3)
    assert meshes(other.robot, [tmp_path / "arm" / "meshes"]) == {} == meshes(other.robot, [])
    text = write_report(other, tmp_path / "plan.html", meshes=[tmp_path]).read_text(
        encoding="utf-8"
    )
    shapes = data_of(text)["scene"]["solids"]
    assert shapes[[link.name for link in links].index("head")][0]["kind"] == "mesh"


def test_shapes_of_the_robots_file_are_drawn_where_it_has_them():
    shape = Visual("box", (0.1, 0.2, 0.3), colour=(0.0, 1.0, 0.0, 1.0))
    shapes = (shape, replace(shape, shape="sphere", size=(0.1,)), Visual("cylinder", (0.1, 0.4)))
    links = tuple(replace(link, visuals=shapes) for link in ROBOT.links)
    kinds = [part["kind"] for part in solids(replace(ROBOT, links=links))[1]]
    assert kinds == ["box", "sphere", "tube"]
