"""What can be said of a cell of numbers before it is scheduled."""

from __future__ import annotations

from dataclasses import dataclass

from armature.cell.schedule.cell_diagnosis import least_time
from armature.cell.schedule.model import CellModel


@dataclass(frozen=True)
class ModelCheck:
    """A cell as numbers. rows: (robot, stands, travels, movements, least s) of every robot; least:
    of its own cycle, None where its travels form none."""

    model: CellModel
    rows: tuple[tuple[str, int, int, int, float | None], ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes it impossible, a sentence each."""
        found = []
        for name, *_, least in self.rows:
            if least is None:
                found.append(f"robot {name!r}: its travels form no cycle through all of its stands")
            elif least > self.model.cycle * (1 + 1e-9):
                found.append(
                    f"robot {name!r} needs {least:.6g} s of a cycle of {self.model.cycle:.6g} s;"
                    " give at least that"
                )
        return tuple(found)

    @property
    def ok(self) -> bool:
        """Whether every robot by itself fits into the cycle."""
        return not self.faults

    def __str__(self) -> str:
        m = self.model
        head = (
            f"{m.name}: {len(m.robots)} robots in a cycle of {m.cycle:.6g} s; {len(m.lags)} lags,"
            f" {len(m.hand_overs)} hand-overs, {len(m.clashes)} clashes"
        )
        rows = [f"{'robot':16} {'stands':>7} {'travels':>8} {'movements':>10} {'least s':>9}"]
        for name, stands, travels, movements, least in self.rows:
            time = "none" if least is None else f"{least:.4f}"
            rows.append(f"{name:16.16} {stands:7} {travels:8} {movements:10} {time:>9}")
        said = "every robot by itself fits into the cycle" if self.ok else "impossible as it is:"
        return "\n".join([head, *rows, said, *self.faults])


def check_model(model: CellModel) -> ModelCheck:
    """Check a cell of numbers without scheduling it: the least cycle of every robot by itself."""
    rows = tuple(
        (
            r.name,
            len(r.stands),
            len(r.travels),
            sum(len(e.movements) for e in r.travels),
            least_time(model, r),
        )
        for r in model.robots
    )
    return ModelCheck(model, rows)
