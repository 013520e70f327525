"""Figures: one call each, one figure a file; they read results and compute nothing of their own."""

from armature.plot.graf import graf
from armature.plot.ledger import ledger_flow
from armature.plot.motion import motion
from armature.plot.power import power
from armature.plot.report import write_report
from armature.plot.shared import shared_supply
from armature.plot.temperature import temperature
from armature.plot.torque_speed import torque_speed

__all__ = ["graf", "ledger_flow", "motion", "power", "shared_supply", "temperature", "torque_speed", "write_report"]
