"""Plans on disk: a folder, or one .npz or .json file, from which the same figures and the same report can be made.

`plan.json` holds everything; the other files of the folder (plan.csv, baseline.csv, iterations.csv, robot.yaml) are for people and
other programs. Numbers come back bit for bit. Every file is written whole or not at all and says where it comes from.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature import notebook
from armature.drive.catalogue import as_supply, read_drives
from armature.errors import ArmatureError, FileError
from armature.motion import formats
from armature.motion.columns import UNITS as MOTION_UNITS
from armature.motion.columns import from_mapping, to_mapping
from armature.motion.table import read_text
from armature.motion.trajectory import Trajectory
from armature.motion.write import write_whole
from armature.optimize.certify import Certificate, Margin
from armature.optimize.provenance import plain, provenance
from armature.optimize.result import Iteration, Status
from armature.optimize.solution import Baseline, Diagnosis, Solution
from armature.robot.load.dump import SUPPLIES
from armature.robot.load.yaml import robot_from_yaml
from armature.robot.model import Robot
from armature.simulate.ledger import Ledger, ledger
from armature.simulate.yearly import Yearly

MARK = "armature plan"
UNITS = {"duration": "s", "energy": "J", "losses": "J", "saving": "fraction", "seconds": "s"}
ARRAYS = ("trajectory", "baseline")


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan read from a file; it offers what a `Solution` offers, so that figures and reports take either.

    status, trajectory, certificate, iterations, diagnosis, notes: as in `Solution`.  energy, losses: J.  saving: fraction, or None.
    duration: s.  ok: an optimum that keeps all limits.  seconds: that the planning took.  provenance: versions, machine, input hashes.
    """

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

    @cached_property
    def ledger(self) -> Ledger:
        """Where the energy went; computed again when first asked for."""
        return ledger(self.robot, self.trajectory, self.supply)

    @cached_property
    def baseline(self) -> Baseline | None:
        """The ordinary motion that the plan was compared with; its ledger is computed again when first asked for."""
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
        return importlib.import_module("armature.plot.report").write_report(self, path, **options)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it again, as a folder or another kind of file; where it came from is kept."""
        return _write(_document(self, dict(self.provenance)), self, path, False)

    def yearly(self, cycles_per_day: float, price: float | None = None, days: float = 365.0) -> Yearly:
        """As of a `Solution`."""
        return Solution.yearly(self, cycles_per_day, price, days)  # type: ignore[arg-type]

    _repr_html_ = notebook.plan_html

    def __str__(self) -> str:
        return Solution.__str__(self)  # type: ignore[arg-type]  (the same words for the same fields)


def save_plan(
    solution: Solution | SavedPlan,
    path: str | PathLike[str],
    command: str | Sequence[str] | None = None,
    task: Any = None,
    report: bool = False,
) -> Path:
    """Write a plan: into one file where the path ends in .npz or .json, else into a folder, which is made. Returns the path.

    command: what was typed, for the record.  task: what was asked for (a Move, a FollowPath, a Job, or the Path of its file), whose hash is
    recorded.  report: put report.html into the folder.
    """
    origin = provenance({"robot": solution.robot, "supply": solution.supply, "task": task}, command)
    return _write(_document(solution, origin), solution, path, report)


def load_plan(path: str | PathLike[str]) -> SavedPlan:
    """The plan of a folder or file that `save_plan` wrote. A FileError says what is wrong with any other."""
    place = Path(fspath(path))
    place = place / "plan.json" if place.is_dir() else place
    data = _read_npz(place) if place.suffix.lower() == ".npz" else _read_json(place)
    if not isinstance(data, dict) or data.get("format") != MARK:
        raise FileError(f"this is not an {MARK}; give a folder or file that save_plan wrote", place)
    try:
        return _plan(data, place)
    except ArmatureError as e:
        raise e if isinstance(e, FileError) else FileError(str(e), place) from None
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise FileError(f"the plan is damaged ({type(e).__name__}: {e}); save it again", place) from None


# a plan as one document ---------------------------------------------------------------------------------------------------


def _document(plan: Any, origin: dict[str, Any]) -> dict[str, Any]:
    """All of a plan as mappings, lists, numbers and words; motions and the record of iterations as mappings of arrays."""
    supply, base = as_supply(plan.supply), plan.baseline
    return {
        "format": MARK,
        "version": 1,
        "provenance": origin,
        "units": {**UNITS, **MOTION_UNITS},
        "summary": str(plan),
        **{name: plain(getattr(plan, name)) for name in ("ok", "duration", "energy", "losses", "saving", "seconds")},
        "status": plan.status.name,
        "diagnosis": None if plan.diagnosis is None else plain(asdict(plan.diagnosis)),
        "notes": list(plan.notes),
        "certificate": _certificate(plan.certificate),
        "supply": {"kind": SUPPLIES[type(supply)], **{f.name: plain(getattr(supply, f.name)) for f in fields(supply)}},
        "robot": plan.robot.to_yaml(),
        "iterations": {f.name: [getattr(i, f.name) for i in plan.iterations] for f in fields(Iteration) if f.name != "note"},
        "baseline": None if base is None else _compared(base),
        "trajectory": to_mapping(plan.trajectory),
    }


def _compared(base: Baseline) -> dict[str, Any]:
    return {"feasible": base.feasible, "note": base.note, "name": base.name, **to_mapping(base.trajectory)}


def _certificate(c: Certificate) -> dict[str, Any]:
    margins = [plain(asdict(m)) for row in c.margins.values() for m in row.values()]
    numbers = {name: plain(getattr(c, name)) for name in ("ok", "found", "tracking_error", "open_loop_error", "energy", "energy_error")}
    return {**numbers, "notes": list(c.notes), "margins": margins}


def _plan(data: dict[str, Any], path: Path) -> SavedPlan:
    """The plan of a document."""
    base = data["baseline"]
    compare = None
    if base is not None:
        compare = from_mapping(base, path, finite=False), bool(base["feasible"]), str(base["note"]), str(base["name"])
    supply = {key: float(x) if x in ("inf", "-inf") else x for key, x in data["supply"].items()}
    columns = {name: values for name, values in data["iterations"].items() if name in {f.name for f in fields(Iteration)}}
    return SavedPlan(
        robot_from_yaml(data["robot"], path),
        read_drives({"supply": supply})[1],
        Status[data["status"]],
        from_mapping(data["trajectory"], path, finite=False),
        float(data["energy"]),
        float(data["losses"]),
        None if data["saving"] is None else float(data["saving"]),
        bool(data["ok"]),
        _proof(data["certificate"]),
        tuple(Iteration(**dict(zip(columns, row))) for row in zip(*columns.values())),
        None if data["diagnosis"] is None else _known(Diagnosis, data["diagnosis"]),
        tuple(data["notes"]),
        float(data["seconds"]),
        data["provenance"],
        compare,
    )


def _proof(data: dict[str, Any]) -> Certificate:
    margins: dict[str, dict[str, Margin]] = {}
    for entry in data["margins"]:
        margin = _known(Margin, entry)
        margins.setdefault(margin.joint, {})[margin.limit] = margin
    worst = min((m for row in margins.values() for m in row.values()), key=lambda m: m.fraction, default=None)
    numbers = {name: float(data[name]) for name in ("tracking_error", "open_loop_error", "energy", "energy_error")}
    return Certificate(margins, worst, **numbers, notes=tuple(data["notes"]), found=bool(data.get("found", True)))


def _known(kind: type, data: Mapping[str, Any]) -> Any:
    """A dataclass from those entries that it knows; infinities come as words, tuples as lists."""
    number = lambda x: tuple(x) if isinstance(x, list) else float(x) if x in ("inf", "-inf", "nan") else x
    return kind(**{f.name: number(data[f.name]) for f in fields(kind) if f.name in data})


# files --------------------------------------------------------------------------------------------------------------------


def _write(document: dict[str, Any], plan: Any, path: str | PathLike[str], report: bool) -> Path:
    place = Path(fspath(path))
    suffix = place.suffix.lower()
    if suffix == ".npz":
        return write_whole(place, _npz(document))
    if suffix == ".json":
        return write_whole(place, _json(document))
    if place.is_file():
        raise FileError("this is a file; give a folder, or a name that ends in .npz or .json", place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise FileError(f"the folder cannot be made ({e.strerror}); choose another place", place) from None
    origin = document["provenance"]
    formats.save(plan.trajectory, place / "plan.csv", origin)
    if plan.baseline is not None:
        formats.save(plan.baseline.trajectory, place / "baseline.csv", origin)
    write_whole(place / "iterations.csv", _table(document["iterations"], origin))
    write_whole(place / "robot.yaml", f"# {json.dumps({'provenance': origin})}\n{document['robot']}")
    if report:
        plan.report(place / "report.html")
    write_whole(place / "plan.json", _json(document))  # last: a folder with it is complete
    return place


def _json(document: dict[str, Any]) -> str:
    """One line for each part of the document."""
    lines = [f"{json.dumps(key)}: {json.dumps(plain(part), ensure_ascii=False, allow_nan=False)}" for key, part in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _table(columns: Mapping[str, Sequence[Any]], origin: Mapping[str, Any]) -> str:
    out = io.StringIO()
    out.write(f"# {json.dumps({'provenance': origin}, ensure_ascii=False)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([repr(float(x)) if isinstance(x, float) else int(x) for x in row] for row in zip(*columns.values()))
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
    content = formats.npz_content(path)
    try:
        data = json.loads(str(content.pop("about", "null")))
    except json.JSONDecodeError:
        return None
    for name, array in content.items():
        part, _, key = name.partition(".")
        if isinstance(data, dict) and part in ARRAYS and isinstance(data.get(part), dict):
            data[part][key] = array
    return data


def _read_json(path: Path) -> Any:
    if path.name == "plan.json" and path.parent.is_dir() and not path.exists():
        raise FileError("the folder holds no complete plan: there is no plan.json; save the plan again", path.parent)
    if path.exists() and path.suffix.lower() != ".json":
        raise FileError("a plan is a folder, or a file that ends in .npz or .json; give one of these", path)
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as e:
        raise FileError(f"this is not JSON: {e.msg} at column {e.colno}; give a plan that save_plan wrote", path, e.lineno) from None
    except RecursionError:
        raise FileError("this is not a plan: it is nested too deeply", path) from None
