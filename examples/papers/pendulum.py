"""IFToMM A01: a point mass on a massless rod, from bodies and one coupling.

The reference is the Jacobi elliptic functions' value after 10 s.
"""

from armature import mechanisms as mech


def build() -> mech.Mechanism:
    """1 kg at 1 m from a pin, held out to the left."""
    bob = mech.Body("bob", mass=1.0, position=(-1.0, 0.0, 0.0))
    pin = mech.revolute("pin", "ground", "bob", at=(0, 0, 0), axis=(0, 0, 1))
    return mech.Mechanism("simple pendulum", [bob], [pin], gravity=(0.0, -9.81, 0.0))


def main() -> mech.MechanismMotion:
    motion = mech.simulate(build(), duration=10.0, rtol=1e-10, atol=1e-11)
    x, y, _ = motion.point("bob", (0, 0, 0))[-1]
    print(motion)
    print(f"after 10 s: x = {x:.9f} m, y = {y:.9f} m")
    return motion


if __name__ == "__main__":
    main()
