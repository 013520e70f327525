"""Motion planning problems of MotionBenchMaker: free paths, plans of least time and least energy,
proofs.

`python -m benchmarks scenes --data FOLDER [--first N] [--every K] [--count N] [--rows FILE]
[--quick] [--poses] [--judge]`: FOLDER holds panda.tar.xz, ur5.tar.xz and robots/ (how to get them:
docs/benchmarks.md). The archives are unpacked into a temporary folder. Problems are taken by
number: the first of every scene, then the next, so that a run that is ended early saw all scenes.
--first, --every, --count: the first number (1), the step between numbers (1), how many (all).
--rows: a file that every row is written to when it is known; problems it holds are not run again.
--quick: no least energy.  --poses: the goal is the pose of the hand there, in any posture (the
first free path is that to the joint goal all the same).  --judge: coal on the real meshes at 2,000
instants of every plan.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tarfile
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

import armature as arm
from armature.dynamics.compiled import link_poses
from armature.robot.mesh import read_mesh
from armature.scene.free_path import free_path, search_in
from benchmarks.arms import driven

ROBOTS = {
    "panda": ("panda_hand", (2.175,) * 4 + (2.61,) * 3),
    "ur5": ("ee_link", (3.15,) * 6),
}  # link that carries 1 kg, rad/s
SLOWER = 1.5  # least energy is planned at this multiple of the least time
INSTANTS = 2000
COUNT = "--count", "1000"
HEAD = (
    "| robot, scene | problems | solved, proved | first path ms (95 %) | plan s (95 %) | motion s | proof"
    " ms | Σ\\|τ·v\\|dt J | energy J | energy at 1.5 T | judge |"
)


class Problem(NamedTuple):
    """A scene with a start and a goal (n,), rad."""

    scene: arm.Scene
    start: np.ndarray
    goal: np.ndarray


class Row(NamedTuple):
    """What came of one problem; NaN where it was not solved. path, plan, proof: s of computing on
    one core.  work: J, Σ|τ·v|dt."""

    scene: str
    number: int
    solved: bool
    why: str = ""
    path: float = np.nan
    plan: float = np.nan
    proof: float = np.nan
    duration: float = np.nan
    work: float = np.nan
    energy: float = np.nan
    slow: float = np.nan
    judged: bool | None = None


def run() -> str:
    """The section of the results."""
    folder = Path(option("--data", ""))
    if not (folder / "panda.tar.xz").exists():
        return (
            "## scenes\n\nGive `--data FOLDER`, the folder with panda.tar.xz, ur5.tar.xz and"
            " robots/ (docs/benchmarks.md)."
        )
    with tempfile.TemporaryDirectory() as place:
        for name in ROBOTS:
            with tarfile.open(folder / f"{name}.tar.xz") as archive:
                archive.extractall(place, filter="data")
        rows = all_rows(folder, Path(place))
    return "\n".join(["## scenes", "", HEAD, "|" + "---|" * 11, *table(rows)])


def all_rows(folder: Path, place: Path) -> list[Row]:
    """The rows of all chosen problems, number by number; kept in the file of --rows."""
    kept = Path(option("--rows", "")) if "--rows" in sys.argv else None
    rows = [] if kept is None or not kept.exists() else read_rows(kept)
    done = {(row.scene, row.number) for row in rows}
    robots = {name: load(name, folder) for name in ROBOTS}
    judges = {name: Judge(robots[name]) if "--judge" in sys.argv else None for name in ROBOTS}
    for number, name, file in chosen(place):
        if (file.parent.name, number) in done:
            continue
        row = solve(robots[name], file, number, judges[name])
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
        if kept is not None:
            with kept.open("a") as file:
                file.write(json.dumps(row._asdict()) + "\n")
    return rows


def read_rows(path: Path) -> list[Row]:
    """Rows that an earlier run has kept."""
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()]


def chosen(place: Path) -> list[tuple[int, str, Path]]:
    """(number, robot, scene file): the first number of every scene, then the next."""
    first, step, count = (int(option(*o)) for o in (("--first", "1"), ("--every", "1"), COUNT))
    numbers = range(first, 1000, step)[:count]
    files = [(name, file) for name in ROBOTS for file in (place / name).glob("*/scene*.yaml")]
    found = [(int(file.stem.removeprefix("scene")), name, file) for name, file in files]
    return sorted(item for item in found if item[0] in numbers)


def option(name: str, default: str) -> str:
    """The value after an option of the command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv[:-1] else default


def load(name: str, folder: Path) -> arm.Robot:
    """The robot of the problems with the manufacturer's speeds and catalogue drives."""
    link, speeds = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        robot = arm.load(folder / "robots" / name / f"{name}.urdf")
    robot = robot.with_limits(
        {joint: {"velocity": v} for joint, v in zip(robot.joint_names, speeds)}
    )
    return driven(robot, link, 1.0, np.random.default_rng(0))


def read_problem(robot: arm.Robot, file: Path) -> Problem:
    """The problem of a scene file and the request beside it."""
    request = yaml.load(
        file.with_name(file.name.replace("scene", "request")).read_text(), Loader=yaml.CSafeLoader
    )
    state = request["start_state"]["joint_state"]
    start = dict(zip(state["name"], state["position"]))
    goal = start | {
        c["joint_name"]: c["position"] for c in request["goal_constraints"][0]["joint_constraints"]
    }
    return Problem(
        arm.Scene.load(file),
        *(np.array([x[joint] for joint in robot.joint_names], dtype=float) for x in (start, goal)),
    )


def solve(robot: arm.Robot, file: Path, number: int, judge: Judge | None) -> Row:
    """Free path, least time, proof, least energy."""
    row = Row(file.parent.name, number, False)
    scene, start, goal = read_problem(robot, file)
    move = arm.Move(start, goal, floor=None)
    if "--poses" in sys.argv:
        hand = next(link for name, (link, _) in ROBOTS.items() if row.scene.endswith(name))
        there = arm.pose(robot, goal, hand)
        move = dataclasses.replace(move, goal=(there.R, there.p), link=hand)
    search_in(robot, scene)  # what is fitted and compiled once does not count
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
            begin = time.process_time()
            path = free_path(robot, scene, start, goal)
            found = (time.process_time() - begin) * path.first / path.seconds
            begin = time.process_time()
            plan = arm.optimize.plan_around(robot, move, scene, ways=1)
            row = row._replace(path=found, plan=time.process_time() - begin)
            if not plan.ok:
                return row._replace(why=str(plan.diagnosis))
            slow = dataclasses.replace(move, duration=SLOWER * plan.duration)
            quick = "--quick" in sys.argv
            cheap = (
                None if quick else arm.optimize.plan_around(robot, slow, scene, "energy", ways=1)
            )
    except arm.ArmatureError as error:
        return row._replace(why=str(error))
    begin = time.process_time()
    proof = arm.clearance(robot, scene, plan.trajectory)
    row = row._replace(solved=proof.free, proof=time.process_time() - begin)
    plans = [found for found in (plan, cheap) if found is not None and found.ok]
    return row._replace(
        why="" if cheap is None or cheap.ok else f"least energy: {cheap.diagnosis}",
        duration=plan.duration,
        work=work(robot, plan.trajectory),
        energy=plan.energy,
        slow=cheap.energy if cheap is not None and cheap.ok else np.nan,
        judged=None if judge is None else all(judge.free(scene, x.trajectory) for x in plans),
    )


def work(robot: arm.Robot, motion: arm.Trajectory) -> float:
    """Σ|τ·v|dt of the rigid arm, as cuRobo counts it: no friction, no rotors, no losses; J."""
    t = np.linspace(motion.t[0], motion.t[-1], 500)
    x = motion(t)
    bare = dataclasses.replace(
        robot,
        joints=tuple(dataclasses.replace(j, friction=arm.drive.Friction()) for j in robot.joints),
        drives=(),
    )
    torque = np.asarray(arm.inverse_dynamics(bare, x.q, x.v, x.a))
    return float(np.abs(torque * x.v).sum() * (t[1] - t[0]))


def table(rows: list[Row]) -> list[str]:
    """A line for each scene; what was not solved below."""
    scenes = sorted(
        {row.scene for row in rows}, key=lambda name: name.split("_")[::-1][:1] + [name]
    )
    lines = [table_line(name, [row for row in rows if row.scene == name]) for name in scenes]
    lines += [
        table_line(f"all {name}", [row for row in rows if row.scene.endswith(name)])
        for name in ROBOTS
    ]
    said = [f"- {row.scene} {row.number}: {row.why}" for row in rows if row.why]
    return [*lines, "", *said] if said else lines


def table_line(name: str, rows: list[Row]) -> str:
    """Medians of rows."""
    solved = [row for row in rows if row.solved]
    judged = [row.judged for row in solved if row.judged is not None]
    verdict = f"{sum(judged)} of {len(judged)} free" if judged else "-"

    def shown(key: str, digits: int = 0, part: float = 0.5, factor: float = 1.0) -> str:
        known = [x for row in solved if np.isfinite(x := getattr(row, key))]
        return f"{factor * np.quantile(known, part):.{digits}f}" if known else "-"

    cells = [
        f"{shown('path', 1, factor=1e3)} ({shown('path', 0, 0.95, 1e3)})",
        f"{shown('plan', 2)} ({shown('plan', 1, 0.95)})",
        *(shown("duration", 2), shown("proof", factor=1e3), shown("work"), shown("energy")),
        *(shown("slow"), verdict),
    ]
    return f"| {name} | {len(rows)} | {len(solved)} | {' | '.join(cells)} |"


class Judge:
    """coal on the meshes of a robot: another judge, which shares no code with ours."""

    def __init__(self, robot: arm.Robot):
        self.robot = robot
        self.shapes = {
            link.name: [coal_shape(shape) for shape in link.collisions]
            for link in robot.links
            if link.collisions
        }

    def free(self, scene: arm.Scene, motion: arm.Trajectory) -> bool:
        """Whether no pair collides at 2,000 instants."""
        import coal  # pyright: ignore[reportMissingImports]

        q = motion(np.linspace(motion.t[0], motion.t[-1], INSTANTS)).q
        poses, names = link_poses(self.robot, q), list(self.robot.link_names)
        R, p = np.asarray(poses.R), np.asarray(poses.p)
        world: dict[str, Any] = {}
        for o in scene.world:
            made = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}[o.shape](
                *o.size
            )
            world.setdefault(o.name, []).append(
                (made, coal.Transform3s(np.array(o.rotation), np.array(o.position)))
            )
        pairs = arm.distance(self.robot, scene, q[0]).pairs
        request = coal.CollisionRequest()
        for k in range(len(q)):
            placed = dict(world)
            for link, shapes in self.shapes.items():
                i = names.index(link)
                placed[link] = [
                    (s, coal.Transform3s(R[k, i] @ Q, R[k, i] @ x + p[k, i])) for s, Q, x in shapes
                ]
            for a, b in pairs:
                for first in placed[a]:
                    for second in placed[b]:
                        if coal.collide(*first, *second, request, coal.CollisionResult()):
                            return False
        return True


def coal_shape(shape: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A collision shape for coal: its triangles, if it is a mesh; with its pose in the link."""
    import coal  # pyright: ignore[reportMissingImports]

    pose = np.array(shape.rotation), np.array(shape.position)
    if shape.shape != "mesh":
        return {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}[shape.shape](
            *shape.size
        ), *pose
    mesh = read_mesh(shape.path)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(mesh.points * np.broadcast_to(np.asarray(shape.size or 1.0), 3)))
    triangles.extend([coal.Triangle(*(int(k) for k in face)) for face in mesh.faces])
    made = coal.BVHModelOBBRSS()
    made.beginModel(len(triangles), len(points))
    made.addSubModel(points, triangles)
    made.endModel()
    return made, *pose
