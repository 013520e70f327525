"""IFToMM A04: Bricard's mechanism, five rods along the edges of a cube, six hinges. Counting says
it cannot move; it does.

Thirty velocities, thirty rows of couplings, rank 29.
"""

from armature import mechanisms as mech

POINTS = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
AXES = [Y, Z, X, Y, Z, X]
AXIAL, ACROSS = 0.0016666666666666668, 0.08416666666666667  # 1 kg, 1 m long, 0.1 m square, kg·m²


def build() -> mech.Mechanism:
    rods = []
    for k in range(5):
        a, b = POINTS[k], POINTS[k + 1]
        along = [abs(q - p) for p, q in zip(a, b)]
        inertia = tuple(AXIAL if x else ACROSS for x in along)
        rods.append(
            mech.Body(f"rod {k + 1}", 1.0, inertia, tuple((p + q) / 2 for p, q in zip(a, b)))
        )
    names = ["ground", *(rod.name for rod in rods), "ground"]
    hinges = [
        mech.revolute(f"P{k + 1}", names[k], names[k + 1], POINTS[k], AXES[k]) for k in range(6)
    ]
    return mech.Mechanism("Bricard", rods, hinges, gravity=(0.0, -9.81, 0.0))


def main(duration: float = 10.0, rtol: float = 1e-10) -> mech.MechanismMotion:
    mechanism = build()
    print(mech.redundancy(mechanism))
    seconds = [float(t) for t in range(int(duration) + 1)]
    motion = mech.simulate(mechanism, duration=duration, rtol=rtol, atol=rtol / 10, times=seconds)
    print(motion)
    for t, p in zip(motion.t, motion.point("rod 2", (0, -0.5, 0))):
        print(f"P3 at {t:4.1f} s: ({p[0]: .9f}, {p[1]: .9f}, {p[2]: .9f}) m")
    return motion


if __name__ == "__main__":
    main()
