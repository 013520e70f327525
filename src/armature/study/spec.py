"""A study as data: what every case starts from, what is varied, and how each case is run; and its
cases with their hashes."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from armature.errors import ArgumentError, ArmatureError, FileError
from armature.job.job import Job
from armature.job.provenance import digest, plain
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.study import vary as varying
from armature.study.base import JobBase, TaskBase
from armature.study.outcome import packed
from armature.study.work import CurveSpec, Work, plan_case
from armature.version import __version__


class Case(NamedTuple):
    """One case. id: hash of everything that its result depends on.  inputs: what is varied.  shown:
    the same as it stands in the table.
    kernels: a name for the machine code that it needs: cases of one name share it.  error: why it
    cannot be run."""

    id: str
    inputs: Mapping[str, Any]
    shown: Mapping[str, Any]
    kernels: str
    error: str = ""


@dataclass(frozen=True, eq=False)
class Study:
    """Many plans, as a table of cases.

    base: a `Job`, a task as in a task's file (a mapping), or None with a `function` of its own.
    vary: {key: values}: a list, {"from", "to", "count", "spacing"}, or {"random": "uniform" …};
    lists and ranges make a grid.
    Keys of a Job: robot, payload (kg), supply, objective, knots, and the fields of its task; of a
    mapping: any dotted key.
    samples: how often random keys are drawn at each point of the grid.  seed: of the draws.  cases:
    further ones, as {key: value}.
    curve: energy against duration for each case instead of one plan.  certify: prove every plan.
    keep: keep the plans themselves.
    timeout: s that a case may take, None for no limit.  attempts: workers that it may cost before
    it is set aside.
    function: of the inputs, to be run instead of a plan; it returns {column: value} and must be
    importable by name."""

    base: Job | Mapping[str, Any] | TaskBase | None = None
    vary: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1
    seed: int = 0
    cases: Sequence[Mapping[str, Any]] = ()
    curve: CurveSpec | bool | None = None
    certify: bool = True
    keep: bool = False
    timeout: float | None = 600.0
    attempts: int = 3
    function: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    name: str = "study"

    def __post_init__(self) -> None:
        axes = {key: varying.axis(key, given) for key, given in self.vary.items()}
        object.__setattr__(self, "vary", axes)
        object.__setattr__(self, "curve", CurveSpec() if self.curve is True else self.curve or None)
        object.__setattr__(self, "cases", tuple(varying.si(dict(c)) for c in self.cases))
        if (self.base is None) == (self.function is None):
            raise ArgumentError(
                "a study needs either a base (a Job, or a task as a mapping) or a function of"
                " its own"
            )
        for what, least in (("samples", 1), ("attempts", 1), ("seed", 0)):
            if not isinstance(getattr(self, what), int) or getattr(self, what) < least:
                raise ArgumentError(
                    f"{what} = {getattr(self, what)!r} must be a whole number ≥ {least}"
                )
        if self.timeout is not None and not self.timeout > 0:
            raise ArgumentError(f"timeout = {self.timeout} s must be positive; None for no limit")
        if self.function is not None:
            _importable(self.function)
        if self.source is not None:
            for key in {*axes, *(k for c in self.cases for k in c)}:
                self.source.check(key)
        count = varying.count(axes, self.samples) if axes else 0
        if not 0 < count + len(self.cases) <= varying.MOST_CASES:
            raise ArgumentError(
                f"the study has {count + len(self.cases)} cases; vary something, and at most to"
                f" {varying.MOST_CASES} cases"
            )

    @functools.cached_property
    def source(self) -> JobBase | TaskBase | None:
        """How jobs are made from inputs."""
        if self.base is None or isinstance(self.base, TaskBase):
            return self.base
        return (
            JobBase(self.base)
            if isinstance(self.base, Job)
            else TaskBase(self.base, Path("study.yaml"), self.curve is None)
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """What is varied, in order."""
        return tuple(dict.fromkeys([*self.vary, *(k for c in self.cases for k in c)]))

    def inputs(self) -> Iterator[dict[str, Any]]:
        """The inputs of every case, in order."""
        robot = (lambda _: None) if self.source is None else self.source.robot
        yield from varying.combinations(self.vary, self.samples, self.seed, robot)  # type: ignore[arg-type]
        yield from (dict(c) for c in self.cases)

    def all_cases(self) -> Iterator[Case]:
        """Every case with its hash; an error where none of them can be run."""
        good, first = False, ""
        for inputs in self.inputs():
            case = self.case(inputs)
            good, first = good or not case.error, first or case.error
            yield case
        if not good:
            raise ArgumentError(f"no case of the study can be run; the first says: {first}")

    def case(self, inputs: Mapping[str, Any]) -> Case:
        """The case of these inputs."""
        shown = {key: shortened(value) for key, value in inputs.items()}
        if self.source is None:
            name = f"{self.function.__module__}:{self.function.__qualname__}"  # type: ignore[union-attr]
            return Case(_hash({"function": name, "inputs": plain(inputs)}), inputs, shown, name)
        try:
            job = self.job(inputs)
        except ArmatureError as e:
            # the line of a changed task says nothing
            words = (
                str(e).removeprefix(f"{e.path}:{e.line}: ") if isinstance(e, FileError) else str(e)
            )
            return Case(_hash({"inputs": plain(shown), "error": words}), inputs, shown, "", words)
        what = {
            "robot": robot_digest(job.robot),
            "task": plain(job.task),
            "supply": plain(job.supply),
        }
        how = {
            "objective": job.objective,
            "knots": job.knots,
            "certify": self.certify,
            "curve": plain(self.curve),
        }
        kernels = (
            f"{what['robot']} {job.objective} {type(job.supply).__name__} {what['supply']}"
            f" {type(job.task).__name__}"
        )
        return Case(_hash({**what, **how}), inputs, shown, kernels)

    def job(self, inputs: Mapping[str, Any]) -> Job:
        """The job of a case."""
        if self.source is None:
            raise ArgumentError(f"study {self.name!r} runs a function of its own and makes no jobs")
        job = self.source.job(inputs)
        if self.curve is not None and not isinstance(job.task, Move):
            raise ArgumentError(
                "curves of energy against duration are made of moves; leave out curve for a path"
            )
        if (
            self.curve is None
            and job.objective == "energy"
            and isinstance(job.task, Move)
            and job.task.duration is None
        ):
            raise ArgumentError(
                "a move of least energy needs a duration; give one, or vary it, or ask for"
                " objective: time"
            )
        return job

    @property
    def modules(self) -> tuple[str, ...]:
        """What workers import before their first case."""
        return (plan_case.__module__,) if self.function is None else (self.function.__module__,)

    def packed(self, inputs: Mapping[str, Any]) -> bytes:
        """A case as bytes for a worker."""
        if self.function is not None:
            return packed(self.function, dict(inputs))
        return packed(plan_case, Work(self.job(inputs), self.certify, self.keep, self.curve))  # type: ignore[arg-type]


def _hash(what: Mapping[str, Any]) -> str:
    """SHA-256 of what a result depends on, and of the version that computes it; the first 20
    characters name a case."""
    text = json.dumps({"armature": __version__, **what}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@functools.lru_cache(maxsize=4096)
def robot_digest(robot: Robot) -> str:
    """SHA-256 of a robot's YAML."""
    return digest(robot)


def shortened(value: Any) -> Any:
    """An input as it stands in the table: plain values; robots by their names."""
    return value.name if isinstance(value, Robot) else plain(value)


def _importable(function: Any) -> None:
    """Workers find a function by its module and name."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module in (None, "__main__") or "<" in name:
        raise ArgumentError(
            f"function {name or function!r} is not importable by workers; define it at the top of a"
            " module and import it"
        )
