"""IFToMM A02: N square four-bar windows in a row, one degree of freedom, through positions where
all rods lie in one line.

Spatial hinges make three couplings of every window redundant; at the singular positions more become
so. Usage: four_bars.py [N]."""

import sys

from armature import mechanisms as mech

UPRIGHT = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # a rod's x axis, up
SLENDER = (0.0, 1 / 12, 1 / 12)


def build(windows: int) -> mech.Mechanism:
    """Upright rods pinned to the ground at (k, 0), level rods between their tops, which move at 1
    m/s."""
    upright = [
        mech.Body(f"upright {k}", 1.0, SLENDER, (k, 0.5, 0), UPRIGHT, (0.5, 0, 0), (0, 0, -1))
        for k in range(windows + 1)
    ]
    level = [
        mech.Body(f"level {k}", 1.0, SLENDER, (k + 0.5, 1, 0), velocity=(1, 0, 0))
        for k in range(windows)
    ]
    z = (0, 0, 1)
    joints = [mech.revolute("pin 0", "ground", "upright 0", (0, 0, 0), z)]
    for k in range(windows):
        joints.append(mech.revolute(f"top {k}", f"upright {k}", f"level {k}", (k, 1, 0), z))
        joints.append(mech.revolute(f"end {k}", f"level {k}", f"upright {k + 1}", (k + 1, 1, 0), z))
        joints.append(mech.revolute(f"pin {k + 1}", "ground", f"upright {k + 1}", (k + 1, 0, 0), z))
    return mech.Mechanism(
        f"{windows} four-bars", [*upright, *level], joints, gravity=(0.0, -9.81, 0.0)
    )


def main(windows: int = 2, duration: float = 10.0, rtol: float = 1e-8) -> mech.MechanismMotion:
    mechanism = build(windows)
    told = mech.redundancy(mechanism)
    print(
        f"{told.rows} rows of rank {told.rank}: {told.freedom} degree of freedom,"
        f" {len(told.redundant)} couplings have redundant rows"
    )
    motion = mech.simulate(mechanism, duration=duration, rtol=rtol, atol=rtol / 10)
    x, y, _ = motion.point("upright 0", (0.5, 0, 0))[-1]
    print(motion)
    print(f"top of the first rod after {duration:g} s: x = {x:.7f} m, y = {y:.7f} m")
    return motion


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
