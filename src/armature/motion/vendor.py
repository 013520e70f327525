"""Move lists for robot controllers, a first version: URScript (.script), KUKA's KRL (.src), ABB's
RAPID (.mod).

Joint positions in the order of the motion's joints, at even times, from the first point to the
last: URScript in radians with `servoj`, one point every step; KRL and RAPID in degrees as
point-to-point moves of six axes (joints that slide are refused there). Controllers of KUKA and ABB
choose speeds between points themselves unless told otherwise; RAPID gets the time of each move. Try
them slowly first."""

from __future__ import annotations

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory

AXES = 6
FREE = "9E+09"  # RAPID's mark for an axis that is not there


def urscript(motion: Trajectory, name: str = "armature_motion") -> str:
    """A program of UR controllers: `movej` to the start, then `servoj` at every point, rad and
    s."""
    _checked(motion, "URScript")
    h = np.diff(motion.t)
    point = lambda q: "[" + ", ".join(f"{x:.8f}" for x in q) + "]"
    lines = [f"def {name}():", f"  movej({point(motion.q[0])})"]
    lines += [f"  servoj({point(q)}, t={dt:.6f})" for q, dt in zip(motion.q[1:], h)]
    return "\n".join([*lines, "  stopj(2.0)", "end", f"{name}()", ""])


def krl(motion: Trajectory, name: str = "armature_motion") -> str:
    """A module of KUKA controllers: PTP moves through the points, degrees; approximated between
    them."""
    _checked(motion, "KRL")
    axes = lambda q: "{" + ", ".join(f"A{k + 1} {x:.6f}" for k, x in enumerate(np.degrees(q))) + "}"
    points = [
        f"  PTP {axes(q)}{' C_PTP' if k + 1 < len(motion) else ''}" for k, q in enumerate(motion.q)
    ]
    return "\n".join([f"DEF {name}()", "  BAS(#INITMOV, 0)", *points, "END", ""])


def rapid(motion: Trajectory, name: str = "armature_motion") -> str:
    """A module of ABB controllers: MoveAbsJ through the points, degrees, each in its time."""
    _checked(motion, "RAPID")
    target = lambda q: (
        f"[[{', '.join(f'{x:.6f}' for x in np.degrees(q))}], [{', '.join([FREE] * AXES)}]]"
    )
    lines = [f"    MoveAbsJ {target(motion.q[0])}, v100, fine, tool0;"]
    last = len(motion) - 2
    for k, (q, dt) in enumerate(zip(motion.q[1:], np.diff(motion.t))):
        lines.append(
            f"    MoveAbsJ {target(q)}, v1000 \\T:={dt:.6f}, {'fine' if k == last else 'z1'},"
            " tool0;"
        )
    return "\n".join([f"MODULE {name}", "  PROC main()", *lines, "  ENDPROC", "ENDMODULE", ""])


WRITERS = {".script": urscript, ".src": krl, ".mod": rapid}


def _checked(motion: Trajectory, what: str) -> None:
    """Refuse what these controllers cannot take."""
    if motion.q.shape[1] != AXES or motion.n != AXES:
        raise ArgumentError(
            f"{what} moves {AXES} axes, the motion has {motion.n} joints; write .yaml or .csv"
            " instead"
        )
    if not np.all(np.isfinite(motion.q)):
        raise ArgumentError(f"{what}: the motion has positions that are not finite")
