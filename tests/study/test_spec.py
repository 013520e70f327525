"""Studies as data: which cases there are, how they are named, and what is said about those that
cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import study_functions as functions

import armature as arm
from armature.study.file import load_study
from armature.study.line_file import load_line
from armature.study.spec import Study

ROBOT = arm.library("planar2")
JOB = arm.job.Job(ROBOT, arm.Move([0.0, 0.0], [1.0, 1.0], 1.0), knots=20)
TASK = {"robot": "planar2", "move": {"start": [0, 0], "goal": [1, 1], "duration": 1.0}, "knots": 20}


def test_lists_and_ranges_make_a_grid_and_cases_by_hand_follow() -> None:
    study = Study(
        JOB,
        {"duration": {"from": 1.0, "to": 2.0, "count": 3}, "payload": [0, "500 g"]},
        cases=[{"knots": 30}],
    )
    found = list(study.inputs())
    assert found[:2] == [{"duration": 1.0, "payload": 0}, {"duration": 1.0, "payload": 0.5}]
    assert (
        len(found) == 7
        and found[-1] == {"knots": 30}
        and study.keys == ("duration", "payload", "knots")
    )


def test_units_are_read_as_si_also_inside_configurations() -> None:
    durations = {"from": "800 ms", "to": "1.6 s", "count": 2, "spacing": "log"}
    study = Study(TASK, {"goal": [["90 deg", 0], [0, "-45 deg"]], "duration": durations})
    first, last = next(study.inputs()), list(study.inputs())[-1]
    assert first["goal"] == [pytest.approx(np.pi / 2), 0] and first["duration"] == pytest.approx(
        0.8
    )
    assert last["duration"] == pytest.approx(1.6)
    assert np.allclose(study.job(last).task.goal, [0, -np.pi / 4])


def test_random_draws_repeat_with_the_seed_and_a_longer_study_begins_with_the_shorter() -> None:
    vary = {
        "payload": {"random": "uniform", "low": 0, "high": "2 kg"},
        "goal": {"random": "limits", "margin": 0.1},
        "duration": {"random": "log-uniform", "low": 0.5, "high": 3},
        "knots": {"random": "choice", "values": [10, 20]},
        "start_velocity": {"random": "normal", "mean": 0, "deviation": 1e-3},
    }
    short, long, other = (
        list(Study(JOB, vary, samples=n, seed=s).inputs()) for n, s in ((5, 1), (8, 1), (5, 2))
    )
    assert long[:5] == short and other != short
    for case in long:
        assert (
            0 <= case["payload"] <= 2 and 0.5 <= case["duration"] <= 3 and case["knots"] in (10, 20)
        )
        for name, q in case["goal"].items():
            limits = ROBOT.joint(name).limits
            width = limits.upper - limits.lower
            assert limits.lower + 0.1 * width <= q <= limits.upper - 0.1 * width


def test_a_case_is_named_by_all_that_its_result_depends_on() -> None:
    study = Study(JOB, {"duration": [1.0]})
    name = lambda study, **inputs: study.case(inputs).id
    base = name(study, duration=1.0)
    assert (
        name(study, duration=1.0) == base == name(Study(JOB, {"knots": [20]}), knots=20)
    )  # whatever is varied
    changed = [
        name(study, duration=1.1),
        name(study, duration=1.0, payload=1.0),
        name(study, duration=1.0, supply="non-regenerative"),
        name(study, duration=1.0, goal=[1.0, 1.0 + 1e-12]),
        name(study, duration=1.0, knots=21),
        name(study, duration=1.0, objective="time"),
        name(study, duration=1.0, robot=ROBOT.with_friction({"elbow": {"viscous": 0.051}})),
        name(Study(JOB, {"duration": [1.0]}, certify=False), duration=1.0),
        name(Study(JOB, {"duration": [1.0]}, curve=True), duration=1.0),
    ]
    assert len({base, *changed}) == 10


def test_a_task_as_a_mapping_and_as_a_job_are_the_same_case() -> None:
    a, b = Study(JOB, {"duration": [1.0]}), Study(TASK, {"duration": [1.0]})
    assert a.case({"duration": 1.2}).id == b.case({"duration": 1.2}).id


def test_any_dotted_key_of_a_task_can_be_varied() -> None:
    study = Study(
        TASK,
        {
            "limits.elbow.velocity": [1.0, 2.0],
            "friction.shoulder.viscous": [0.3],
            "move.start": [[0.1, 0.2]],
        },
    )
    job = study.job(list(study.inputs())[1])
    assert (
        job.robot.joint("elbow").limits.velocity == 2.0
        and job.robot.joint("shoulder").friction.viscous == 0.3
    )
    assert np.allclose(job.task.start, [0.1, 0.2])


def test_a_case_that_cannot_be_made_is_a_failed_row_unless_all_are(tmp_path: Path) -> None:
    study = Study(TASK, {"robot": ["planar2", "scara"]})
    good, bad = study.all_cases()
    assert (
        not good.error
        and bad.error
        == "move.start: 2 values for 4 joints; give one for each of turn1, turn2, stroke, wrist"
    )
    with pytest.raises(
        arm.errors.ArgumentError, match="no case of the study can be run; the first says"
    ):
        list(Study(TASK, {"robot": ["scara"]}).all_cases())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vary": {"duraton": [1]}}, "did you mean 'duration'"),
        ({"vary": {"duration": []}}, "empty list"),
        ({"vary": {"duration": 3}}, "give a list of values"),
        ({"vary": {"duration": {"from": 1, "to": 2}}}, "count"),
        ({"vary": {"duration": {"random": "uniform", "low": 2, "high": 1}}}, "must be below"),
        ({"vary": {"duration": {"random": "normal", "low": 2}}}, "described by mean and deviation"),
        ({"vary": {"duration": {"from": 1, "to": "soon", "count": 2}}}, "is not a number"),
        ({}, "vary something"),
        ({"vary": {"duration": [1]}, "samples": 0}, "samples = 0"),
        ({"vary": {"duration": [1]}, "timeout": -1.0}, "timeout"),
        ({"vary": {"duration": [1]}, "function": functions.square}, "either a base"),
    ],
)
def test_mistakes_are_told_before_anything_is_run(arguments, words: str) -> None:
    with pytest.raises(arm.errors.ArgumentError, match=words):
        Study(JOB, **arguments)


def test_a_function_that_workers_cannot_import_is_refused() -> None:
    with pytest.raises(arm.errors.ArgumentError, match="not importable by workers"):
        Study(function=lambda inputs: {}, vary={"x": [1]})


def test_a_file_with_mistakes_is_told_with_all_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(
        "task:\n  robot: planar2\n  move: {start: [0, 0], goal: [1, x], duration: 1}\n"
        "vary:\n  payload: 3\n  duration: {from: 1, too: 2, count: 2}\nsample: 3\n"
    )
    with pytest.raises(arm.errors.FileError) as caught:
        load_study(path)
    text = str(caught.value)
    for words in (
        "study.yaml:3",
        "goal[1]",
        "line 5: vary.payload",
        "line 6: vary.duration.too",
        "did you mean 'to'",
        "'samples'",
    ):
        assert words in text, text


def test_unknown_keys_to_vary_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("task: task.yaml\nvary:\n  payloat: [1]\ncases:\n  - {duratio: 1}\n")
    (tmp_path / "task.yaml").write_text(
        "robot: planar2\nmove: {start: [0, 0], goal: [1, 1], duration: 1 s}\n"
    )
    with pytest.raises(arm.errors.FileError) as caught:
        load_study(path)
    assert "study.yaml:3" in str(caught.value) and "'payload'" in str(caught.value)
    assert "line 5" in str(caught.value) and "'duration'" in str(caught.value)


def test_a_mistake_of_the_task_is_told_with_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("task: task.yaml\nvary: {knots: [10]}\n")
    (tmp_path / "task.yaml").write_text(
        "robot: planar2\n\nmove: {start: [0, 0, 0], goal: [1, 1], duration: 1 s}\n"
    )
    with pytest.raises(
        arm.errors.FileError, match=r"task\.yaml:3: move\.start: 3 values for 2 joints"
    ):
        load_study(tmp_path / "study.yaml")


JUNK = (
    "-1",
    "1e400",
    ".nan",
    "[]",
    "{}",
    "null",
    "[1, 2",
    "'",
    "3 bananas",
    "*a",
    "start",
    "scara",
    "{random: limits}",
    "{a: b}",
)


@pytest.mark.parametrize("name", ["study.yaml", "line.yaml"])
def test_damaged_files_are_told_in_words_never_by_another_error(tmp_path: Path, name: str) -> None:
    text = (Path(arm.__file__).parent / "cli" / "templates" / name).read_text()
    lines = [
        line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")
    ]
    rng, refused = np.random.default_rng(1), 0
    for _ in range(80):
        damaged = list(lines)
        k, how = rng.integers(len(damaged)), rng.integers(4)
        key, _, value = damaged[k].partition(":")
        if how == 0:
            del damaged[k]
        elif how == 1:
            damaged[k] = f"{key}: {JUNK[rng.integers(len(JUNK))]}"
        elif how == 2:
            damaged[k] = f"{key[:-1]}x:{value}"
        else:
            damaged[k] = "   " + damaged[k]
        (tmp_path / name).write_text("\n".join(damaged))
        try:
            found = (
                load_study(tmp_path / name) if name == "study.yaml" else load_line(tmp_path / name)
            )
            assert not isinstance(found, Study) or list(found.all_cases())
        except arm.ArmatureError as error:
            refused += 1
            assert name in str(error) or "no case of the study" in str(error)
    assert refused > 40
