"""Hundreds of broken input files, made from the examples that `armature init` writes, and by hand
where the format is another's."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from ruamel.yaml import YAML

from armature.cli.init import template

YAML_FILES = {
    "robot.yaml": ["check", "FILE"],
    "drives.yaml": ["check", "robot.yaml", "--drives", "FILE"],
    "task.yaml": ["plan", "FILE"],
    "path_task.yaml": ["plan", "FILE"],
    "program.yaml": ["plan", "FILE"],
    "study.yaml": ["study", "run", "FILE"],
    "line.yaml": ["line", "FILE"],
}


@dataclass(frozen=True)
class Case:
    """A broken file. command: with FILE where it stands.  content: None: it is not there;
    "directory": it is one.

    words: any of them must be in the message (key, element, reason).  line: where it is, None where
    the whole file is meant."""

    name: str
    command: list[str]
    file: str
    content: bytes | str | None
    words: tuple[str, ...] = ()
    line: int | None = None


def cases() -> list[Case]:
    """All of them."""
    return [
        *whole_files(),
        *changed_examples(),
        *urdfs(),
        *drives(),
        *tasks(),
        *limits(),
        *motions(),
    ]


# --- files that are no YAML, or not the right one ------------------------------------------------


def whole_files() -> Iterator[Case]:
    """What can happen to any YAML file."""
    junk = np.random.default_rng(1).integers(0, 256, 4000, dtype=np.uint8).tobytes()
    for name, command in YAML_FILES.items():
        text = template(name)
        broken: dict[str, tuple[bytes | str | None, tuple[str, ...], int | None]] = {
            "missing": (None, ("no such file",), None),
            "directory": ("directory", ("directory",), None),
            "empty": ("", ("empty",), 1),
            "comments only": ("# nothing\n", ("empty",), 1),
            "junk": (junk, ("UTF-8", "utf-8"), None),
            "zeros": (b"\0" * 100, ("not well-formed",), None),
            "latin-1": (("# Stra\u00dfe\n" + text).encode("latin-1", "replace"), ("UTF-8",), 1),
            "utf-16": (text.encode("utf-16-le"), ("not well-formed", "UTF-8", "utf-8"), None),
            "unclosed": (text + "\nnames: {a: [1, 2\n", ("not well-formed",), None),
            "tab": ("name: x\n\tlinks: 3\n", ("not well-formed",), None),
            "two documents": (text + "\n---\n" + text, ("not well-formed",), None),
            "list": ("- 1\n- 2\n", ("not a mapping",), 1),
            "word": ("just words\n", ("not a mapping",), 1),
            "number": ("3.5\n", ("not a mapping",), 1),
            "python object": (
                "!!python/object/apply:os.getcwd []\n",
                ("not a mapping", "not well-formed"),
                None,
            ),
            "bomb": (bomb(), ("repeated too much",), None),
            "deep": ("a: " + "[" * 5000 + "]" * 5000, ("nested", "nesting"), None),
            "cycle": ("a: &a [*a]\n", ("nested", "not well-formed"), None),
            "huge": ("name: " + "x" * (5 * 2**20), ("MB",), None),
            "twice": (text + f"\n{text_key(text)}: 1\n", ("stands twice",), text.count("\n") + 2),
        }
        for what, (content, words, line) in broken.items():
            yield Case(f"{name}: {what}", command, name, content, words, line)


def bomb() -> str:
    """A few lines that mean a million values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 8)]
    return "\n".join(rows)


def text_key(text: str) -> str:
    """The first key of a YAML text."""
    return next(line for line in text.splitlines() if line and not line.startswith("#")).split(":")[
        0
    ]


# --- examples with one thing changed -------------------------------------------------------------


def changed_examples() -> Iterator[Case]:
    """Every key of the examples misspelt, every third value of a wrong kind, every third number
    impossible."""
    for name, command in YAML_FILES.items():
        text = template(name)
        for k, (key, value) in enumerate(pairs(text)):
            wrong = key.value[:-1] + "q" if len(key.value) > 1 else key.value + "q"
            where = key.start_mark.line + 1
            yield Case(
                f"{name}:{where}: {key.value} misspelt {k}",
                command,
                name,
                put(text, key, wrong),
                (wrong,),
                where,
            )
            shared = (
                value.start_mark.index < key.start_mark.index
            )  # an alias: its text stands elsewhere
            if k % 3 == 0 and not shared and not (value.id == "sequence" and not value.flow_style):
                other = "[[1, [2]]]" if value.id == "scalar" else "7.5\n"
                yield Case(
                    f"{name}:{where}: {key.value} of a wrong kind {k}",
                    command,
                    name,
                    put(text, value, other),
                    (key.value,),
                    where,
                )
            if (
                value.id == "scalar"
                and value.value[:1].isdigit()
                and k % 3 == 1
                and key.value != "armature"
            ):
                bad = (".nan", "-1e400", "3 furlongs")[k % 9 // 3]
                yield Case(
                    f"{name}:{where}: {key.value} is {bad} {k}",
                    command,
                    name,
                    put(text, value, bad),
                    (key.value,),
                    where,
                )


def pairs(text: str) -> Iterator[tuple]:
    """Keys and values of all mappings of a text, each place once."""
    seen = set()

    def walk(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for item in node.value if node.id != "scalar" else ():
            if node.id == "mapping":
                yield item
            yield from walk(item[1] if node.id == "mapping" else item)

    yield from walk(YAML(typ="safe", pure=True).compose(text))


def put(text: str, node, other: str) -> str:
    """The text with a node's own text replaced."""
    return text[: node.start_mark.index] + other + text[node.end_mark.index :]


# --- other formats, by hand ----------------------------------------------------------------------

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial></link>\n'
)
JOINT = (
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="9"/></joint>\n'
)
GOOD = '<robot name="r">\n' + LINK.format("a") + LINK.format("b") + JOINT + "</robot>\n"


def urdfs() -> Iterator[Case]:
    """URDF files with one defect each."""
    change = lambda old, new: GOOD.replace(old, new)
    broken = {
        "empty": ("", "empty"),
        "no xml": ("links and joints", "XML"),
        "truncated": (GOOD[:200], "XML"),
        "other root": ("<world/>", "robot"),
        "entities": ('<!DOCTYPE r [<!ENTITY a "b">]>' + GOOD, "entities"),
        "no links": ('<robot name="r"></robot>', "link"),
        "negative mass": (change('mass value="1"', 'mass value="-1"'), "mass"),
        "nan mass": (change('mass value="1"', 'mass value="nan"'), "mass"),
        "mass in words": (change('mass value="1"', 'mass value="heavy"'), "heavy"),
        "infinite mass": (change('mass value="1"', 'mass value="1e999"'), "mass"),
        "no mass value": (change('mass value="1"', "mass"), "mass"),
        "inertia in words": (change('ixx="1"', 'ixx="x"'), "ixx"),
        "inertia missing": (change('ixx="1" ', ""), "ixx"),
        "unknown parent": (change('parent link="a"', 'parent link="c"'), "'c'"),
        "unknown child": (change('child link="b"', 'child link="c"'), "'c'"),
        "parent is child": (change('child link="b"', 'child link="a"'), "loop"),
        "no parent": (change('<parent link="a"/>', ""), "parent"),
        "no child": (change('<child link="b"/>', ""), "child"),
        "no joint name": (change('name="j" ', ""), "name"),
        "no link name": (change('link name="b"', "link"), "name"),
        "unknown type": (change('type="revolute"', 'type="rotary"'), "rotary"),
        "no type": (change(' type="revolute"', ""), "type"),
        "axis of nothing": (change('xyz="0 0 1"', 'xyz="0 0 0"'), "axis"),
        "axis of two numbers": (change('xyz="0 0 1"', 'xyz="0 1"'), "axis"),
        "axis with commas": (change('xyz="0 0 1"', 'xyz="0,0,1"'), "axis"),
        "range reversed": (change('lower="-1"', 'lower="2"'), "lower"),
        "limit in words": (change('velocity="1"', 'velocity="fast"'), "fast"),
        "negative velocity": (change('velocity="1"', 'velocity="-1"'), "velocity"),
        "two links of one name": (change('name="b"', 'name="a"'), "'a'"),
        "two joints of one name": (GOOD.replace("</robot>", JOINT + "</robot>"), "j"),
        "two roots": (GOOD.replace("</robot>", LINK.format("c") + "</robot>"), "'c'"),
        "mimics nothing": (change("</joint>", '<mimic joint="k"/></joint>'), "'k'"),
        "mimics itself": (change("</joint>", '<mimic joint="j"/></joint>'), "j"),
        "unknown encoding": ('<?xml version="1.0" encoding="klingon"?>' + GOOD, "klingon"),
        "not utf-8": (GOOD.replace('name="r"', 'name="\u00e9"').encode("latin-1"), "utf-8"),
    }
    for what, (content, words) in broken.items():
        yield Case(f"urdf: {what}", ["check", "FILE"], "arm.urdf", content, (words,))
    yield Case("robot: unknown ending", ["check", "FILE"], "arm.step", "solid", ("suffix",))
    yield Case("urdf: missing", ["check", "FILE"], "arm.urdf", None, ("no such file",))
    yield Case("urdf: directory", ["check", "FILE"], "arm.urdf", "directory", ("directory",))


def drives() -> Iterator[Case]:
    """Drives that no motor has."""
    motor = "resistance: 1 ohm, torque constant: 0.1 N*m/A"
    broken = {
        "negative resistance": (
            "drives:\n  turn: {motor: {resistance: -1, torque_constant: 0.1}}\n",
            "resistance",
            2,
        ),
        "resistance in kg": (
            "drives:\n  turn: {motor: {resistance: 1 kg, torque_constant: 0.1}}\n",
            "resistance",
            2,
        ),
        "nan": (
            "drives:\n  turn: {motor: {resistance: .nan, torque_constant: 0.1}}\n",
            "resistance",
            2,
        ),
        "no torque constant": ("drives:\n  turn: {motor: {resistance: 1}}\n", "torque_constant", 2),
        "no motor": ("drives:\n  turn: {gear: {ratio: 3}}\n", "motor", 2),
        "unknown motor": ("drives:\n  turn:\n    motor: dc-24\n", "dc-24", 3),
        "unknown gear": (
            f"drives:\n  turn:\n    motor: {{{motor}}}\n    gear: planetry-25\n",
            "planetry-25",
            4,
        ),
        "unknown like": ("drives:\n  turn:\n    motor:\n      like: dc\n", "dc", 4),
        "efficiency above 1": (
            f"drives:\n  turn:\n    motor: {{{motor}}}\n    gear: {{efficiency: 150 %}}\n",
            "efficiency",
            None,
        ),
        "ratio 0": (
            f"drives:\n  turn:\n    motor: {{{motor}}}\n    gear: {{ratio: 0}}\n",
            "ratio",
            None,
        ),
        "unknown joint": (f"drives:\n  trun: {{motor: {{{motor}}}}}\n", "did you mean 'turn'", 2),
        "fixed joint": (f"drives:\n  flange: {{motor: {{{motor}}}}}\n", "flange", 2),
        "linear motor on a turning joint": (
            "drives:\n  turn: {motor: linear-48v-100n}\n",
            "linear",
            2,
        ),
        "a list": ("drives: [1, 2]\n", "drives", 1),
        "unknown supply": ("drives: {}\nsupply: solar\n", "solar", 2),
        "bus without capacitor": (
            "drives: {}\nsupply: {kind: bus, voltage: 48 V, resistor_voltage: 56 V}\n",
            "capacitance",
            2,
        ),
        "bus voltages reversed": (
            "supply: {kind: bus, capacitance: 1 mF, voltage: 60 V, resistor_voltage: 50 V}\n",
            "resistor_voltage",
            1,
        ),
        "half a coupling": ("couplings:\n  - {joints: [turn, elbow]}\n", "coupling", 2),
        "beside the sections": (f"drives: {{}}\nturn: {{motor: {{{motor}}}}}\n", "turn", 2),
    }
    for what, (content, words, line) in broken.items():
        yield Case(
            f"drives: {what}",
            ["check", "robot.yaml", "--drives", "FILE"],
            "mine.yaml",
            content,
            (words,),
            line,
        )


def tasks() -> Iterator[Case]:
    """Tasks that cannot be understood."""
    move = "move: {start: [0, -1, 1], goal: [1, -0.5, 0.5], duration: 1 s}\n"
    begin = "robot: robot.yaml\nmove:\n  start: [0, 0, 1]\n"
    broken = {
        "robot is the task itself": ("robot: mine.yaml\n" + move, "robot", 1),
        "robot is a folder": ("robot: folder.yaml\n" + move, "directory", None),
        "robot is not there": ("robot: other.urdf\n" + move, "other.urdf", 1),
        "no such built-in robot": ("robot: six_axes\n" + move, "six_axis", 1),
        "drives are not there": ("robot: robot.yaml\ndrives: d.yaml\n" + move, "d.yaml", 2),
        "drives are a robot": (
            "robot: robot.yaml\ndrives: robot.yaml\n" + move,
            "robot.yaml",
            None,
        ),
        "limits are not there": ("robot: robot.yaml\nlimits: l.yaml\n" + move, "l.yaml", 2),
        "two values for three joints": (
            "robot: robot.yaml\nmove:\n  start: [0, 0]\n  goal: [0, 0, 0]\n  duration: 1\n",
            "3 joints",
            3,
        ),
        "unknown joint": (
            "robot: robot.yaml\nmove:\n  start: {elbw: 1}\n  goal: [0, 0, 0]\n  duration: 1\n",
            "elbow",
            3,
        ),
        "out of reach": (begin + "  goal: {position: [5, 0, 0]}\n  duration: 1\n", "goal", 4),
        "unknown link": (
            begin + "  goal: {position: [0.4, 0, 0.3], link: toool}\n  duration: 1\n",
            "toool",
            4,
        ),
        "no duration": (begin + "  goal: [0, 0, 0.5]\n", "duration", 2),
        "negative duration": (begin + "  goal: [0, 0, 0.5]\n  duration: -1\n", "duration", 2),
        "passing too late": (
            begin + "  goal: [0, 0, 0.5]\n  duration: 1\n  via: [{configuration: [0, 0, 0.7], at: 3"
            " s}]\n",
            "passing times",
            2,
        ),
        "neither move nor path": ("robot: robot.yaml\n", "move", 1),
        "both move and path": (
            "robot: robot.yaml\npath: {line: [[0, 0, 1], [0, 1, 1]]}\n" + move,
            "move",
            1,
        ),
        "two shapes": (
            "robot: robot.yaml\npath:\n  line: [[0, 0, 1], [0, 1, 1]]\n  spline: p.csv\n",
            "line and spline",
            2,
        ),
        "points that are one": (
            "robot: robot.yaml\npath:\n  line: [[0.4, 0, 0.3], [0.4, 0, 0.3]]\n",
            "are the same",
            3,
        ),
        "three points in line": (
            "robot: robot.yaml\npath:\n  arc: [[0, 0, 1], [0, 0, 2], [0, 0, 3]]\n",
            "on one line",
            3,
        ),
        "circle about no axis": (
            (
                "robot: robot.yaml\npath:\n  circle: {start: [1, 0, 0], centre: [0, 0, 0], normal:"
                " [0, 0, 0]}\n"
            ),
            "axis",
            3,
        ),
        "points are not there": ("robot: robot.yaml\npath:\n  spline: p.csv\n", "p.csv", 3),
        "points without numbers": (
            "robot: robot.yaml\npath:\n  spline: points.csv\n",
            "points.csv",
            None,
        ),
        "negative payload": ("robot: robot.yaml\npayload: -1 kg\n" + move, "payload", 2),
        "payload on no link": (
            "robot: robot.yaml\npayload: {mass: 1, link: tol}\n" + move,
            "tool",
            2,
        ),
        "hold of no joint": ("robot: robot.yaml\nhold: [x_*]\n" + move, "x_*", 2),
        "unknown friction": (
            "robot: robot.yaml\nfriction: {turn: {viscos: 1}}\n" + move,
            "viscous",
            2,
        ),
        "negative friction": (
            "robot: robot.yaml\nfriction: {turn: {viscous: -1}}\n" + move,
            "viscous",
            2,
        ),
        "unknown supply": ("robot: robot.yaml\nsupply: solar\n" + move, "solar", 2),
        "half a knot": ("robot: robot.yaml\nknots: 0.5\n" + move, "knots", 2),
        "no knots": ("robot: robot.yaml\nknots: 0\n" + move, "knots", 2),
        "too many knots": ("robot: robot.yaml\nknots: 1000000000\n" + move, "knots", 2),
        "unknown objective": ("robot: robot.yaml\nobjective: speed\n" + move, "objective", 2),
        "limits reversed": (
            "robot: robot.yaml\nlimits: {turn: {lower: 2, upper: 1}}\n" + move,
            "lower",
            2,
        ),
    }
    for what, (content, words, line) in broken.items():
        yield Case(f"task: {what}", ["plan", "FILE"], "mine.yaml", content, (words,), line)


def limits() -> Iterator[Case]:
    """MoveIt's joint_limits.yaml, broken."""
    broken = {
        "unknown joint": "joint_limits:\n  trun: {has_velocity_limits: true, max_velocity: 1}\n",
        "negative": "joint_limits:\n  turn: {has_velocity_limits: true, max_velocity: -1}\n",
        "in words": "joint_limits:\n  turn: {has_velocity_limits: true, max_velocity: fast}\n",
        "reversed": (
            "joint_limits:\n  turn: {has_position_limits: true, min_position: 2, max_position: 1}\n"
        ),
        "a list": "joint_limits: [1, 2]\n",
        "empty": "",
        "junk": "\x00\x01",
    }
    for what, content in broken.items():
        yield Case(
            f"limits: {what}",
            ["check", "robot.yaml", "--limits", "FILE"],
            "joint_limits.yaml",
            content,
        )


def motions() -> Iterator[Case]:
    """Motions in files of all kinds, broken."""
    head = "t,q.a,q.b\n"
    texts = {
        "empty.csv": ("", "empty"),
        "header.csv": (head, "at least"),
        "words.csv": (head + "0,1,x\n", "'x'"),
        "nan.csv": (head + "0,1,nan\n", "nan"),
        "inf.csv": (head + "0,1,inf\n", "inf"),
        "short.csv": (head + "0,1\n", "2 values"),
        "long.csv": (head + "0,1,2,3\n", "4 values"),
        "twice.csv": ("t,q.a,q.a\n0,1,2\n", "stands twice"),
        "unnamed.csv": ("t,,q.a\n0,1,2\n", "no name"),
        "numbers.csv": ("0,1,2\n1,2,3\n", "header"),
        "back.csv": (head + "0,1,2\n1,1,2\n0.5,1,2\n", "not after"),
        "no_time.csv": ("q.a,q.b\n0,1\n1,1\n", "t"),
        "junk.csv": (b"\xff\xfe\x00junk\xff", "UTF-8"),
        "list.json": ("[1, 2]", "not an armature trajectory"),
        "cut.json": ('{"t": [0, 1', "JSON"),
        "words.json": ('{"format": "x"}', ""),
        "junk.npz": (b"PK\x03\x04junk", ""),
        "empty.npz": (b"", ""),
        "other.npz": (_npz(x=np.zeros(3)), ""),
        "pickle.npz": (_npz(t=np.array([{}, {}], dtype=object)), ""),
        "shape.npz": (
            _npz(t=np.zeros(3), q=np.zeros((2, 2)), v=np.zeros((3, 2)), a=np.zeros((3, 2))),
            "",
        ),
        "list.yaml": ("- 1\n- 2\n", "JointTrajectory"),
        "names.yaml": ("joint_names: 3\npoints: []\n", "joint_names"),
        "points.yaml": ("joint_names: [a]\npoints: []\n", "points"),
        "time.yaml": ("joint_names: [a]\npoints: [{positions: [1]}]\n", "time_from_start"),
        "count.yaml": (
            "joint_names: [a]\npoints: [{positions: [1, 2], time_from_start: {sec: 0}}]\n",
            "positions",
        ),
        "junk.parquet": (b"PAR1junkPAR1", ""),
        "junk.h5": (b"\x89HDF\r\n\x1a\njunk", ""),
        "junk.mcap": (b"\x89MCAP0\r\njunk", ""),
        "motion.docx": ("x", "suffix"),
        "missing.csv": (None, "no such file"),
        "folder.csv": ("directory", ""),
    }
    for name, (content, words) in texts.items():
        yield Case(f"motion: {name}", ["export", "FILE", "out.csv"], name, content, (words,))
    for name in ("empty.csv", "header.csv", "words.csv", "short.csv", "junk.csv", "missing.csv"):
        content, _ = texts[name]
        yield Case(f"recorded: {name}", ["plan", "planar2", "--from", "FILE"], name, content)
    yield Case(
        "recorded: other joints",
        ["plan", "planar2", "--from", "FILE"],
        "o.csv",
        "t,hip,knee\n0,0,0\n1,1,1\n",
        ("shoulder",),
    )
    yield Case(
        "simulated: other joints",
        ["simulate", "planar2", "--motion", "FILE"],
        "o.csv",
        "t,q.hip\n0,0\n1,1\n",
        ("shoulder",),
    )


def _npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=True)
    return out.getvalue()
