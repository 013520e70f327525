"""What can go wrong, as exceptions whose messages end with what to do.

Every error that Armature raises on purpose is an `ArmatureError`; anything else that reaches a user
is a bug."""

from collections.abc import Sequence
from numbers import Integral


class ArmatureError(Exception):
    """The base of all errors that Armature raises on purpose."""


class FileError(ArmatureError):
    """A file cannot be read as a robot (or drive, or motion): where, what, and what to do.

    Attributes: path (str or None), line (int or None, 1-based).
    """

    def __init__(self, message: str, path: object = None, line: int | None = None):
        self.path = None if path is None else str(path)
        self.line = line
        where = "" if path is None else f"{path}:{line}: " if line else f"{path}: "
        super().__init__(where + message)


class RobotError(ArmatureError, ValueError):
    """A robot that contradicts physics or itself: a negative mass, an unknown link, a joint that
    moves nothing."""


class ArgumentError(ArmatureError, ValueError):
    """An argument of the wrong shape, type or range."""


class MissingExtraError(ArmatureError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, package: str, extra: str):
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed; run: pip install"
            f" 'armature[{extra}]'"
        )


class ArmatureWarning(UserWarning):
    """Something was repaired or ignored; the message says where and how."""


def check_count(value: object, what: str) -> None:
    """Refuse what is no whole number from 1 on, with words; None is left to the default."""
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1
    ):
        raise ArgumentError(f"{what} = {value!r} must be a whole number, 1 or more")


def several(names: Sequence[str], most: int = 6) -> str:
    """Names for a message: all of a few, of more the first and how many there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
