"""Wrong arguments for everything public: each callable of the surface × each argument × each wrong
value.

A callable is called with right arguments of which one is wrong. `python tests/misuse.py` runs all
of them."""

import contextlib
import functools
import inspect
import io
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import armature as arm
from armature.cell.line.line_tasks import LineTask, OpenLine, OpenStation
from armature.cell.schedule.model import CellRobot, Energy, Mode, Movement, Spot, Stand, Travel
from armature.study.line import StationMove

# s of a processor for one call; six times as long by the clock, of a machine that may be busy
LIMIT = 20


# shared by the rooms: not documented, and checked by no guard
INSIDE = {
    "Account",
    "Catalogue",
    "Cycle",
    "Drivetrain",
    "EXACT",
    "EfficiencyTable",
    "Epigraph",
    "Flow",
    "Limit",
    "Smooth",
    "Supply",
    "Thermal",
    "as_supply",
    "drivetrain",
    "gear",
    "motor",
    "read_drives",
    "stack",
    "Argument",
    "Expression",
    "Kernel",
    "compiled",
    "parameters",
    "thread_count",
    "trace",
    "Problem",
    "Visual",
    "Margin",
    "Status",
    "Rollout",
    "Controller",
}


def generate():
    yield 1.0


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "wrong",
    "no text": lambda: "",
    "bytes": lambda: b"wrong",
    "complex": lambda: 1 + 2j,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "minus one": lambda: -1,
    "zero": lambda: 0,
    "a fraction": lambda: 0.37,
    "huge": lambda: 10**400,
    "no list": list,
    "a list": lambda: [1, 2, 3, 4, 5, 6, 7],
    "texts": lambda: ["a", "b"],
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "tuple of None": lambda: (None, None),
    "dict": lambda: {"wrong": 1},
    "set": lambda: {1, 2},
    "generator": generate,
    "object": object,
    "class": lambda: int,
    "module": lambda: np,
    "function": lambda: lambda: None,
    "wrong shape": lambda: np.zeros((3, 0, 2)),
    "NaN array": lambda: np.full(2, np.nan),
    "complex array": lambda: np.ones(2, complex),
    "texts array": lambda: np.array(["a", "b"]),
    "objects array": lambda: np.array([None, object()]),
    "a robot": lambda: arm.library("planar2"),
    "true": lambda: True,
}


@dataclass(frozen=True)
class Target:
    """Something public, a call of it that is right, and the arguments that can be wrong."""

    name: str
    call: Callable
    right: dict[str, Any]
    arguments: tuple[str, ...]


@functools.cache
def material() -> dict[str, Any]:
    """Robots, plans and motions that right calls need, made once."""
    planar = arm.library("planar2")
    six = arm.library("six_axis")
    move = arm.Move([0.0, 0.0], [1.0, 1.0], 1.0)
    plan = arm.minimize_energy(planar, move, knots=20)
    folder = tempfile.mkdtemp(prefix="misuse")
    plan.save(f"{folder}/plan")
    plan.trajectory.save(f"{folder}/motion.csv")
    drive = next(d for c in planar.drives for d in c.drives)
    steps = (StationMove(move), StationMove(arm.Move([1.0, 1.0], [0.0, 0.0], 1.0)))
    curve = arm.energy_time_curve(planar, move, [1.0, 1.5, 2.0], knots=12, refine=False)
    back = (arm.cell.MoveTo([1.0, 1.0], name="out"), arm.cell.MoveTo("start", name="back"))
    program = arm.Program(planar, [0.0, 0.0], back, 3.0, knots=12, points=3)
    spots = (Spot("here", (Mode("motors", 5.0),)),)
    stands = (Stand("a", 0.0, 9.0, spots, True), Stand("b", 1.0, 9.0, spots))
    moves = (Movement("m", "here", "here", 1.0, 5.0, Energy(((4.0, -1.0), (1.0, 1.0)))),)
    travels = Travel("out", "a", "b", moves), Travel("back", "b", "a", moves)
    model = arm.cell.CellModel("cell", 9.0, (CellRobot("one", stands, travels),))
    task = LineTask("task", {"one": steps})
    return {
        "program": program,
        "program plan": arm.cell.plan_program(program, "time"),
        "cell model": model,
        "open line": OpenLine((OpenStation("one", planar),), (task,), knots=12, points=3),
        "planar": planar,
        "six": six,
        "move": move,
        "plan": plan,
        "drive": drive,
        "curve": curve,
        "folder": folder,
        "steps": steps,
    }


def right_arguments() -> dict[str, dict[str, Any]]:
    """What each public name needs; where a robot's dynamics are meant, the arguments have
    everybody's names."""
    m = material()
    planar, six, move, plan = m["planar"], m["six"], m["move"], m["plan"]
    tip = planar.tips[0] if hasattr(planar, "tips") else planar.links[-1].name
    hand = six.tips[0] if hasattr(six, "tips") else six.links[-1].name
    two = {
        "q": np.array([0.3, 0.4]),
        "v": np.array([0.1, 0.2]),
        "a": np.zeros(2),
        "tau": np.zeros(2),
    }
    pose = arm.pose(six, np.full(6, 0.4), hand)
    points = [[0.3, 0.1, 0.4], [0.4, 0.1, 0.4], [0.4, 0.3, 0.5]]
    path = arm.motion.joint_path([[0.0, 0.0], [0.5, 0.2], [1.0, 1.0]])
    station = arm.study.Station("one", planar, m["steps"])
    constraint = arm.dynamics.constraints.couple_joints(
        {planar.joint_names[0]: 1.0, planar.joint_names[1]: -1.0}
    )
    motion = plan.trajectory
    common = {
        "robot": planar,
        "link": tip,
        "wrenches": {tip: np.zeros(6)},
        "trajectory": motion,
        "motion": motion,
        **two,
    }
    return {
        "": common,
        "Robot": {"name": "r", "links": planar.links, "joints": planar.joints, "base": planar.base},
        "Link": {"name": "link", "mass": 1.0},
        "Joint": {"name": "j", "kind": "revolute", "parent": "a", "child": "b"},
        "Rotor": {"inertia": 1e-4},
        "Mimic": {"joint": "j"},
        "load": {"path": f"{m['folder']}/plan/robot.yaml"},
        "Trajectory": {"t": motion.t, "q": motion.q, "v": motion.v, "a": motion.a},
        "Simulation": {"t": motion.t, "q": motion.q, "v": motion.v, "a": motion.a},
        "Drive": {"motor": m["drive"].motor},
        "Motor": {"resistance": 1.0, "torque_constant": 0.1},
        "Bus": {
            "capacitance": 0.01,
            "voltage": 300.0,
            "resistor_voltage": 350.0,
            "resistance": 10.0,
        },
        "Coupling": {"joints": (planar.joint_names[0],), "drives": (m["drive"],)},
        "Loop": {"name": "l", "kind": "revolute", "a": "x", "b": "y"},
        "simulate": {"robot": planar, "q0": two["q"], "v0": two["v"], "duration": 0.1},
        "rollout": {"robot": planar, "q0": two["q"], "v0": two["v"], "duration": 0.05},
        "traced": {"function": lambda t, q, v: -q},
        "Curve": {
            f: getattr(m["curve"], f)
            for f in (
                "durations",
                "energies",
                "losses",
                "trajectories",
                "minima",
                "resonance",
                "advice",
            )
        },
        "Way": {"solution": plan, "description": "d"},
        "Solution": {
            f: getattr(plan, f)
            for f in ("robot", "supply", "status", "trajectory", "compare", "account", "result")
        },
        "Diagnosis": {"sentence": "s"},
        "Baseline": {"trajectory": motion, "ledger": plan.ledger, "feasible": True},
        "Certificate": {
            f: getattr(plan.certificate, f)
            for f in inspect.signature(arm.optimize.Certificate).parameters
        },
        "best_self_motion": None,
        "least_energy_to_pose": {
            "robot": six,
            "start": np.zeros(6),
            "pose": pose,
            "link": hand,
            "duration": 2.0,
            "knots": 8,
            "most": 1,
        },
        "distance": {
            "robot": planar,
            "scene": arm.Scene().with_sphere("ball", 0.1),
            "q": np.zeros(planar.n),
        },
        "collisions": {
            "robot": planar,
            "scene": arm.Scene().with_sphere("ball", 0.1),
            "q": np.zeros(planar.n),
        },
        "minimize_time": {"robot": planar, "task": arm.FollowPath(path), "knots": 12},
        "energy_time_curve": {
            "robot": planar,
            "task": move,
            "durations": [1.0, 1.5],
            "knots": 10,
            "refine": False,
        },
        "ways_round": {"robot": planar, "task": move, "knots": 10, "most": 1},
        "improve": {"robot": planar, "motion": motion, "knots": 10, "deadline": 0.5},
        "rehearse": {"robot": planar, "solution": plan, "runs": 2},
        "FollowPath": {"path": path},
        "Job": {"robot": planar, "task": move},
        "load_job": {"path": "nowhere.yaml"},
        "load_plan": {"path": f"{m['folder']}/plan"},
        "SavedPlan": None,
        "load_recorded": {"path": f"{m['folder']}/motion.csv"},
        "recorded_cost": {"robot": planar, "trajectory": motion, "knots": 10},
        "Move": {"start": [0.0, 0.0], "goal": [1.0, 1.0]},
        "Via": {"configuration": [0.5, 0.5]},
        "minimize_energy": {"robot": planar, "task": move, "knots": 10},
        "Study": {"base": arm.job.Job(planar, move, knots=10), "vary": {"duration": [1.0]}},
        "run_study": None,
        "load_study": {"path": "nowhere.yaml"},
        "Line": {"stations": (station,)},
        "Station": {"name": "s", "robot": planar, "steps": m["steps"]},
        "balance_line": None,
        "load_line": {"path": "nowhere.yaml"},
        "load_results": {"path": "nowhere.sqlite"},
        "inverse_dynamics_hessian": {**common, "weights": np.ones(2)},
        "constrained_dynamics": {**common, "constraint": constraint},
        "constraint_terms": {**common, "constraint": constraint},
        "section_loads": {**common, "link": "lower", "at": [0.1, 0.0, 0.0]},
        "worst_section_loads": {**common, "link": "lower"},
        "Beam": {"link": tip, "start": np.zeros(3), "end": np.ones(3)},
        "hand_accuracy": {**common, "errors": arm.dynamics.JointErrors(1e-4)},
        "ConstraintController": {
            "robot": planar,
            "constraint": constraint,
            "gamma0": 100.0,
            "gamma1": 20.0,
        },
        "Servo": {"robot": planar, "plan": motion, "stiffness": 100.0, "damping": 10.0},
        "lqr": {
            "robot": planar,
            "plan": motion,
            "state_weight": np.eye(4),
            "torque_weight": np.eye(2),
            "steps": 20,
        },
        "inverse_kinematics": {"robot": six, "pose": pose, "link": hand, "starts": 8},
        "Configurations": None,
        "follow": {
            "robot": planar,
            "path": arm.line([0.5, 0.0, 0.5], [0.6, 0.0, 0.5]),
            "link": tip,
            "count": 5,
        },
        "Followed": None,
        "PathStatus": {"value": arm.dynamics.PathStatus.FOLLOWED},
        "line": {"start": points[0], "end": points[1]},
        "circle": {"start": points[0], "centre": points[1], "normal": [0, 0, 1.0]},
        "arc": {"start": points[0], "via": points[1], "end": points[2]},
        "screw": {
            "start": points[0],
            "centre": points[1],
            "axis": [0, 0, 1.0],
            "angle": 1.0,
            "advance": 0.1,
        },
        "polyline": {"points": points},
        "spline": {"points": points},
        "joint_path": {"waypoints": [[0.0, 0.0], [1.0, 1.0]]},
        "Path": {"position": arm.line(points[0], points[1]).position},
        "JointPath": {"curve": path.curve},
        "load_waypoints": {"path": "nowhere.csv"},
        "load_trajectory": {"path": f"{m['folder']}/motion.csv"},
        "time_scaling": {"robot": planar, "motion": motion, "samples": 20},
        "TimeScaling": None,
        "compile": {"function": lambda x: 2 * x, "inputs": {"x": 2}},
        "set_threads": {"count": 2},
        **cell_arguments(),
    }


def cell_arguments() -> dict[str, Any]:
    """What the public names of `arm.cell` need."""
    m = material()
    program, plan, model = m["program"], m["program plan"], m["cell model"]
    bus = arm.drive.Bus(0.01, 300.0, 350.0, 10.0)
    cell = arm.Cell({"one": program}, 3.0)
    given = {"program": program}
    check = arm.cell.check_program(program)
    schedule = arm.cell.optimize_cell(model, 5.0)
    return {
        "Program": {"robot": m["planar"], "start": [0.0, 0.0], "steps": program.steps},
        "MoveTo": {"goal": [1.0, 1.0]},
        "Along": {"path": arm.motion.joint_path([[0.0, 0.0], [1.0, 1.0]])},
        "Dwell": {"seconds": 1.0},
        "Grip": {"mass": 1.0},
        "PowerMode": {"name": "off", "power": 1.0},
        "Cell": {"robots": {"one": program}, "cycle": 3.0},
        "Wait": {"step": ("a", "b"), "after": ("c", "d")},
        "Zone": {"steps": (("a", "b"), ("c", "d"))},
        "check_program": given,
        "check_cell": {"cell": cell},
        "check_model": {"model": model},
        "check_line": {"line": m["open line"]},
        "check_file": {"path": "nowhere.yaml"},
        "plan_program": {**given, "objective": "time"},
        "program_curve": {"program": program, "longest": 3.0},
        "plan_cell": {"cell": cell},
        "optimize_cell": {"model": model, "seconds": 5.0},
        "share_bus": {"bus": bus, "plans": [plan]},
        "replan_on_bus": {"bus": bus, "plans": [plan]},
        "assign_tasks": {"times": {"a": 1.0, "b": 2.0}, "stations": ["one", "two"]},
        "allocate_line": {"line": m["open line"]},
        "balance_tasks": {"line": m["open line"]},
        "load_program": {"path": "nowhere.yaml"},
        "load_cell": {"path": "nowhere.yaml"},
        "load_cell_models": {"path": "nowhere.yaml"},
        "load_line_tasks": {"path": "nowhere.yaml"},
        "CellModel": {"name": "cell", "cycle": 9.0, "robots": model.robots},
        "ProgramCurve": {"name": "c", "cycles": np.ones(2), "energies": np.ones(2)},
        "ProgramCheck": {f: getattr(check, f) for f in ("name", "robot", "steps", "cycle")},
        "StepCheck": {"name": "s", "kind": "move", "least": 1.0},
        "LineCheck": {"name": "l", "stations": {"one": check}, "cycle": 1.0},
        "ModelCheck": {"model": model, "rows": ()},
        "CellCheck": {"cell": cell, "programs": {"one": check}, "between": ()},
        "Schedule": {"model": model, "tasks": schedule.tasks, "lower_bound": 1.0},
        "Allocation": {"stations": {}, "loads": {}, "cycle": 1.0, "bound": 1.0},
        "Apart": {"free": True, "distance": 0.1, "pair": None, "time": 0.0, "steps": None},
        **dict.fromkeys(("ProgramPlan", "CellPlan", "BusPlan")),  # made by planning alone
    }


METHODS = ("__call__",)
SKIPPED = (
    "Kernel.run_rows",
    "Simulation.dense",
)  # addresses of memory, which nobody can check; a function of SciPy


def methods() -> Iterator[tuple[str, Any]]:
    """Objects of the surface, whose public methods are called."""
    m = material()
    planar, plan, drive = m["planar"], m["plan"], m["drive"]
    two = np.array([0.3, 0.4])
    yield "Robot", planar
    yield "Trajectory", plan.trajectory
    yield "Solution", plan
    yield "Certificate", plan.certificate
    yield "Ledger", plan.ledger
    yield "Curve", m["curve"]
    yield "SavedPlan", arm.job.load_plan(f"{m['folder']}/plan")
    yield "Job", arm.job.Job(planar, m["move"], knots=10)
    yield "Move", m["move"]
    yield "FollowPath", arm.FollowPath(arm.motion.joint_path([[0.0, 0.0], [1.0, 1.0]]))
    yield "Drive", drive
    yield "Motor", drive.motor
    yield "Gear", drive.gear
    yield "Friction", arm.drive.Friction(1.0, 1.0)
    yield "Amplifier", drive.amplifier
    yield "Brake", arm.drive.Brake(1.0)
    yield "Regenerative", arm.drive.Regenerative()
    yield "NonRegenerative", arm.drive.NonRegenerative()
    yield "Bus", arm.drive.Bus(0.01, 300.0, 350.0, 10.0)
    yield "ProgramPlan", m["program plan"]
    yield "Study", arm.study.Study(arm.job.Job(planar, m["move"], knots=10), {"duration": [1.0]})
    yield "Station", arm.study.Station("one", planar, m["steps"])
    yield "Beam", arm.dynamics.Beam(planar.links[-1].name, np.zeros(3), np.ones(3))
    yield "JointErrors", arm.dynamics.JointErrors(1e-4)
    yield "Servo", arm.Servo(planar, plan.trajectory, 100.0, 10.0)
    yield "Path", arm.line([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    yield "JointPath", arm.motion.joint_path([[0.0, 0.0], [1.0, 1.0]])
    yield "TimeScaling", arm.optimize.time_scaling(planar, plan.trajectory, samples=20)
    yield "catalogue", arm.drive.catalogue()
    yield "Kernel", arm.compile(lambda x: 2 * x, {"x": 2})
    yield "Linearization", arm.linearize(planar, two, two, two)
    yield "Simulation", arm.simulate(planar, q0=two, v0=two, duration=0.05)


def method_arguments() -> dict[str, Any]:
    """What methods need, by the argument's name; by the method's where one name has two
    meanings."""
    m = material()
    planar = m["planar"]
    powers = [np.ones(5), -np.ones(5)]
    return {
        "robot": planar,
        "mass": 1.0,
        "gravity": (0.0, 0.0, -9.81),
        "limits": {},
        "friction": {},
        "loops": (),
        "joints": {planar.joint_names[0]: 0.5},
        "times": np.linspace(0.0, 1.0, 5),
        "path": "out.csv",
        "Robot.save path": "out.yaml",
        "Trajectory.load path": f"{m['folder']}/motion.csv",
        "Simulation.load path": f"{m['folder']}/motion.csv",
        "Solution.report path": "out.html",
        "Solution.save path": "out_plan",
        "SavedPlan.report path": "out.html",
        "ProgramPlan.report path": "out.html",
        "folder": "out_program",
        "SavedPlan.save path": "out_plan2",
        "Robot.joint name": planar.joint_names[0],
        "Robot.link name": planar.links[-1].name,
        "drives": {planar.joint_names[0]: m["drive"]},
        "powers": powers,
        "power": np.ones(5),
        "dt": np.full(5, 0.1),
        "slacks": np.ones(5),
        "direction": 1.0,
        "link": planar.links[-1],
        "inputs": {"duration": 1.0},
        "move": m["steps"][0],
        "point": np.ones(3),
        "Servo.__call__ q": np.zeros(2),
        "Servo.__call__ v": np.zeros(2),
        "JointErrors.yielding tau": np.ones(2),
        "Trajectory.resample t": np.linspace(0, 1, 5),
        "Simulation.resample t": np.linspace(0, 0.05, 5),
        **dict.fromkeys(
            ("t", "s", "p", "speed", "torque", "velocity", "v", "tau", "duration", "cycle"), 0.5
        ),
        **dict.fromkeys(
            ("current", "temperature", "plus", "minus", "twist", "terminal", "holding_power"), 0.5
        ),
        **dict.fromkeys(
            ("voltage", "stored", "fraction", "load", "rate", "seconds", "at", "beyond"), 0.5
        ),
        "count": 5,
        "name": "x",
    }


def arguments_of(function: Callable) -> list[inspect.Parameter]:
    skipped = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind not in skipped and p.name != "self"
    ]


def plans_of_wrong_tasks() -> Iterator[Target]:
    """Tasks that are wrong only when they meet a robot."""
    m = material()
    path = arm.motion.joint_path([[0.0, 0.0], [0.5, 0.2], [1.0, 1.0]])

    def plan(**task):
        return arm.minimize_energy(m["planar"], arm.Move(**task), knots=10)

    def follow(**task):
        return arm.minimize_time(m["planar"], arm.FollowPath(**task), knots=10)

    def certify(**task):
        return arm.optimize.certify(m["planar"], arm.Trajectory(**task))

    moves = tuple(inspect.signature(arm.Move).parameters)
    paths = tuple(inspect.signature(arm.FollowPath).parameters)
    motion = {k: getattr(m["plan"].trajectory, k) for k in ("t", "q", "v", "a")}
    yield Target(
        "plan of Move", plan, {"start": [0.0, 0.0], "goal": [1.0, 1.0], "duration": 1.0}, moves
    )
    yield Target("plan of FollowPath", follow, {"path": path}, paths)
    yield Target(
        "certificate of Trajectory", certify, motion, ("t", "q", "v", "a", "tau", "joint_names")
    )


def public() -> dict[str, Any]:
    """Every public name, of the top and of the public modules, and what it stands for."""
    rooms = (
        arm,
        arm.robot,
        arm.drive,
        arm.motion,
        arm.dynamics,
        arm.simulation,
        arm.optimize,
        arm.job,
        arm.study,
        arm.kernel,
        arm.cell,
    )
    return {
        name: getattr(room, name)
        for room in reversed(rooms)
        for name in room.__all__
        if name not in INSIDE
    }


def targets() -> Iterator[Target]:
    """Everything public."""
    right = right_arguments()
    for name, value in public().items():
        given = right.get(name, right[""])
        if (
            not callable(value)
            or given is None
            or name == "PathStatus"
            or issubclass(value if isinstance(value, type) else int, Exception)
        ):
            continue
        names = tuple(p.name for p in arguments_of(value))
        kept = {k: v for k, v in given.items() if k in names or name == "least_energy_to_pose"}
        if not isinstance(value, type):
            kept = {k: v for k, v in kept.items() if k in given}
        yield Target(name, value, kept, names)
    yield from plans_of_wrong_tasks()
    for name, value in vars(arm.dynamics.constraints).items():
        if (
            inspect.isfunction(value)
            and not name.startswith("_")
            and value.__module__ == "armature.dynamics.holonomic.constraints"
        ):
            samples = {
                "link": "x",
                "motion": lambda t: [t, t, t],
                "surface": lambda p: p[0],
                "coefficients": {"a": 1.0},
                "at": [0, 0, 0.0],
                "t": 0.0,
                "function": lambda q, t: q[0],
                "rotation": np.eye(3),
                "R": np.eye(3),
                "wanted": np.eye(3),
                "through": [0, 0, 0.0],
                "direction": [0, 0, 1.0],
                "link_a": "x",
                "link_b": "y",
                "at_a": [0, 0, 0.0],
                "at_b": [0, 0, 0.0],
                "given": lambda q, t: q[0],
                "what": "w",
                "value": [0, 0, 0.0],
            }
            names = tuple(p.name for p in arguments_of(value))
            yield Target(
                f"constraints.{name}",
                value,
                {k: v for k, v in samples.items() if k in names},
                names,
            )
    right = method_arguments()
    for owner, thing in methods():
        found = [n for n in dir(type(thing)) if not n.startswith("_")] + [
            n for n in METHODS if n in dir(type(thing))
        ]
        for name in found:
            member = inspect.getattr_static(type(thing), name)
            if (
                isinstance(member, property)
                or f"{owner}.{name}" in SKIPPED
                or not callable(getattr(thing, name, None))
            ):
                continue
            method = getattr(thing, name)
            parameters = arguments_of(method)
            needed = {
                p.name: right.get(f"{owner}.{name} {p.name}", right.get(p.name))
                for p in parameters
                if p.default is p.empty
            }
            yield Target(f"{owner}.{name}", method, needed, tuple(p.name for p in parameters))


def cases() -> list[tuple[Target, str, str]]:
    """(target, argument, wrong value) of all misuses."""
    return [
        (target, argument, wrong)
        for target in targets()
        for argument in target.arguments
        for wrong in WRONG
    ]


class TookTooLong(BaseException):
    """A call that did not end."""


def attempt(target: Target, argument: str, wrong: str) -> tuple[str, str]:
    """(outcome, detail): 'refused', 'accepted', 'bare' or 'hang'."""

    def stop(*_):
        raise TookTooLong

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGALRM, signal.SIGPROF)}
    signal.alarm(6 * LIMIT)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            result = target.call(**{**target.right, argument: WRONG[wrong]()})
            if inspect.isgenerator(result):
                next(result, None)
        return "accepted", ""
    except arm.ArmatureError as error:
        return "refused", f"{type(error).__name__}: {error}"
    except TookTooLong:
        return "hang", ""
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return "bare", f"{type(error).__name__}: {error} at {last.filename}:{last.lineno}"
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for kind, handler in before.items():
            signal.signal(kind, handler)


def main() -> None:
    """Run all misuses, or those of the names given; print what is not refused."""
    os.chdir(tempfile.mkdtemp(prefix="misuse"))
    wanted = sys.argv[1:]
    every = [c for c in cases() if not wanted or c[0].name in wanted]
    random.Random(1).shuffle(every)
    counts: dict[str, int] = {}
    for target, argument, wrong in every:
        outcome, detail = attempt(target, argument, wrong)
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome != "refused":
            print(outcome, target.name, argument, "=", wrong, "|", detail, flush=True)
    print(counts, file=sys.stderr)


if __name__ == "__main__":
    main()
