"""Wrong arguments of the public surface are answered by ArmatureErrors that name them (`misuse.py`
makes the calls)."""

import inspect
import os
import pickle
import random
import time

import numpy as np
import pytest

import armature as arm
import misuse
from armature import arguments
from armature.annotations import unlike
from armature.arguments import guard, guard_method

PLANS = (
    "ways_round",
    "least_energy_to_pose",
    "improve",
    "energy_time_curve",
    "recorded_cost",
    "Job.run",
    "plan_program",
    "program_curve",
    "plan_cell",
    "replan_on_bus",
    "allocate_line",
    "balance_tasks",
    "ProgramPlan.report",
    "ProgramPlan.save",
)
SLOW = (*PLANS, "Solution.report", "SavedPlan.report")
UNTRIED = {
    "best_self_motion",
    "run_study",
    "balance_line",
    "library",
}  # minutes each, or no argument to get wrong


@pytest.fixture(scope="module")
def every():
    return misuse.cases()


def test_the_misuses_cover_the_surface(every):
    assert len(every) > 4000
    named = {target.name for target, _, _ in every}
    functions = {name for name, value in misuse.public().items() if inspect.isfunction(value)}
    assert functions - named <= UNTRIED


def test_a_sample_of_misuses_raises_no_bare_error(every, tmp_path, monkeypatch):
    """ARMATURE_FUZZ_SEED draws another sample; `python tests/misuse.py` runs all."""
    monkeypatch.chdir(tmp_path)
    seed = os.environ.get("ARMATURE_FUZZ_SEED", "1974")
    quick = [case for case in every if case[0].name not in SLOW]
    bad = []
    for target, argument, wrong in random.Random(seed).sample(quick, 400):
        outcome, detail = misuse.attempt(target, argument, wrong)
        if outcome in ("bare", "hang"):
            bad.append(f"{target.name}({argument} = {wrong}): {outcome} {detail}")
    assert not bad, f"seed {seed}: " + "\n".join(bad)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r, q: arm.inverse_dynamics(None, q, q, q), "robot = None must be a Robot"),
        (lambda r, q: arm.inverse_dynamics(r, q, q), "missing a required argument: 'a'"),
        (
            lambda r, q: arm.inverse_dynamics(r, q, q, q, wrench=1),
            "unexpected keyword argument 'wrench'",
        ),
        (
            lambda r, q: arm.minimize_energy(r, "move"),
            "task = 'move' must be a Move or a FollowPath",
        ),
        (
            lambda r, q: arm.minimize_energy(r, arm.Move(q, q + 1, 1.0), thorough="yes"),
            "thorough = 'yes' must be True or False",
        ),
        (lambda r, q: arm.ledger(r, 3), "trajectory = 3 must be a Trajectory"),
        (lambda r, q: arm.simulate(r, q0=q, v0="fast"), "v0 = 'fast'"),
        (lambda r, q: r.link(3), "there is no link 3"),
        (lambda r, q: arm.optimize.Diagnosis(3), "sentence = 3 must be text"),
        (lambda r, q: arm.study.Line("stations"), "stations"),
        (lambda r, q: arm.dynamics.constraints.on_line("a", 3j, [0, 0, 1]), "through"),
        (lambda r, q: arm.compile(lambda: 0, {"x": 2}), "function"),
    ],
)
def test_the_message_names_the_argument(call, words):
    with pytest.raises(arm.ArmatureError) as caught:
        call(arm.library("planar2"), np.zeros(2))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r: arm.minimize_time(
                r, arm.FollowPath(arm.motion.joint_path([[0, 0], [1, 1]])), knots=-1
            ),
            "knots = -1",
        ),
        (lambda r: arm.simulate(r, None, [0, 0], [0, 0], 0.1, step=-1), "step is -1 s"),
        (
            lambda r: arm.simulation.rollout(r, None, [0, 0], [0, 0], 0.01, step=0.01, threads=0),
            "threads = 0",
        ),
        (
            lambda r: arm.drive.Motor(resistance=np.inf, torque_constant=0.1),
            "resistance = inf ohm must be finite",
        ),
        (
            lambda r: arm.drive.Motor(resistance=1.0, torque_constant=0.1, inertia=np.inf),
            "inertia = inf",
        ),
        (lambda r: arm.drive.Friction(coulomb=np.inf), "coulomb = inf"),
    ],
)
def test_numbers_that_no_machine_has_are_refused(call, words):
    """Of the right type, and nonsense all the same; limits alone may be infinite."""
    with pytest.raises(arm.ArmatureError) as caught:
        call(arm.library("planar2"))
    assert words in str(caught.value)
    assert (
        arm.drive.Motor(resistance=1.0, torque_constant=0.1, peak_current=np.inf).peak_current
        == np.inf
    )


BY_NAME = {
    "text": ("supply",),
    "dict": ("start", "goal_velocity", "configuration", "resolution"),
}  # looked at when they are used
NEVER = (
    "text",
    "bytes",
    "object",
    "class",
    "module",
    "function",
    "generator",
    "dict",
    "set",
    "objects array",
)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda r, x: arm.job.Job(r, arm.Move([0, 0], [1, 1], 1.0), supply=x), "supply"),
        (lambda r, x: arm.Move(x, [1, 1], 1.0), "start"),
        (lambda r, x: arm.Move([0, 0], [1, 1], 1.0, goal_velocity=x), "goal_velocity"),
        (lambda r, x: arm.optimize.Via(x), "configuration"),
        (lambda r, x: arm.FollowPath(x), "path"),
        (lambda r, x: arm.dynamics.JointErrors(x), "resolution"),
        (lambda r, x: arm.drive.Gear(10.0).effort(x, 1.0), "torque"),
        (lambda r, x: arm.dynamics.loop_forces(r, x, [0, 0], [0, 0]), "q"),
        (lambda r, x: arm.simulate(r, None, [0, 0], [0, 0], 0.01, supply=x), "supply"),
        (
            lambda r, x: arm.simulation.rollout(r, None, [0, 0], [0, 0], 0.01, parameters=x),
            "parameters",
        ),
    ],
)
def test_arguments_that_a_call_does_not_look_at_are_refused_too(call, name):
    for kind in NEVER:
        if name in BY_NAME.get(kind, ()):
            continue
        with pytest.raises(arm.ArmatureError, match=name):
            call(arm.library("planar2"), misuse.WRONG[kind]())


def test_what_a_users_function_raises_passes_unchanged():
    def controller(t, q, v):
        raise KeyError("of the user's own")

    with pytest.raises(KeyError, match="of the user's own"):
        arm.simulate(arm.library("planar2"), controller, np.zeros(2), np.zeros(2), 0.1)


def test_a_bug_inside_is_not_blamed_on_right_arguments():
    inside: dict = {"__name__": arguments.__name__}
    exec(
        compile(
            "def broken(count: int, name: str):\n    return [][count]\n", arguments.__file__, "exec"
        ),
        inside,
    )
    broken = inside["broken"]
    with pytest.raises(IndexError):
        guard(broken)(3, "right")
    with pytest.raises(arm.errors.ArgumentError, match="count = 'x' must be a whole number"):
        guard(broken)("x", "right")


def test_calls_from_inside_the_package_are_left_alone():
    source = "def call(f, x):\n    return f(x)\n"
    inside: dict = {"__name__": "armature.somewhere"}
    exec(source, inside)

    def method(x: float):
        return x

    made = guard_method(method, "method")
    assert inside["call"](made, "symbol") == "symbol"
    with pytest.raises(arm.errors.ArgumentError, match="real number"):
        made("symbol")


def test_signatures_docs_and_names_are_kept():
    from armature.dynamics import compiled

    assert inspect.signature(arm.inverse_dynamics) == inspect.signature(compiled.inverse_dynamics)
    assert arm.inverse_dynamics.__doc__ == compiled.inverse_dynamics.__doc__
    assert inspect.signature(arm.drive.Motor).parameters["resistance"].annotation == "float"
    assert pickle.loads(pickle.dumps(arm.drive.Motor(1.0, 0.1))) == arm.drive.Motor(1.0, 0.1)


def test_a_guard_costs_less_than_a_microsecond():
    def nothing(a, b, c, d):
        return None

    made = guard(nothing)

    def least(function) -> float:
        best = float("inf")
        for _ in range(30):
            begin = time.process_time()
            for _ in range(5000):
                function(1, 2, 3, 4)
            best = min(best, time.process_time() - begin)
        return best / 5000

    assert least(made) - least(nothing) < 1e-6


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (1, float, True),
        (np.float32(2), float, True),
        (np.array(2.0), float, True),
        (True, float, False),
        (float("nan"), float, False),
        (10**400, float, False),
        (np.int64(3), int, True),
        (3.0, int, False),
        (True, int, False),
        ("a", str, True),
        (b"a", str, False),
        ([1, 2.0], tuple[float, float], True),
        ((1, 2, 3), tuple[float, float], False),
        (np.ones(3), tuple[float, ...], True),
        ({"a": 1.0}, dict[str, float], True),
        ({"a": "b"}, dict[str, float], False),
        (None, float | None, True),
        ("x", float | None, False),
        ([[1.0], [1.0, 2.0]], np.ndarray, False),
        ([1, 2], np.ndarray, True),
        (np.ones(2, complex), np.ndarray, False),
    ],
)
def test_annotations_mean_what_they_say(value, hint, right):
    from armature.annotations import hints_of

    hints_of(guard)  # knows NumPy's arrays from then on
    assert (unlike(value, hint, False) == "") == right
