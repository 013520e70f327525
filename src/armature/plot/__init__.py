"""Figures: one call each, one figure a file; they read results and compute nothing of their own.

Figures of a motion take a robot and a trajectory, or a plan (`Solution` or `SavedPlan`) in place of both.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armature.plot.curve import curve as curve
    from armature.plot.graf import graf as graf
    from armature.plot.iterations import iterations as iterations
    from armature.plot.joints import joints as joints
    from armature.plot.ledger import ledger_flow as ledger_flow
    from armature.plot.motion import motion as motion
    from armature.plot.power import power as power
    from armature.plot.report import write_report as write_report
    from armature.plot.shared import shared_supply as shared_supply
    from armature.plot.temperature import temperature as temperature
    from armature.plot.torque_speed import torque_speed as torque_speed

# name → module that defines it
_FIGURES = {
    "curve": "curve",
    "graf": "graf",
    "iterations": "iterations",
    "joints": "joints",
    "ledger_flow": "ledger",
    "motion": "motion",
    "power": "power",
    "shared_supply": "shared",
    "temperature": "temperature",
    "torque_speed": "torque_speed",
    "write_report": "report",
}
__all__ = list(_FIGURES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name not in _FIGURES:
        raise AttributeError(f"module 'armature.plot' has no attribute {name!r}")
    return getattr(importlib.import_module(f"armature.plot.{_FIGURES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Figures(types.ModuleType):
    """The room as a module whose functions are not hidden by the files of the same name (`graf`)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _FIGURES and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Figures
