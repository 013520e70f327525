"""sin, cos, exp, log, tanh, … on vectors of doubles, written in LLVM assembly.

Each function takes a strict `Writer` (no fast-math flags: the reductions depend on the order of
operations). Everything else that a kernel may need goes lane by lane through the C library. The
accuracy of each is tested in tests/kernel."""

from __future__ import annotations

from armature.kernel.ir import Writer, function

# π/2 in three parts of 53 bits each: with fma the reduction below is exact up to its last rounding;
# all positive, so that −0 stays −0
HALF_PI = (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32)
TWO_OVER_PI = 0.6366197723675814
SINCOS_LIMIT = 2.0**26  # beyond it sin, cos and tan call the C library
ROUND = 1.5 * 2.0**52  # adding it rounds to an integer and leaves that integer in the low bits

# the classic minimax polynomials of sin(r) and cos(r) on |r| ≤ π/4
SIN = (
    -1.66666666666666324348e-1,
    8.33333333332248946124e-3,
    -1.98412698298579493134e-4,
    2.75573137070700676789e-6,
    -2.50507602534068634195e-8,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-2,
    -1.38888888888741095749e-3,
    2.48015872894767294178e-5,
    -2.75573143513906633035e-7,
    2.08757232129817482790e-9,
    -1.13596475577881948265e-11,
)
# log((1 + s)/(1 − s)) − 2s = s·(s²·L₁ + s⁴·L₂ + …)
LOG = (
    6.666666666666735130e-1,
    3.999999999940941908e-1,
    2.857142874366239149e-1,
    2.222219843214978396e-1,
    1.818357216161805012e-1,
    1.531383769920937332e-1,
    1.479819860511658591e-1,
)
LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-1, 1.90821492927058770002e-10

CIRCULAR = {"s": "sin", "c": "cos"}
# functions of the C library that kernels may call lane by lane: name → number of arguments
LIBRARY = {
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "sinh": 1,
    "cosh": 1,
    "asinh": 1,
    "acosh": 1,
    "atanh": 1,
    "erf": 1,
    "log1p": 1,
    "expm1": 1,
    "pow": 2,
    "atan2": 2,
    "fmod": 2,
    "hypot": 2,
    "remainder": 2,
}


def polynomial(w: Writer, x: str, coefficients: tuple[float, ...]) -> str:
    """c₀ + c₁x + c₂x² + … by Horner's rule with fma."""
    value = w.number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = w.fma(value, x, w.number(c))
    return value


def lane_by_lane(name: str, width: int) -> str:
    """Definition of @lanes.NAME: the C library's function on each lane."""
    w = Writer(width)
    operands = [f"%a{i}" for i in range(LIBRARY[name])]
    result = "poison"
    for lane in range(width):
        scalars = [w.emit(f"extractelement {w.vector} {a}, i32 {lane}") for a in operands]
        value = w.emit(f"call double @{name}(" + ", ".join(f"double {s}" for s in scalars) + ")")
        result = w.emit(f"insertelement {w.vector} {result}, double {value}, i32 {lane}")
    w.do(f"ret {w.vector} {result}")
    header = ", ".join(f"{w.vector} {a}" for a in operands)
    declaration = f"declare double @{name}(" + ", ".join(["double"] * LIBRARY[name]) + ")\n"
    return function(f"internal {w.vector} @lanes.{name}({header}) noinline", w) + declaration


def call_lanes(w: Writer, name: str, *args: str) -> str:
    """Call @lanes.NAME on vectors."""
    return w.emit(
        f"call {w.vector} @lanes.{name}(" + ", ".join(f"{w.vector} {a}" for a in args) + ")"
    )


def sine_cosine(w: Writer, x: str, which: str) -> dict[str, str]:
    """sin and/or cos (which: "s", "c" or "sc") of a vector: reduction by π/2, two polynomials,
    quadrant by integer select.

    A vector with a lane beyond SINCOS_LIMIT, infinite or NaN goes to @far.sin and @far.cos, in a
    block that is seldom entered."""
    n = w.name()[2:]
    near, far, done = f"near{n}", f"far{n}", f"done{n}"
    w.do(f"br i1 {w.any(_beyond(w, x))}, label %{far}, label %{near}, !prof !0")
    w.label(far)
    slow = {f: w.emit(f"call {w.vector} @far.{CIRCULAR[f]}({w.vector} {x})") for f in which}
    w.do(f"br label %{done}")
    w.label(near)
    quick = _sine_cosine_near(w, x, which)
    w.do(f"br label %{done}")
    w.label(done)
    return {
        f: w.emit(f"phi {w.vector} [ {slow[f]}, %{far} ], [ {quick[f]}, %{near} ]") for f in which
    }


def far(which: str, width: int) -> str:
    """Definition of @far.sin or @far.cos ("s", "c"): the C library's value in lanes beyond the
    limit, in the others the usual one."""
    w = Writer(width)
    value = w.select(
        _beyond(w, "%x"),
        call_lanes(w, CIRCULAR[which], "%x"),
        _sine_cosine_near(w, "%x", which)[which],
    )
    w.do(f"ret {w.vector} {value}")
    return function(
        f"internal {w.vector} @far.{CIRCULAR[which]}({w.vector} %x) noinline", w
    ) + lane_by_lane(CIRCULAR[which], width)


def _beyond(w: Writer, x: str) -> str:
    """Lanes that the quick reduction does not serve."""
    return w.compare("ugt", w.intrinsic("fabs", x), w.number(SINCOS_LIMIT))


def _sine_cosine_near(w: Writer, x: str, which: str) -> dict[str, str]:
    # k = round(2x/π), r = x − k π/2
    shifted = w.fma(x, w.number(TWO_OVER_PI), w.number(ROUND))
    quadrant = w.bits(shifted)
    k = w.sub(shifted, w.number(ROUND))
    minus_k = w.neg(k)
    r = x
    for part in HALF_PI:
        r = w.fma(minus_k, w.number(part), r)
    z = w.mul(r, r)
    # sin r = r + r z S(z), the sign put back for −0;  cos r = 1 − z/2 + z² C(z)
    s = w.intrinsic("copysign", w.fma(w.mul(r, z), polynomial(w, z, SIN), r), r)
    c = w.fma(z, w.fma(z, polynomial(w, z, COS), w.number(-0.5)), w.number(1.0))
    # odd quadrants exchange the two; the second bit (of k, or of k + 1 for cos) is the sign
    odd = w.emit(f"icmp ne {w.integers} {w.int_op('and', quadrant, w.integer(1))}, {w.integer(0)}")
    result = {}
    for f in which:
        value = w.select(odd, c, s) if f == "s" else w.select(odd, s, c)
        turned = quadrant if f == "s" else w.int_op("add", quadrant, w.integer(1))
        sign = w.int_op("shl", w.int_op("and", turned, w.integer(2)), w.integer(62))
        result[f] = w.from_bits(w.int_op("xor", w.bits(value), sign))
    return result


def _power_of_two(w: Writer, k: str) -> str:
    """2ᵏ for a vector of integers −1022 ≤ k ≤ 1023."""
    return w.from_bits(w.int_op("shl", w.int_op("add", k, w.integer(1023)), w.integer(52)))


def _exp_parts(w: Writer, x: str, low: float, high: float) -> tuple[str, str, str]:
    """(k, r, e^r − 1) with x = k ln 2 + r, |r| ≤ ln 2 / 2, x clamped to [low, high]; NaN stays
    NaN."""
    x = w.select(w.compare("ogt", x, w.number(high)), w.number(high), x)
    x = w.select(w.compare("olt", x, w.number(low)), w.number(low), x)
    shifted = w.fma(x, w.number(LOG2E), w.number(ROUND))
    k = w.sub(shifted, w.number(ROUND))
    r = w.fma(k, w.number(-LN2_HIGH), x)
    r = w.fma(k, w.number(-LN2_LOW), r)
    factorials = [1.0]
    for i in range(1, 14):
        factorials.append(factorials[-1] * i)
    # e^r − 1 = r + r² (1/2! + r/3! + …), truncated below half a unit in the last place
    tail = polynomial(w, r, tuple(1.0 / f for f in factorials[2:]))
    bits = w.int_op("sub", w.bits(shifted), w.bits(w.number(ROUND)))
    return bits, r, w.fma(w.mul(r, r), tail, r)


def exponential(w: Writer, x: str) -> str:
    """exp: 2ᵏ(1 + p), the power in two factors so that subnormal results and overflow come out
    right."""
    k, _, p = _exp_parts(w, x, -746.0, 710.0)
    half = w.int_op("ashr", k, w.integer(1))
    rest = w.int_op("sub", k, half)
    value = w.add(p, w.number(1.0))
    return w.mul(w.mul(value, _power_of_two(w, half)), _power_of_two(w, rest))


def hyperbolic_tangent(w: Writer, x: str) -> str:
    """tanh |x| = m/(m + 2) with m = e^{2|x|} − 1 = 2ᵏp + (2ᵏ − 1), accurate for small arguments
    too; then the sign."""
    size = w.intrinsic("fabs", x)
    k, _, p = _exp_parts(w, w.add(size, size), -1.0, 50.0)
    power = _power_of_two(w, k)
    m = w.fma(power, p, w.sub(power, w.number(1.0)))
    value = w.div(m, w.add(m, w.number(2.0)))
    return w.intrinsic("copysign", value, x)


def logarithm(w: Writer, x: str) -> str:
    """ln: x = 2ᵉm with m in [√½, √2), f = m − 1, s = f/(2 + f); zero → −∞, negative → NaN, ∞ →
    ∞."""
    tiny = w.compare("olt", x, w.number(2.2250738585072014e-308))
    y = w.select(tiny, w.mul(x, w.number(2.0**54)), x)
    # subtracting the bits of √½ makes the exponent field count from there
    root = 0x3FE6A09E667F3BCD
    offset = w.int_op("sub", w.bits(y), w.integer(root))
    e = w.int_op("ashr", offset, w.integer(52))
    m = w.from_bits(w.int_op("sub", w.bits(y), w.int_op("shl", e, w.integer(52))))
    exponent = w.emit(f"sitofp {w.integers} {e} to {w.vector}")
    exponent = w.sub(exponent, w.select(tiny, w.number(54.0), w.number(0.0)))
    # ln m = f − (f²/2 − s (f²/2 + R)), R = s²L₁ + s⁴L₂ + …
    f = w.sub(m, w.number(1.0))
    s = w.div(f, w.add(f, w.number(2.0)))
    z = w.mul(s, s)
    rest = w.mul(z, polynomial(w, z, LOG))
    half_square = w.mul(w.mul(f, f), w.number(0.5))
    low = w.fma(s, w.add(half_square, rest), w.mul(exponent, w.number(LN2_LOW)))
    value = w.fma(exponent, w.number(LN2_HIGH), w.sub(f, w.sub(half_square, low)))
    # the ends of the range; x + x keeps NaN and +∞
    infinite = w.compare("oeq", x, w.number(float("inf")))
    value = w.select(w.compare("uge", x, w.number(0.0)), value, w.number(float("nan")))
    value = w.select(w.compare("oeq", x, w.number(0.0)), w.number(float("-inf")), value)
    value = w.select(infinite, x, value)
    return w.select(w.compare("uno", x, x), x, value)
