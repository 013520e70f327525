"""How large an MJCF model becomes, counted before MuJoCo's compiler sees it: copies, textures,
height fields, arrays, files."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path

from armature.errors import FileError
from armature.robot.load.xml import Element, Source, parse
from armature.text import read_bytes

MOST_PARTS = 10_000  # bodies, joints, geoms and the like, copies counted
MOST_CELLS = 16_000_000  # pixels of a texture, cells of a height field
MOST_NUMBERS = 100_000  # of an array that the file asks for by its length
MOST_USER = 1_000  # user numbers of one element
MOST_MEMORY = 2**30  # bytes that <size memory> asks for
MOST_FILES, LARGEST_FILE = 500, 64 * 2**20
FINEST = 1_000  # parameter of a built-in mesh
LENGTHS = ("actdim", "dim", "nsample", "nuserdata", "nkey", "nstack", "njmax", "nconmax")
FOLDERS = ("meshdir", "texturedir", "assetdir")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}


def refuse_large(root: Element, path: str | os.PathLike[str]) -> None:
    """Raise a FileError where a model would take more memory or time than a robot needs; files that
    it names are looked at too."""
    count = _Count(Path(path))
    count.look(root, count.source)


class _Count:
    """Counts the parts of a model and of what it includes."""

    def __init__(self, path: Path):
        self.folder, self.source = path.parent, Source(path)
        self.seen = {path.resolve()}
        self.models: dict[str, int] = {}
        self.folders = [self.folder]

    def look(self, root: Element, source: Source) -> None:
        """Check every element; then the whole with its copies."""
        for compiler in root.iter("compiler"):
            self.folders += [
                self.folder / compiler.get(key, "") for key in FOLDERS if compiler.get(key)
            ]
        parts = self.parts(root, source)
        if parts > MOST_PARTS:
            raise source.error(
                root,
                f"becomes more than {MOST_PARTS} parts by its copies (replicate, composite,"
                " attach); is this a robot?",
            )

    def parts(self, element: Element, source: Source) -> int:
        """How many elements an element becomes."""
        if not isinstance(element.tag, str):
            return 0
        self._check(element, source)
        if element.tag in ("include", "model") and element.get("file"):
            return self._included(element, source)
        inside = sum(self.parts(child, source) for child in element)
        if element.tag == "attach":
            return 1 + self.models.get(element.get("model", ""), 0)
        copies = (
            math.prod(self._numbers(element, "count"))
            if element.tag in ("replicate", "composite", "flexcomp")
            else 1
        )
        total = max(1, inside) * max(1, copies) if copies != 1 else 1 + inside
        if total > MOST_PARTS:
            words = (
                f"makes {total:.3g} parts; at most {MOST_PARTS} are read"
                if math.isfinite(total)
                else "makes endless parts"
            )
            raise source.error(element, words)
        return int(total)

    def _included(self, element: Element, source: Source) -> int:
        path = self.folder / element.get("file", "")
        if not os.path.isfile(path) or path.resolve() in self.seen:
            return 0  # MuJoCo says what is wrong
        self.seen.add(path.resolve())
        if len(self.seen) > MOST_FILES:
            raise source.error(element, f"is one of more than {MOST_FILES} files; is this a robot?")
        data = read_bytes(path)
        if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            return 0
        inner = Source(path)
        parts = self.parts(parse(data, path), inner)
        if element.tag == "model":
            name = element.get("name") or path.stem
            self.models[name] = parts
            return 1
        return parts

    def _check(self, element: Element, source: Source) -> None:
        for key, value in element.attrib.items():
            if key.startswith("file"):
                self._check_file(element, str(value), source)
            elif key in LENGTHS or (key == "size" and element.tag == "numeric"):
                self._within(element, key, MOST_NUMBERS, source)
            elif key.startswith("nuser_"):
                self._within(element, key, MOST_USER, source)
            elif key == "params" and element.tag == "mesh":
                self._within(element, key, FINEST, source)
            elif key == "memory" and element.tag == "size" and _bytes(str(value)) > MOST_MEMORY:
                raise source.error(
                    element,
                    f"memory={value!r} is more than {MOST_MEMORY // 2**20} MB; leave it out",
                )
        if element.tag in ("texture", "hfield") and self._cells(element) > MOST_CELLS:
            raise source.error(
                element, f"has more than {MOST_CELLS} cells or pixels; a robot needs fewer"
            )

    def _cells(self, element: Element) -> float:
        """Pixels of a texture (six squares, if it is not flat) or cells of a height field."""
        keys = ("width", "height") if element.tag == "texture" else ("nrow", "ncol")
        first, second = (max([1.0, *self._numbers(element, key)]) for key in keys)
        cube = element.tag == "texture" and element.get("type", "cube") != "2d"
        return max(first * second, 6 * first * first if cube else 0.0)

    def _within(self, element: Element, key: str, most: int, source: Source) -> None:
        if any(abs(number) > most for number in self._numbers(element, key)):
            raise source.error(
                element, f"{key}={element.get(key)[:40]!r} is more than {most}; a robot needs less"
            )

    def _numbers(self, element: Element, key: str) -> list[float]:
        """The numbers of an attribute; what is none is left to MuJoCo's own message."""
        found = []
        for word in (element.get(key) or "").split()[:100]:
            try:
                found.append(float(word))
            except ValueError:
                return []
        return [number if math.isfinite(number) else math.inf for number in found]

    def _check_file(self, element: Element, name: str, source: Source) -> None:
        """A file that the model names: a regular one, not too large; a picture not too wide."""
        for folder in self.folders:
            try:
                info = os.stat(folder / name)
            except (OSError, ValueError):
                continue
            if not stat.S_ISREG(info.st_mode):
                raise source.error(
                    element,
                    f"names {name[:80]!r}, which is not a regular file; give the name of a file",
                )
            if info.st_size > LARGEST_FILE:
                raise source.error(
                    element,
                    f"names {name[:80]!r}, a file of more than {LARGEST_FILE // 2**20} MB; a robot"
                    " needs less",
                )
            if _pixels(folder / name) > MOST_CELLS:
                raise source.error(
                    element,
                    f"names {name[:80]!r}, a picture of more than {MOST_CELLS} pixels; a robot"
                    " needs fewer",
                )


def _pixels(path: Path) -> int:
    """Width times height of a PNG file, by its header; 0 for others."""
    with open(path, "rb") as file:
        head = file.read(24)
    if not head.startswith(b"\x89PNG") or len(head) < 24:
        return 0
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")


def _bytes(text: str) -> float:
    """A size such as 10M; what is none is left to MuJoCo's own message."""
    text = text.strip()
    factor = UNITS.get(text[-1:].upper(), 1)
    try:
        return float(text[:-1] if factor > 1 else text) * factor
    except ValueError:
        return 0.0


def parse_model(path: str | os.PathLike[str]) -> Element:
    """The root of an XML file; an MJCF model is refused here if it is too large."""
    root = parse(read_bytes(path), path)
    if root.tag == "mujoco":
        try:
            refuse_large(root, path)
        except RecursionError:
            raise FileError(
                "the elements are nested too deep; write the model flat", path
            ) from None
    return root
