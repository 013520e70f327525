"""Wrong arguments of the public surface: one sentence that names the argument, whoever calls what.

`guard` wraps a public function, `guard_class` the constructor and methods of a public class, in
place. When a call ends in a bare TypeError, IndexError, …, the arguments are compared with the
signature's annotations, and the first that is not what its annotation says is named by an
`ArgumentError`. An exception with arguments that are all as annotated is a bug of ours, or of a
function that the user has handed over, and passes unchanged. A call that succeeds costs a fraction
of a microsecond."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from armature.annotations import (
    fields_of,
    hints_of,
    same,
    show,
    signature_of,
    unlike,
    unlike_numbers,
)
from armature.errors import ArgumentError, ArmatureError

CALLED = (
    "__init__",
    "__call__",
    "__getitem__",
    "__contains__",
)  # methods without a name of their own
GENERIC = (
    "armature.drive",
    "armature.dynamics.holonomic.constraints",
)  # laws on any number type, complex ones for derivatives
HERE = str(Path(__file__).parent)
LIBRARIES = tuple(
    {str(Path(module.__file__ or "").parent) for module in (typing, enum)}
)  # Python's own


def guard(function: Callable, name: str = "", before: bool = False) -> Callable:
    """The function with wrong arguments explained.

    before: compare the arguments with the annotations before the call too (where a call takes
    long)."""
    name = name or function.__qualname__

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            explain(error, function, name, args, kwargs)
            raise

    @functools.wraps(function)
    def guarded_steps(*args: Any, **kwargs: Any) -> Any:
        try:
            yield from function(*args, **kwargs)
        except Exception as error:
            explain(error, function, name, args, kwargs)
            raise

    called = guarded_steps if inspect.isgeneratorfunction(function) else guarded

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        wrong = find_problem(function, name, args, kwargs, False)
        if wrong:
            raise ArgumentError(wrong)
        return called(*args, **kwargs)

    return checked if before else called


def explain(
    error: Exception, function: Callable, name: str, args: Sequence, kwargs: Mapping
) -> None:
    """Raise an ArgumentError about the argument to blame for a bare error, if there is one."""
    if isinstance(error, ArmatureError) or raised_by_others(error):
        return
    wrong = find_problem(function, name, args, kwargs, True) or find_suspect(
        error, function, name, args, kwargs
    )
    if wrong:
        raise ArgumentError(wrong) from error


def guard_method(function: Callable, name: str) -> Callable:
    """A method with wrong arguments explained to callers outside the package; inside, it is as it
    was.

    What the method itself does not refuse is compared with the annotations after the call: its own
    words are better.
    """
    explained = guard(function, name)

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if is_inside(sys._getframe(1)):
            return function(*args, **kwargs)
        result = explained(*args, **kwargs)
        wrong = find_problem(function, name, args, kwargs, False)
        if wrong:
            raise ArgumentError(wrong)
        return result

    return guarded


def is_inside(frame: types.FrameType | None) -> bool:
    """Whether a frame runs code of the package, `dataclasses.replace` called by it included."""
    while frame is not None and frame.f_globals.get("__name__") == "dataclasses":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").startswith("armature.")


def guard_class(cls: type, called: str = "") -> None:
    """Guard a class's constructor and public methods, in place, and those of its bases, which
    messages call by the class's name."""
    if not cls.__module__.startswith("armature.") or "_guarded" in vars(cls):
        return
    type.__setattr__(cls, "_guarded", True)
    if issubclass(cls, enum.Enum):
        type.__setattr__(cls, "_missing_", classmethod(refuse_member))
        return
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in CALLED:
            continue
        kind = type(member)
        function = member.__func__ if kind in (classmethod, staticmethod) else member
        if isinstance(function, types.FunctionType):
            owner = called or cls.__name__
            label = owner if name == "__init__" else f"{owner}.{name}"
            made = guard_method(function, label)
            setattr(cls, name, kind(made) if kind in (classmethod, staticmethod) else made)
    for base in cls.__mro__[1:]:
        guard_class(base, called or cls.__name__)


def guard_module(module: types.ModuleType) -> None:
    """Guard the public functions and classes of a module that is itself public, in place."""
    for name, value in list(vars(module).items()):
        if name.startswith("_") or not getattr(value, "__module__", "").startswith("armature."):
            continue
        if isinstance(value, type):
            guard_class(value)
        elif isinstance(value, types.FunctionType) and not hasattr(value, "__wrapped__"):
            guard_results(value)
            setattr(module, name, guard_method(value, name))


def refuse_member(cls: type, value: object) -> None:
    """What an enumeration answers to a value that it does not have."""
    members: Any = cls
    names = ", ".join(m.name for m in members)
    raise ArgumentError(f"{cls.__name__} has no member {show(value)}; it has {names}")


def guard_results(function: Callable) -> None:
    """Guard the classes of what a function returns, as far as its annotation tells, and of their
    fields."""
    waiting = [hints_of(function).get("return")]
    seen = set()
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and hint.__module__.startswith("armature.") and hint not in seen:
            seen.add(hint)
            guard_class(hint)
            waiting += fields_of(hint).values()
            waiting += [
                hints_of(m.fget).get("return")
                for m in vars(hint).values()
                if isinstance(m, property) and m.fget
            ]


# what is wrong -----------------------------------------------------------------------------------


def find_problem(
    function: Callable, name: str, args: Sequence, kwargs: Mapping, strict: bool
) -> str:
    """A sentence about the first argument that is not as annotated; '' where all are.

    strict: the call has failed. An array must then be one, and not just a list.
    """
    signature = signature_of(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        return f"{name}: {error}"
    hints = hints_of(function)
    for argument, value in bound.arguments.items():
        parameter = signature.parameters[argument]
        if argument in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        for one in values:
            if same(one, parameter.default):
                continue
            wanted = unlike(one, hints.get(argument, Any), strict)
            if is_complex(one) and not function.__module__.startswith(GENERIC):
                wanted = "real: an imaginary part would be lost"
            if wanted:
                return f"{name}: {argument} = {show(one)} must be {wanted}"
    return ""


def is_complex(value: Any) -> bool:
    """Whether a value is a complex number or an array of them."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def raised_by_others(error: Exception) -> bool:
    """Whether code that is neither ours nor a library's has raised: a function or object of the
    user's."""
    for frame in frames_of(error)[1:]:
        file = frame.f_code.co_filename
        if (
            Path(file).is_absolute()
            and not file.startswith((HERE, *LIBRARIES))
            and "site-packages" not in file
        ):
            return True
    return False


def frames_of(error: Exception) -> list[types.FrameType]:
    """The frames from the guard to where the error was raised."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames


def find_suspect(
    error: Exception, function: Callable, name: str, args: Sequence, kwargs: Mapping
) -> str:
    """A sentence about the argument, among those that any object may be, that most likely has led
    to an error.

    Those that are no numbers are suspected first, then numbers that are odd; of several, the one
    that was in use deepest where the error was raised.
    """
    hints = hints_of(function)
    given = signature_of(function).bind(*args, **kwargs).arguments
    free = {
        k: x for k, x in given.items() if is_free(hints.get(k, Any)) and k not in ("self", "cls")
    }
    reason = " ".join(str(error).split())[:200]
    for is_suspected in (is_no_number, is_odd):
        suspects = {k: x for k, x in free.items() if is_suspected(x, given.get("robot"))}
        if suspects:
            argument = deepest(suspects, frames_of(error))
            return (
                f"{name}: {argument} = {show(suspects[argument])} cannot be used:"
                f" {reason or type(error).__name__}"
            )
    return ""


def is_free(hint: Any) -> bool:
    """Whether an annotation leaves open what the argument is."""
    return hint in (Any, object) or not isinstance(hint, type) or hint.__module__ == "numpy"


def is_no_number(value: Any, robot: Any) -> bool:
    """Whether a value is neither None, nor a number, nor an array of real ones."""
    return value is not None and bool(unlike_numbers(value))


def is_odd(value: Any, robot: Any) -> bool:
    """None, numbers that are not finite, empty arrays, a number in place of an array, a row that is
    not the robot's."""
    import numpy as np

    if value is None:
        return True
    array = np.asarray(value)
    if not array.size or not array.ndim or not np.isfinite(array).all():
        return True
    return array.shape[-1] not in (getattr(robot, "n", None), getattr(robot, "nq", None))


def deepest(suspects: Mapping[str, Any], frames: Sequence[types.FrameType]) -> str:
    """The suspect that the innermost frame holds, else the first."""
    for frame in reversed(frames):
        held = [
            name
            for name, value in suspects.items()
            if any(value is x for x in frame.f_locals.values())
        ]
        if held:
            return held[0]
    return next(iter(suspects))
