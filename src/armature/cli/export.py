"""`armature export`: a motion, a saved plan, or several one after the other, in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.inputs import find_motion, seconds
from armature.cli.output import answer, say
from armature.errors import ArgumentError

REJECT_EFFORT = (
    "foxy",
    "galactic",
    "humble",
)  # their joint_trajectory_controller refuses points with efforts
DISTROS = (*REJECT_EFFORT, "iron", "jazzy", "kilted", "rolling")
EVEN = {
    ".script": "8ms",
    ".src": "100ms",
    ".mod": "100ms",
}  # steps of move lists, where none is given


def export(
    files: list[Path] = typer.Argument(
        metavar="SOURCE... TARGET",
        help=(
            "motions (.csv, .npz, .json, .yaml, .parquet, .h5, .mcap) or saved plans, one after the"
            " other; then the file to write: .csv, .npz, .json, .yaml (ROS 2), .parquet, .h5,"
            " .mcap, .script (URScript), .src (KRL), .mod (RAPID)"
        ),
    ),
    step: str | None = typer.Option(
        None,
        "--step",
        help="even times, with unit, e.g. 8ms; slower by less than a step",
        show_default=False,
    ),
    effort: bool = typer.Option(
        False,
        "--effort/--no-effort",
        help="ROS 2 messages with torques; Humble's controller refuses them",
    ),
    distro: str | None = typer.Option(
        None,
        "--distro",
        help="of ROS 2, e.g. humble, to refuse what it refuses",
        show_default=False,
    ),
) -> None:
    """Write a motion, or a cycle of several, in another format: ROS 2 (.yaml), tables, programs,
    players, move lists of controllers."""
    from armature.motion.cycle import at_even_times, joined

    if len(files) < 2:
        raise ArgumentError("give at least one motion or saved plan, and the file to write")
    *sources, target = files
    _check_distro(distro, effort)
    suffix = target.suffix.lower()
    motion = joined([find_motion(source) for source in sources])
    every = step if step is not None else EVEN.get(suffix)
    motion = motion if every is None else at_even_times(motion, _step(every))
    _write(motion, target, suffix, effort)
    say(f"written: {target} ({motion.n} joints, {len(motion)} points, {motion.duration:.6g} s)")
    answer(
        {
            "written": target,
            "joints": motion.joint_names,
            "points": len(motion),
            "duration": motion.duration,
        }
    )


def _write(motion, target: Path, suffix: str, effort: bool) -> None:
    from armature.motion.ros import to_yaml
    from armature.motion.vendor import WRITERS
    from armature.write import write_whole

    if suffix in WRITERS:
        write_whole(target, WRITERS[suffix](motion))
    elif suffix in (".yaml", ".yml") and effort:
        write_whole(target, to_yaml(motion, effort=True))
    else:
        motion.save(target)


def _check_distro(distro: str | None, effort: bool) -> None:
    if distro is not None and distro.lower() not in DISTROS:
        raise ArgumentError(f"--distro {distro} is not known; give one of {', '.join(DISTROS)}")
    if distro is not None and effort and distro.lower() in REJECT_EFFORT:
        raise ArgumentError(
            f"the joint_trajectory_controller of {distro} refuses points with efforts; leave out"
            " --effort"
        )


def _step(text: str) -> float:
    """A step with its unit; a bare number is asked back."""
    if text.strip().replace(".", "", 1).isdigit():
        raise ArgumentError(f"--step {text}: seconds or milliseconds? Write {text}s or {text}ms")
    return seconds(text, "--step")
