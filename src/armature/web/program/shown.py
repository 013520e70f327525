"""A program's plan as the page shows it: its card, its table, its charts, its files."""

from __future__ import annotations

import html
import io
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armature.cell.program.program_plan import ProgramPlan
from armature.cell.program.program_text import program_text
from armature.web.charts import COLOURS, INK, Chart
from armature.web.pictures import NOTHING, ledger, names_of, torque
from armature.web.program.sketch import Sketch, told

PALE = "var(--mantine-color-dimmed)"
STYLE = 'style="width:96%;font-size:0.85em;margin:0.3em 2%"'


@dataclass(frozen=True, eq=False)
class ShownProgram:
    """A program's plan with what the page asks of a single plan."""

    whole: ProgramPlan
    baseline: None = None
    diagnosis: None = None
    saving: None = None

    @property
    def ok(self) -> bool:
        """It is shown, whether it is proved or not; the card says which."""
        return True

    @property
    def robot(self) -> Any:
        """The empty robot."""
        return self.whole.robot

    @property
    def trajectory(self) -> Any:
        """The whole cycle as one motion."""
        return self.whole.trajectory

    @property
    def duration(self) -> float:
        """Of a cycle, s."""
        return self.whole.cycle

    @property
    def energy(self) -> float:
        """Of a cycle, J."""
        return self.whole.energy

    @property
    def losses(self) -> float:
        """Of a cycle, J."""
        return self.whole.losses

    @property
    def ledger(self) -> Any:
        """Of a cycle."""
        return self.whole.ledger

    @property
    def supply(self) -> Any:
        """Of the program."""
        return self.whole.program.supply

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened on the way."""
        return self.whole.notes

    @property
    def scene(self) -> Any:
        """The obstacles of the program; its parts come and go, so that no clearance is drawn."""
        return None

    def report(self, path: Any) -> Any:
        """Write the program's page."""
        return self.whole.report(path)


def card_of(shown: ShownProgram, good: str, bad: str) -> str:
    """The card's words. good, bad: colours."""
    plan, proof = shown.whole, shown.whole.certificate
    least = f"the least cycle is {plan.least_cycle:.3g} s"
    lines = [
        f'<div style="font-size:1.9em;font-weight:700;line-height:1.15">{plan.energy:.3g} J<span'
        f' style="font-size:0.5em;font-weight:400;color:{PALE}"> drawn in a cycle of'
        f" {plan.cycle:.3g} s; {least}</span></div>"
    ]
    if plan.even is not None and plan.cycle > plan.least_cycle:
        lines.append(
            f'<div style="color:{good if plan.saving >= 0.005 else PALE}"><b>{100 * plan.saving:.1f} %'
            f" less</b> than each motion alone at an even share of the time ({plan.even:.3g} J)</div>"
        )
    if proof.ok:
        words = f"✓ <b>Proved</b>: {len(plan.legs)} motions certified, parts join"
        words += ", clear of the scene." if proof.clearances else "."
        return "".join([*lines, f'<div style="color:{good}">{words}</div>'])
    why = html.escape("; ".join(proof.failed))
    return "".join([*lines, f'<div style="color:{bad}">✗ <b>Not proved</b>: {why}.</div>'])


def table_of(sketch: Sketch | None, shown: ShownProgram | None, picked: int) -> str:
    """The steps as a table; with the times and energies of the plan below, where there is one."""
    if sketch is None or not sketch.steps:
        return NOTHING.format(
            "A program is a list of steps. Drag the goal to where the robot shall go first, and add"
            " a move; add a grip, drag the goal on, add another move, and so on; end with Back."
        )
    mark = "background:rgba(0,114,178,0.15);"
    rows = "".join(
        f'<tr style="{mark if k == picked else ""}"><td>{k + 1}</td><td>{html.escape(told(step))}'
        f"</td><td>{html.escape(step.name)}</td></tr>"
        for k, step in enumerate(sketch.steps)
    )
    return f'<table class="armature-steps" {STYLE}>{rows}</table>' + (
        _times(shown) if shown else ""
    )


def _times(shown: ShownProgram) -> str:
    cell = '<td style="text-align:right">'
    rows = "".join(
        f"<tr><td>{html.escape(stage.name)}</td>{cell}{stage.begin:.2f} s</td>"
        f"{cell}{stage.duration:.2f} s</td>{cell}{energy:.3g} J</td></tr>"
        for stage, energy in zip(shown.whole.stages, shown.whole.energies())
        if stage.duration > 0.0
    )
    head = "<tr><th></th><th>begins</th><th>lasts</th><th>energy</th></tr>"
    return f'<table class="armature-stages" {STYLE}>{head}{rows}</table>'


def charts_of(shown: ShownProgram) -> dict[str, str]:
    """The charts of the whole cycle, by their tabs."""
    track, axes = shown.trajectory, shown.robot.drivetrain.axis_names
    return {
        "Currents": _over_time("Current of each drive", "A", track.t, track.current, axes),
        "Power": _power(track.t, track.power, axes),
        "Torque": torque(shown),
        "Energy": ledger(shown),
        "Clearance": NOTHING.format("Look at the motion of a single step for its clearance."),
    }


def _over_time(title: str, unit: str, t: np.ndarray, values: Any, names: Sequence[str]) -> str:
    chart = Chart(title, "time [s]", unit)
    for k in range(values.shape[1]):
        chart.line(t, values[:, k], COLOURS[k % len(COLOURS)], 1.4)
    return chart.svg() + names_of(names)


def _power(t: np.ndarray, values: Any, names: Sequence[str]) -> str:
    chart = Chart("All drives", "time [s]", "power [W]")
    chart.line(t, values.sum(-1), INK, 1.3)
    return chart.svg() + _over_time("Each drive", "power [W]", t, values, names)


def packed(plan: ProgramPlan) -> bytes:
    """All files of a program's plan as one .zip: the motions, the report, and the program itself
    with its robot and scene, which `armature plan program.yaml` plans again."""
    program, content = plan.program, io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="armature") as place:
        folder = Path(place) / "program"
        plan.save(folder)
        program.robot.save(folder / "robot.yaml")
        if program.scene is not None:
            (folder / "scene.yaml").write_text(program.scene.to_yaml(), encoding="utf-8")
        scene = None if program.scene is None else "scene.yaml"
        text = program_text(program, "robot.yaml", scene)
        (folder / "program.yaml").write_text(text, encoding="utf-8")
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.iterdir()):
                archive.write(path, f"program/{path.name}")
    return content.getvalue()
