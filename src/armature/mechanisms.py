"""General mechanisms: bodies, couplings, motors and force elements, simulated by Gauss's principle
(V1).

from armature import mechanisms as mech
m = mech.Mechanism("pendulum", [mech.Body("bob", 1.0, position=(1, 0, 0))], [mech.revolute("pin",
"ground", "bob", (0, 0, 0), (0, 1, 0))]) motion = mech.simulate(m, duration=10.0)
"""

from armature.dynamics.bodies.couplings import (
    GROUND,
    Coupling,
    Placed,
    belt,
    custom,
    cylindrical,
    fixed,
    gear,
    guided_point,
    planar,
    prescribed,
    prismatic,
    rack_and_pinion,
    revolute,
    rod,
    spherical,
    universal,
)
from armature.dynamics.bodies.elements import (
    CustomForce,
    Force,
    Load,
    Moving,
    Spring,
    TorsionSpring,
)
from armature.dynamics.bodies.gauss import (
    Accelerations,
    Body,
    Mechanism,
    Motor,
    Reaction,
    Redundancy,
)
from armature.dynamics.bodies.mechanism import (
    accelerations,
    assemble,
    energy,
    reactions,
    redundancy,
)
from armature.simulate.mechanism import MechanismMotion, simulate

__all__ = [
    "Accelerations",
    "Body",
    "Coupling",
    "CustomForce",
    "Force",
    "GROUND",
    "Load",
    "Mechanism",
    "MechanismMotion",
    "Motor",
    "Moving",
    "Placed",
    "Reaction",
    "Redundancy",
    "Spring",
    "TorsionSpring",
    "accelerations",
    "assemble",
    "belt",
    "custom",
    "cylindrical",
    "energy",
    "fixed",
    "gear",
    "guided_point",
    "planar",
    "prescribed",
    "prismatic",
    "rack_and_pinion",
    "reactions",
    "redundancy",
    "revolute",
    "rod",
    "simulate",
    "spherical",
    "universal",
]
