"""Plans on disk: a folder, or one .npz or .json file, from which the same figures and the same
report can be made.

`plan.json` holds everything; the other files of the folder (plan.csv, baseline.csv, iterations.csv,
robot.yaml) are for people and other programs. Numbers come back bit for bit. Every file is written
whole or not at all and says where it comes from.

Hashes bind the certificate to the motion, the robot, the supply and the figures that it was made
for (`armature.job.seal`): a plan whose parts were changed loads, with a warning, and is not
certified any more. In a folder they bind plan.csv, baseline.csv and robot.yaml too.
"""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature.drive.catalogue import as_supply, read_drives
from armature.errors import ArmatureError, ArmatureWarning, FileError
from armature.job.provenance import plain, provenance
from armature.job.seal import broken_seal, file_hashes, sealed
from armature.motion import formats
from armature.motion.archive import npz_content
from armature.motion.columns import UNITS as MOTION_UNITS
from armature.motion.columns import from_mapping, to_mapping
from armature.motion.trajectory import Trajectory
from armature.nested import json_value
from armature.notebook import plan_html
from armature.optimize.certificate.certify import Certificate, Margin, nearest
from armature.optimize.certificate.solution import Baseline, Diagnosis, Solution
from armature.optimize.problem.result import Iteration, Status
from armature.robot.cover import with_floor
from armature.robot.format.dump import SUPPLIES
from armature.robot.load.yaml import robot_from_yaml
from armature.robot.model import Robot
from armature.scene.floor import Floor
from armature.scene.mapping import scene_from, scene_mapping
from armature.scene.scene import Scene
from armature.seam import worker
from armature.simulate.ledger import Ledger, ledger
from armature.simulate.yearly import Yearly
from armature.text import read_text
from armature.write import check_target, write_whole

MARK = "armature plan"
UNITS = {"duration": "s", "energy": "J", "losses": "J", "saving": "fraction", "seconds": "s"}
ARRAYS = ("trajectory", "baseline")
FILES = ("plan.csv", "baseline.csv", "iterations.csv", "robot.yaml", "report.html", "plan.json")
BOUND = (
    "plan.csv",
    "baseline.csv",
    "robot.yaml",
)  # files of a folder whose hashes are kept in its plan.json
MOST_ENTRIES = 100_000  # margins, notes or iterations of a plan


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan read from a file; it offers what a `Solution` offers, so that figures and reports take
    either.

    status, trajectory, certificate, iterations, diagnosis, notes: as in `Solution`.  energy,
    losses: J.  saving: fraction, or None.
    duration: s.  ok: an optimum that keeps all limits.  seconds: that the planning took.
    provenance: versions, machine, input hashes.  scene: the obstacles that it goes around, if
    any."""

    robot: Robot
    supply: Any
    status: Status
    trajectory: Trajectory
    energy: float
    losses: float
    saving: float | None
    ok: bool
    certificate: Certificate
    iterations: tuple[Iteration, ...]
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)
    compare: tuple[Trajectory, bool, str, str] | None = None
    scene: Scene | None = None

    @cached_property
    def ledger(self) -> Ledger:
        """Where the energy went; computed again when first asked for."""
        return ledger(self.robot, self.trajectory, self.supply)

    @cached_property
    def baseline(self) -> Baseline | None:
        """The ordinary motion that the plan was compared with; its ledger is computed again when
        first asked for."""
        if self.compare is None:
            return None
        motion, feasible, note, name = self.compare
        return Baseline(motion, ledger(self.robot, motion, self.supply), feasible, note, name)

    @property
    def duration(self) -> float:
        """s."""
        return self.trajectory.duration

    @property
    def returns(self) -> bool:
        """Whether the supply takes energy back."""
        return getattr(self.supply, "efficiency", 0.0) > 0.0

    def report(self, path: Any, **options: Any) -> Any:
        """Write a page (HTML, PDF or PNG) with the figures of this plan; returns its path."""
        return worker("SavedPlan.report")(self, path, **options)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it again, as a folder or another kind of file; where it came from is kept."""
        return _write(
            _document(self, dict(self.provenance), self.certificate.invalid == ""),
            self,
            path,
            False,
        )

    def yearly(
        self, cycles_per_day: float, price: float | None = None, days: float = 365.0
    ) -> Yearly:
        """As of a `Solution`."""
        return Solution.yearly(self, cycles_per_day, price, days)  # type: ignore[arg-type]

    _repr_html_ = plan_html

    def __str__(self) -> str:
        return Solution.__str__(self)  # type: ignore[arg-type]  (the same words for the same fields)


def save_plan(
    solution: Solution | SavedPlan,
    path: str | PathLike[str],
    command: str | Sequence[str] | None = None,
    task: Any = None,
    report: bool | Mapping[str, Any] = False,
) -> Path:
    """Write a plan: into one file where the path ends in .npz or .json, else into a folder, which
    is made. Returns the path.

    command: what was typed, for the record.  task: what was asked for (a Move, a FollowPath, a Job,
    or the Path of its file), whose hash is
    recorded.  report: put report.html into the folder; a mapping holds options of
    `plot.write_report`."""
    origin = provenance({"robot": solution.robot, "supply": solution.supply, "task": task}, command)
    return _write(_document(solution, origin), solution, path, report)


def load_plan(path: str | PathLike[str]) -> SavedPlan:
    """The plan of a folder or file that `save_plan` wrote. A FileError says what is wrong with any
    other."""
    place = Path(fspath(path))
    place = place / "plan.json" if os.path.isdir(place) else place
    return plan_of(read_document(place), place, place.parent if place.name == "plan.json" else None)


def read_document(path: Path) -> Any:
    """What a file of a plan says, as mappings, lists, numbers and words; not checked yet."""
    return _read_npz(path) if path.suffix.lower() == ".npz" else _read_json(path)


def plan_of(data: Any, place: Path, folder: Path | None = None) -> SavedPlan:
    """The plan of what a file says; a FileError where it is none. place: for messages.  folder:
    whose files must be those saved with it."""
    if not isinstance(data, dict) or data.get("format") != MARK:
        raise FileError(f"this is not an {MARK}; give a folder or file that save_plan wrote", place)
    try:
        return _plan(data, place, folder)
    except ArmatureError as e:
        raise e if isinstance(e, FileError) else FileError(str(e), place) from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as e:
        raise FileError(
            f"the plan is damaged ({type(e).__name__}: {str(e)[:200]}); save it again", place
        ) from None


# a plan as one document --------------------------------------------------------------------------


def _document(plan: Any, origin: dict[str, Any], valid: bool = True) -> dict[str, Any]:
    """All of a plan as mappings, lists, numbers and words; motions and the record of iterations as
    mappings of arrays."""
    supply, base = as_supply(plan.supply), plan.baseline
    document = {
        "format": MARK,
        "version": 1,
        "provenance": origin,
        "units": {**UNITS, **MOTION_UNITS},
        "summary": str(plan),
        **{
            name: plain(getattr(plan, name))
            for name in ("ok", "duration", "energy", "losses", "saving", "seconds")
        },
        "status": plan.status.name,
        "diagnosis": None if plan.diagnosis is None else plain(asdict(plan.diagnosis)),
        "notes": list(plan.notes),
        "certificate": _certificate(plan.certificate),
        "supply": {
            "kind": SUPPLIES[type(supply)],
            **{f.name: plain(getattr(supply, f.name)) for f in fields(supply)},
        },
        "robot": plan.robot.to_yaml(),
        "floor": None if plan.robot.floor is None else plan.robot.floor.height,
        "scene": None if plan.scene is None else scene_mapping(plan.scene),
        "iterations": {
            f.name: [getattr(i, f.name) for i in plan.iterations]
            for f in fields(Iteration)
            if f.name != "note"
        },
        "baseline": None if base is None else _compared(base),
        "trajectory": to_mapping(plan.trajectory),
    }
    return {
        **document,
        "hashes": sealed(document) if valid else {},
    }  # what was not valid when it was loaded does not become so


def _compared(base: Baseline) -> dict[str, Any]:
    return {
        "feasible": base.feasible,
        "note": base.note,
        "name": base.name,
        **to_mapping(base.trajectory),
    }


def _certificate(c: Certificate) -> dict[str, Any]:
    margins = [plain(asdict(m)) for row in c.margins.values() for m in row.values()]
    numbers = {
        name: plain(getattr(c, name))
        for name in ("ok", "found", "tracking_error", "open_loop_error", "energy", "energy_error")
    }
    return {
        **numbers,
        "proved": c.proved,
        "checked": c.checked,
        "notes": list(c.notes),
        "margins": margins,
    }


def _plan(data: dict[str, Any], path: Path, folder: Path | None) -> SavedPlan:
    """The plan of a document."""
    base, robot = data["baseline"], _robot(data["robot"], path)
    compare = None
    if base is not None:
        compare = (
            _motion(base, robot, path),
            bool(base["feasible"]),
            str(base["note"]),
            str(base["name"]),
        )
    supply = {key: float(x) if x in ("inf", "-inf") else x for key, x in data["supply"].items()}
    columns = {
        name: values
        for name, values in data["iterations"].items()
        if name in {f.name for f in fields(Iteration)}
    }
    if (
        max(
            len(data["notes"]),
            len(data["certificate"]["margins"]),
            *(len(c) for c in columns.values()),
            0,
        )
        > MOST_ENTRIES
    ):
        raise FileError(
            f"the plan has more than {MOST_ENTRIES} notes, margins or iterations; it is damaged",
            path,
        )
    floor = data.get("floor")
    plan = SavedPlan(
        robot if floor is None else with_floor(robot, Floor(float(floor))),
        read_drives({"supply": supply})[1],
        Status[data["status"]],
        _motion(data["trajectory"], robot, path),
        float(data["energy"]),
        float(data["losses"]),
        None if data["saving"] is None else float(data["saving"]),
        bool(data["ok"]),
        _proof(data["certificate"]),
        tuple(_known(Iteration, dict(zip(columns, row))) for row in zip(*columns.values())),
        None if data["diagnosis"] is None else _known(Diagnosis, data["diagnosis"]),
        tuple(map(_text, data["notes"])),
        float(data["seconds"]),
        dict(data["provenance"]),
        compare,
        None if data.get("scene") is None else scene_from(data["scene"]),
    )
    invalid = broken_seal(data, folder, BOUND)
    if not invalid:
        return plan
    warnings.warn(f"{path}: the certificate is not valid: {invalid}", ArmatureWarning, stacklevel=4)
    return replace(plan, ok=False, certificate=replace(plan.certificate, invalid=invalid))


def _robot(text: Any, path: Path) -> Robot:
    """The robot of a document. What is doubtful about it was reported when its own file was
    read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmatureWarning)
        return robot_from_yaml(_text(text), path)


def _motion(data: Any, robot: Robot, path: Path) -> Trajectory:
    """The motion of a document, for its robot."""
    motion = from_mapping(data, path, finite=False)
    wide = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    for name, width in wide.items():
        x = getattr(motion, name)
        if x is not None and x.shape[1] != width:
            raise FileError(
                f"the motion's {name!r} has {x.shape[1]} columns, the robot {robot.name!r} needs"
                f" {width}; save it again",
                path,
            )
    return motion


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _proof(data: dict[str, Any]) -> Certificate:
    margins: dict[str, dict[str, Margin]] = {}
    for entry in data["margins"]:
        margin = _known(Margin, entry)
        margins.setdefault(margin.joint, {})[margin.limit] = margin
    numbers = {
        name: float(data[name])
        for name in ("tracking_error", "open_loop_error", "energy", "energy_error")
    }
    said = {"proved": bool(data.get("proved", False)), "checked": str(data.get("checked", ""))}
    return Certificate(
        margins,
        nearest(margins),
        **numbers,
        notes=tuple(data["notes"]),
        found=bool(data.get("found", True)),
        **said,
    )


def _known(kind: type, data: Mapping[str, Any]) -> Any:
    """A dataclass from those entries that it knows, each of its own kind; infinities come as words,
    tuples as lists."""
    return kind(
        **{
            f.name: _of_kind(data[f.name], str(f.type), f.name)
            for f in fields(kind)
            if f.name in data
        }
    )


def _of_kind(x: Any, kind: str, name: str) -> Any:
    """An entry as a field's annotation wants it; a TypeError for any other."""
    x = float(x) if x in ("inf", "-inf", "nan") and "float" in kind else x
    if isinstance(x, list) and kind.startswith("tuple"):
        return tuple(_of_kind(item, "float", name) for item in x)
    fits = (x is None and "None" in kind) or isinstance(
        x, {"str": str, "bool": bool}.get(kind.partition(" ")[0], int | float)
    )
    if not fits or (isinstance(x, bool) and "bool" not in kind):
        raise TypeError(f"{name} = {x!r:.60} is not of the kind {kind}")
    return float(x) if kind.startswith("float") and isinstance(x, int | float) else x


# files -------------------------------------------------------------------------------------------


def check_plan_target(path: str | PathLike[str]) -> None:
    """A FileError where saving a plan there would write over files that are not the program's: to
    be asked before planning."""
    place = Path(fspath(path))
    if place.suffix.lower() in (".npz", ".json"):
        check_target(place)
        return
    if os.path.exists(place) and not os.path.isdir(place):
        raise FileError(
            "this is a file; give a folder, or a name that ends in .npz or .json", place
        )
    for name in FILES:
        check_target(place / name)


def _write(
    document: dict[str, Any], plan: Any, path: str | PathLike[str], report: bool | Mapping[str, Any]
) -> Path:
    place = Path(fspath(path))
    suffix = place.suffix.lower()
    if suffix == ".npz":
        return write_whole(place, _npz(document))
    if suffix == ".json":
        return write_whole(place, _json(document))
    check_plan_target(place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise FileError(
            f"the folder cannot be made ({e.strerror}); choose another place", place
        ) from None
    origin = document["provenance"]
    formats.save(plan.trajectory, place / "plan.csv", origin)
    if plan.baseline is None:
        (place / "baseline.csv").unlink(missing_ok=True)  # of a plan that was saved here before
    else:
        formats.save(plan.baseline.trajectory, place / "baseline.csv", origin)
    write_whole(place / "iterations.csv", _table(document["iterations"], origin))
    write_whole(
        place / "robot.yaml",
        f"# {json.dumps({'format': 'armature robot', 'provenance': origin})}\n{document['robot']}",
    )
    if report:
        plan.report(place / "report.html", **(report if isinstance(report, Mapping) else {}))
    document = {**document, "files": file_hashes(place, BOUND)}
    write_whole(place / "plan.json", _json(document))  # last: a folder with it is complete
    return place


def _json(document: dict[str, Any]) -> str:
    """One line for each part of the document."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(plain(part), ensure_ascii=False, allow_nan=False)}"
        for key, part in document.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _table(columns: Mapping[str, Sequence[Any]], origin: Mapping[str, Any]) -> str:
    out = io.StringIO()
    head = {"format": "armature iterations", "provenance": origin}
    out.write(f"# {json.dumps(head, ensure_ascii=False)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [repr(float(x)) if isinstance(x, float) else int(x) for x in row]
        for row in zip(*columns.values())
    )
    return out.getvalue()


def _npz(document: dict[str, Any]) -> bytes:
    """Arrays as entries `trajectory.q`, …, the rest as JSON in the entry `about`."""
    arrays: dict[str, Any] = {}
    about = dict(document)
    for part in ARRAYS:
        if about[part] is not None:
            numbers = {name: x for name, x in about[part].items() if isinstance(x, np.ndarray)}
            arrays |= {f"{part}.{name}": x for name, x in numbers.items()}
            about[part] = {name: x for name, x in about[part].items() if name not in numbers}
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, about=np.array(_json(about)), **arrays)
    return out.getvalue()


def _read_npz(path: Path) -> Any:
    content = npz_content(path)
    data = json_value(str(content.pop("about", "null")), path)
    for name, array in content.items():
        part, _, key = name.partition(".")
        if isinstance(data, dict) and part in ARRAYS and isinstance(data.get(part), dict):
            data[part][key] = array
    return data


def _read_json(path: Path) -> Any:
    if path.name == "plan.json" and os.path.isdir(path.parent) and not os.path.exists(path):
        raise FileError(
            "the folder holds no complete plan: there is no plan.json; save the plan again",
            path.parent,
        )
    if os.path.exists(path) and path.suffix.lower() != ".json":
        raise FileError(
            "a plan is a folder, or a file that ends in .npz or .json; give one of these", path
        )
    return json_value(read_text(path), path)
