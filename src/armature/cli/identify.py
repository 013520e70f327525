"""`armature identify`: a robot's file from recordings of its motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from armature.cli.inputs import DRIVES, ROBOT, coordinates, find_robot, seconds
from armature.cli.output import answer, note, say
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.identify.identified import Identified
    from armature.identify.recording import Recording


RECORDINGS = typer.Argument(
    ..., help="recordings: .csv, .csv.gz, UR's RTDE .csv, .mat, .mcap, .db3 or a rosbag2 folder"
)
OUTPUT = typer.Option(
    ...,
    "--output",
    "-o",
    help="name of what is written: NAME.yaml (robot), NAME_drives.yaml, NAME.html",
)
HELD_OUT = typer.Option(
    [], "--held-out", help="a recording that is only predicted; may be repeated"
)
GAINS = typer.Option(
    None,
    help="joint torque per ampere, N·m/A, one number per joint, with commas",
    show_default=False,
)
GAIN_SPREAD = typer.Option(
    0.0,
    help=(
        "relative standard deviation of the gains; a recording with --payload makes them observable"
    ),
    min=0,
)
PAYLOAD = typer.Option(
    [], help="RECORDING=MASS: what the tip carried there, e.g. run_3.csv=2.8kg; may be repeated"
)
RATIO = typer.Option(
    None, help="gear ratios, where the recorded torques are the motors'", show_default=False
)
COLUMNS = typer.Option(
    [],
    "--columns",
    help=(
        "FIELD=NAME: columns with names of their own, e.g. q=joint_{}_pos or t=clock; may be"
        " repeated"
    ),
)
SPRING = typer.Option([], help="a joint with a counterbalance; may be repeated")
WINDOW = typer.Option(
    None,
    help="START,END: only this part of every recording, s of its own time",
    show_default=False,
)
DELAY = typer.Option(
    None,
    help="of currents or torques behind the positions, e.g. 4ms; estimated by default",
    show_default=False,
)
CUTOFF = typer.Option(
    None, help="of the zero-phase low-pass filter, Hz", show_default=False, min=0.01
)


def identify(
    robot: str = ROBOT,
    recordings: list[Path] = RECORDINGS,
    output: Path = OUTPUT,
    held_out: list[Path] = HELD_OUT,
    drives: Path | None = DRIVES,
    gains: str | None = GAINS,
    gain_spread: float = GAIN_SPREAD,
    payload: list[str] = PAYLOAD,
    ratio: str | None = RATIO,
    columns: list[str] = COLUMNS,
    spring: list[str] = SPRING,
    window: str | None = WINDOW,
    delay: str | None = DELAY,
    cutoff: float | None = CUTOFF,
) -> None:
    """A robot from recordings: identified inertias, rotors, friction and drives, with errors on
    held-out recordings."""
    from armature.identify.files.reader import load_recording
    from armature.identify.identify import identify as run

    machine = find_robot(robot, drives)
    numbers = lambda text, what: None if text is None else coordinates(text, what)
    ratios, names = numbers(ratio, "--ratio"), _pairs(columns, "--columns")
    loads = _loads(payload, [*recordings, *held_out])
    times = _window(window)

    def read(path: Path) -> Recording:
        whole = load_recording(path, machine, names or None, ratios, payload=loads.get(path, 0.0))
        return whole if times is None else whole.window(*times)

    logs, others = ([read(p) for p in paths] for paths in (recordings, held_out))
    found = run(
        machine,
        logs,
        others,
        numbers(gains, "--gains"),
        gain_spread,
        cutoff,
        spring,
        delay=None if delay is None else seconds(delay, "--delay"),
        progress=note,
    )
    known = bool(found.robot.drives)
    found = found if known else found.with_stand_ins()
    _report(found, [str(p) for p in found.save(output)], known)


def _report(found: Identified, written: list[str], known: bool) -> None:
    """Print what was identified. written: names of the files.  known: whether the drives are."""
    say(found, *(f"written: {name}" for name in written))
    if not known:
        say(
            "no drives are known: the robot has stand-in motors of about the right size, whose"
            " energies plans count; give --drives, or record the supply's power"
        )
    error = found.robot.model_error
    answer(
        {
            "ok": True,
            "robot": written[0],
            "written": written,
            "agreement": found.agreement,
            "groups": found.groups,
            "condition": found.condition,
            "gains": found.gains.tolist(),
            "error": {k: x.tolist() for k, x in found.error.items()},
            "prior_error": {k: x.tolist() for k, x in found.prior_error.items()},
            "held_out": found.held_out,
            "model_error": None if error is None else vars(error),
            "parameters": [vars(p) for p in found.parameters],
        }
    )


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    times = coordinates(text, "--window", ("s",))
    if len(times) != 2 or times[0] >= times[1]:
        raise ArgumentError(f"--window {text!r}: give two rising times, START,END in s")
    return times[0], times[1]


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    """{key: value} of options KEY=VALUE."""
    found = dict(text.split("=", 1) for text in texts if "=" in text)
    wrong = next((text for text in texts if "=" not in text), None)
    if wrong is not None:
        raise ArgumentError(f"{option} {wrong!r}: give it as NAME=VALUE")
    return found


def _loads(texts: list[str], paths: list[Path]) -> dict[Path, float]:
    """Payloads in kg by recording."""
    from armature.drive.units import parse

    found = {}
    for name, mass in _pairs(texts, "--payload").items():
        path = next((p for p in paths if str(p) == name or p.name == name), None)
        if path is None:
            raise ArgumentError(
                f"--payload: {name!r} is none of the recordings {', '.join(p.name for p in paths)}"
            )
        found[path] = parse(mass, "kg")
    return found
