"""One page (HTML, no network) for a plan: what it saves, the proof, the moving robot, and the figures."""

from __future__ import annotations

import html
import io
import json
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.dynamics.compiled import skeleton
from armature.errors import FileError
from armature.motion.trajectory import Trajectory
from armature.plot.graf import graf
from armature.plot.ledger import ledger_flow
from armature.plot.motion import bones, motion
from armature.plot.power import power

FRAMES = 120


def write_report(solution: Any, path: Any) -> Path:
    """Write the page of a `Solution` to `path`; returns the path."""
    path = Path(path)
    robot, plan = solution.robot, solution.trajectory
    figures = {
        "The motion": motion(robot, plan),
        "Current against velocity: the shaded region is what the drives can do": graf(robot, plan),
        "Power": power(robot, plan, solution.supply),
        "Where the energy went": ledger_flow(solution.ledger),
    }
    page = Template((Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
    text = page.safe_substitute(
        title=html.escape(f"{robot.name}: {plan.duration:.4g} s"),
        headline=html.escape(_headline(solution)),
        proof=html.escape(str(solution.certificate)),
        verdict="passed" if solution.certificate.ok else "failed",
        summary=html.escape(str(solution)),
        books=html.escape(str(solution.ledger)),
        margins=_margins(solution.certificate),
        figures="".join(f"<figure><figcaption>{html.escape(k)}</figcaption>{_svg(v)}</figure>" for k, v in figures.items()),
        data=json.dumps(_moving(solution)).replace("</", "<\\/"),
    )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"the report cannot be written: {error.strerror}; choose a folder that exists and may be written", path) from None
    return path


def _headline(solution: Any) -> str:
    if solution.saving is None:
        return f"{solution.energy:.4g} J drawn, {solution.losses:.4g} J lost"
    what = "losses" if solution.returns else "energy drawn"
    return f"{100 * solution.saving:.0f} % less {what} than the joint cubic"


def _moving(solution: Any) -> dict[str, Any]:
    """What the animation needs: bones, and the links' places over time for the plan and the cubic."""
    robot = solution.robot
    tracks = {"plan": solution.trajectory}
    if solution.baseline is not None:
        tracks["cubic"] = solution.baseline.trajectory
    return {
        "bones": bones(robot),
        "duration": solution.trajectory.duration,
        "tracks": {name: np.round(_places(robot, track), 4).tolist() for name, track in tracks.items()},
        "durations": {name: track.duration for name, track in tracks.items()},
    }


def _places(robot: Any, track: Trajectory) -> np.ndarray:
    return np.asarray(skeleton(robot, track(np.linspace(track.t[0], track.t[-1], FRAMES)).q))


def _margins(certificate: Any) -> str:
    rows = sorted((m for row in certificate.margins.values() for m in row.values()), key=lambda m: m.fraction)
    row = lambda m: (m.joint, m.limit, f"{m.value:.4g}", f"{m.bound:.4g} {m.unit}", f"{100 * m.fraction:.1f} %", f"{m.time:.3f} s")
    cells = ["<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row(m)) + "</tr>" for m in rows]
    return "".join(cells)


def _svg(figure: Figure) -> str:
    """The figure as inline SVG."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    text = buffer.getvalue()
    return text[text.index("<svg") :]
