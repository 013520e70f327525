"""Drives: the laws of motors, gears, friction, amplifiers, brakes and supplies, exact and
smooth."""

from armature.drive.amplifier import Amplifier
from armature.drive.brake import Brake
from armature.drive.bus import Bus
from armature.drive.catalogue import (
    Catalogue,
    Supply,
    as_supply,
    catalogue,
    gear,
    motor,
    read_drives,
)
from armature.drive.corner import EXACT, Smooth
from armature.drive.drive import Drive
from armature.drive.flow import Flow
from armature.drive.friction import Friction
from armature.drive.gear import EfficiencyTable, Gear
from armature.drive.limit import Limit
from armature.drive.motor import Motor
from armature.drive.supply import Account, Epigraph, NonRegenerative, Regenerative
from armature.drive.thermal import Cycle, Thermal
from armature.drive.train import Coupling, Drivetrain, drivetrain, stack

__all__ = [
    "Account",
    "Amplifier",
    "Brake",
    "Bus",
    "Catalogue",
    "Coupling",
    "Cycle",
    "Drive",
    "Drivetrain",
    "EXACT",
    "EfficiencyTable",
    "Epigraph",
    "Flow",
    "Friction",
    "Gear",
    "Limit",
    "Motor",
    "NonRegenerative",
    "Regenerative",
    "Smooth",
    "Supply",
    "Thermal",
    "as_supply",
    "catalogue",
    "drivetrain",
    "gear",
    "motor",
    "read_drives",
    "stack",
]
