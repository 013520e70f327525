"""XML read safely: no entities, no DTD, no network, bounded size and depth; every message with its
line."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (lxml carries no types)

from armature.errors import ArmatureWarning, FileError, RobotError
from armature.text import decode_xml

MOST_MARKUP = 2_000_000  # opening and closing tags, and attributes: bounds the parser's memory
MOST_WARNINGS = 20
NUMBER = re.compile(r"[+-]?(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,9})?", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)

Element: TypeAlias = etree._Element


def parse(data: bytes, path: object) -> Element:
    """The root element of an XML document, or a FileError with the line."""
    text = decode_xml(data, path)
    if not text.strip():
        raise FileError("the file is empty; a robot's description was expected", path)
    if "<!ENTITY" in text:
        line = text.count("\n", 0, text.index("<!ENTITY")) + 1
        raise FileError(
            "the document type declares entities, which are not expanded; write the values out",
            path,
            line,
        )
    if text.count("<") > MOST_MARKUP or text.count("=") > MOST_MARKUP:
        raise FileError(
            f"the file has more than {MOST_MARKUP} tags or attributes; is this a robot's"
            " description?",
            path,
        )
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as e:
        line = getattr(e, "lineno", None)
        reason = str(getattr(e, "msg", e)).split(", line ")[0]
        raise FileError(
            f"this is not well-formed XML ({reason}); correct it there, or export the file again",
            path,
            line,
        ) from None


class Source:
    """The file that is being read: errors and warnings with its path and the line of an element."""

    def __init__(self, path: object):
        self.path = path
        self._warned = 0

    def error(self, element: Element | None, message: str) -> FileError:
        """A FileError at an element's line; to be raised by the caller."""
        return FileError(
            message if element is None else f"<{element.tag}> {message}", *self.place(element)
        )

    def place(self, element: Element | None) -> tuple[object, int | None]:
        """File and line of an element."""
        return self.path, None if element is None else element.sourceline

    def warn(self, at: Element | int | None, message: str) -> None:
        """An ArmatureWarning at an element or a line; after twenty of one file no more are
        shown."""
        self._warned += 1
        if self._warned < MOST_WARNINGS:
            path, line = (self.path, at) if isinstance(at, int) else self.place(at)
            where = f"{path}:{line}" if line else f"{path}"
            warnings.warn(f"{where}: {message}", ArmatureWarning, stacklevel=2)
        elif self._warned == MOST_WARNINGS:
            warnings.warn(f"{self.path}: and more of this kind", ArmatureWarning, stacklevel=2)

    @contextmanager
    def at(self, element: Element, prefix: str = "") -> Iterator[None]:
        """Turns a RobotError from inside into a FileError at the element's line."""
        try:
            yield
        except RobotError as e:
            raise self.error(element, prefix + str(e)) from None

    def text(self, element: Element, key: str, needed: bool = True) -> str:
        """A non-empty attribute; "" when it is missing and not needed."""
        value = element.get(key)
        if value:
            return value
        if needed:
            raise self.error(element, f'has no {key}; give it as {key}="…"')
        return ""

    def number(
        self, element: Element, key: str, default: float | None = None, infinite: bool = False
    ) -> float:
        """A numeric attribute; `default` when it is missing, an error when there is no default."""
        value = element.get(key)
        if value is None and default is not None:
            return default
        return self.parse_number(
            element, key, self.text(element, key) if value != "" else "", infinite
        )

    def numbers(
        self, element: Element, key: str, n: int, default: tuple[float, ...]
    ) -> tuple[float, ...]:
        """An attribute of n numbers, separated by blanks."""
        value = element.get(key)
        if value is None:
            return default
        parts = value.split()
        if len(parts) != n:
            raise self.error(
                element,
                f"{key}={_short(value)} has {len(parts)} values; give {n} numbers, separated by"
                " blanks",
            )
        return tuple(self.parse_number(element, key, part) for part in parts)

    def parse_number(self, element: Element, key: str, text: str, infinite: bool = False) -> float:
        """A decimal number, finite unless told; an error names the element, the value and the
        line."""
        text = text.strip()
        if infinite and INFINITY.fullmatch(text):
            return float(text)
        if not NUMBER.fullmatch(text):
            hint = (
                "use a point for the decimal mark"
                if "," in text
                else "give a finite decimal number, such as 0.5 or 1e-3"
            )
            raise self.error(element, f"{key}={_short(text)} is not a number; {hint}")
        value = float(text)
        if math.isinf(value):
            raise self.error(
                element,
                f"{key}={_short(text)} is too large for a floating-point number; check its"
                " exponent",
            )
        return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def children(element: Element, *tags: str) -> list[Element]:
    """The child elements of these tags, in document order."""
    return [child for child in element if isinstance(child.tag, str) and child.tag in tags]


def child(element: Element, tag: str) -> Element | None:
    """The first child element of a tag, or None."""
    return next((c for c in element if c.tag == tag), None)
