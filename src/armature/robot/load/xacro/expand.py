"""The expansion of a xacro document: a new tree of plain elements, each with the file and line that
it came from."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (lxml carries no types)

from armature.errors import FileError
from armature.robot.load.xacro.budget import XacroError
from armature.robot.load.xacro.macro import Macro, Parameter, read_macro
from armature.robot.load.xacro.scope import Scope, truth
from armature.robot.load.xacro.text import MISSING, Interpreter, MissingFile, is_name, where_to_put
from armature.robot.load.xml import Element, Source, parse
from armature.text import read_bytes

FILE = "{urn:armature}file"  # which file an element came from: its number


class XacroSource(Source):
    """Where elements of an expanded tree came from: the file that held them, and the line there."""

    def __init__(self, path: object, files: list[Path]):
        super().__init__(path)
        self.files = files

    def place(self, element: Element | None) -> tuple[object, int | None]:
        """File and line of an element."""
        if element is None:
            return self.path, None
        number = next(
            (n for e in (element, *element.iterancestors()) if (n := e.get(FILE)) is not None), None
        )
        return (self.path if number is None else self.files[int(number)]), element.sourceline


class Expansion:
    """One document being expanded. `macros` are by name, in scopes as properties are."""

    def __init__(self, path: Path, arguments: Mapping[str, str]):
        self.texts = Interpreter(path, arguments)
        self.budget = self.texts.budget
        self.files: list[Path] = []
        self.source = XacroSource(path, self.files)
        self.macros, self.properties = Scope(), Scope()
        self._actions: dict[str, Callable[[Element, Scope, Scope, Element], None]] = {
            "insert_block": self._insert_block,
            "include": self._include,
            "property": self._property,
            "macro": self._macro,
            "arg": self._arg,
            "element": self._element,
            "attribute": self._attribute,
            "if": self._if,
            "unless": self._if,
            "call": self._dynamic_call,
        }

    def run(self) -> Element:
        """The expanded root element."""
        root = self.read(self.texts.main)
        for arg in root.iter("{*}arg"):
            if arg.prefix == "xacro" and arg.get("name"):
                self.texts.declared.setdefault(arg.get("name"), arg.get("default"))
        out = self.copy_of(root, self.properties)
        self.children(root, self.macros, self.properties, out)
        return out

    def read(self, path: Path) -> Element:
        """The root of a file, marked with the file's number."""
        self.budget.take_file()
        root = parse(read_bytes(path), path)
        root.set(FILE, str(len(self.files)))
        self.files.append(path)
        return root

    @contextmanager
    def at(self, element: Element):
        """Gives a XacroError from inside the element's file and line."""
        try:
            yield
        except XacroError as e:
            path, line = self.source.place(element)
            raise Located(e, path, line) from None

    # --- elements --------------------------------------------------------------------------------

    def children(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        """Expand the content of an element into `out`."""
        self.write(element, element.text, properties, out)
        for child in element:
            if isinstance(child.tag, str):
                with self.at(child):
                    self.child(child, macros, properties, out)
            self.write(element, child.tail, properties, out)

    def child(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        """Expand one element into `out`."""
        if element.prefix == "xacro":
            name = etree.QName(element).localname
            action = self._actions.get(name)
            if action is not None:
                action(element, macros, properties, out)
            else:
                self.call(name, element, macros, properties, out)
            return
        with self.budget:
            copy = self.copy_of(element, properties)
            out.append(copy)
            self.children(element, macros, properties, copy)

    def copy_of(self, element: Element, properties: Scope, tag: str | None = None) -> Element:
        """An element without its content, its attributes evaluated."""
        self.budget.take_element()
        plain = {p: uri for p, uri in element.nsmap.items() if p != "xacro"}
        with self.at(element):
            copy = etree.Element(tag or element.tag, nsmap=plain)
            copy.sourceline = element.sourceline
            path, _ = self.source.place(element)
            copy.set(FILE, str(self.files.index(path)))  # pyright: ignore[reportArgumentType]
            for key, value in element.attrib.items():
                if key != FILE and not _of_xacro(key, element):
                    _set(copy, key, self.texts.text(value, properties))
        return copy

    def write(self, element: Element, text: str | None, properties: Scope, out: Element) -> None:
        """Append a text to `out`."""
        if not text:
            return
        if "$" in text:
            with self.at(element):
                text = self.texts.text(text, properties)
        _append_text(out, text)

    # --- what the tags do ------------------------------------------------------------------------

    def _insert_block(
        self, element: Element, macros: Scope, properties: Scope, out: Element
    ) -> None:
        name = self._needed(element, "name", properties)
        many, one = properties.holder("**" + name), properties.holder("*" + name)
        if many is None and one is None:
            raise XacroError(
                f"there is no block {name!r}; give it to the macro, or define it by"
                " <xacro:property>"
            )
        self.budget.take_call()
        with self.budget:
            if many is not None:
                self.children(many.values["**" + name], macros, properties, out)
            elif one is not None:
                self.child(one.values["*" + name], macros, properties, out)

    def _property(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        name = self._needed(element, "name", properties)
        if not name.isidentifier() or name.startswith("__"):
            raise XacroError(
                f"the property's name {name[:60]!r} is not possible; give letters, digits and _"
            )
        value, default = element.get("value"), element.get("default")
        if self._flag(element, "remove", False, properties):
            properties.remove(name)
            return
        if default is not None and value is None:
            if properties.holder(name) is not None:
                return
            value = default
        lazy, target = self._flag(element, "lazy_eval", True, properties), properties
        if element.get("scope") == "global":
            lazy, target = False, properties.outermost()
        elif element.get("scope") == "parent" and properties.parent is not None:
            lazy, target = False, properties.parent
            while not properties.namespace and target.namespace and target.parent is not None:
                target = target.parent
        if value is None:
            target.set("**" + name, element)
        else:
            target.set(name, value if lazy else self.texts.value(value, properties), lazy)

    def _macro(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        macro = read_macro(element)
        macros.set(macro.name, macro)

    def _arg(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        name, default = element.get("name", ""), element.get("default")
        if name not in self.texts.arguments and default is not None:
            self.texts.arguments[name] = self.texts.text(default, properties)

    def _element(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        name = next(
            (v for k, v in element.attrib.items() if _of_xacro(k, element) and k.endswith("}name")),
            "",
        )
        name = self.texts.text(name, properties)
        try:
            copy = self.copy_of(element, properties, name)
        except ValueError:
            raise XacroError(f"{name[:60]!r} is not possible as the name of an element") from None
        out.append(copy)
        self.children(element, macros, properties, copy)

    def _attribute(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        name = self._needed(element, "name", properties)
        _set(out, name, self.texts.text(element.get("value", ""), properties))

    def _if(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        condition = element.get("value")
        if condition is None:
            raise XacroError('has no condition; give it as value="…"')
        wanted = etree.QName(element).localname == "if"
        if truth(self.texts.value(condition, properties), condition) is wanted:
            with self.budget:
                self.children(element, macros, properties, out)

    def _include(self, element: Element, macros: Scope, properties: Scope, out: Element) -> None:
        name = self._needed(element, "filename", properties)
        space = self.texts.text(element.get("ns", ""), properties)
        if space:
            inner, inner_macros = Scope(properties, namespace=True), Scope()
            properties.set(space, inner)
            macros.set(space, inner_macros)
            properties, macros = inner, inner_macros
        if name.startswith(MISSING):
            return  # said already; a macro that it would define is then unknown, and that is told
        for path in self._included(self.texts.absolute(name)):
            if not os.path.exists(path):
                if self._flag(element, "optional", False, properties):
                    continue
                raise MissingFile(path)
            with self.budget:
                root = self.read(path)
                self.texts.files.append(path)
                try:
                    self.children(root, macros, properties, out)
                finally:
                    self.texts.files.pop()

    def _included(self, path: Path) -> list[Path]:
        """The files that an include means: a name with *, ? or [ is a pattern, unless a file has
        it."""
        if os.path.exists(path) or not any(c in str(path) for c in "*?["):
            return [path]
        if any(c in str(path.parent) for c in "*?["):
            raise XacroError(
                f"the include {str(path)!r} has a pattern in its folder; only the file's name may"
                " be one"
            )
        found = sorted(Path(p) for p in glob.iglob(str(path)))
        if not found:
            self.texts.warn(f"the include {str(path)!r} matches no file")
        return found

    def _needed(self, element: Element, key: str, properties: Scope) -> str:
        value = element.get(key)
        if not value:
            raise XacroError(f'has no {key}; give it as {key}="…"')
        return self.texts.text(value, properties)

    def _flag(self, element: Element, key: str, default: bool, properties: Scope) -> bool:
        value = element.get(key)
        return default if value is None else truth(self.texts.value(value, properties), key)

    # --- macros ----------------------------------------------------------------------------------

    def _dynamic_call(
        self, element: Element, macros: Scope, properties: Scope, out: Element
    ) -> None:
        self.call(
            self._needed(element, "macro", properties),
            element,
            macros,
            properties,
            out,
            dynamic=True,
        )

    def call(
        self,
        name: str,
        element: Element,
        macros: Scope,
        properties: Scope,
        out: Element,
        dynamic: bool = False,
    ) -> None:
        """Expand a macro's body into `out`, in a scope inside the caller's."""
        self.budget.take_call()
        macro, macros, outer = self.resolve(name, macros, properties)
        with self.budget:
            inner = Scope(outer)
            left = dict(macro.parameters)
            for key, value in element.attrib.items():
                if key == FILE or (dynamic and key == "macro"):
                    continue
                if key not in left:
                    self.source.warn(
                        element, f"the macro {name!r} has no parameter {key!r}; ignored"
                    )
                    continue
                del left[key]
                inner.set(key, self.texts.value(value, properties))
            self._give_blocks(macro, element, left, macros, properties, inner)
            missing = [
                p.name for p in left.values() if not self._give_default(p, properties, inner)
            ]
            if missing:
                raise XacroError(
                    f"the macro {name!r} needs {', '.join(missing)}; give them where it is called"
                )
            self.children(macro.body, Scope(macros), inner, out)

    def resolve(self, name: str, macros: Scope, properties: Scope) -> tuple[Macro, Scope, Scope]:
        """A macro by its name, which may begin with namespaces, and the scopes that it sees."""
        found = macros.holder(name)
        if found is not None and isinstance(found.values[name], Macro):
            return found.values[name], macros, properties
        *spaces, last = name.split(".")
        for space in spaces:
            here, there = macros.holder(space), properties.holder(space)
            if here is None or there is None or not isinstance(here.values[space], Scope):
                break
            macros, properties = here.values[space], there.values[space]
        else:
            if spaces and isinstance(macros.values.get(last), Macro):
                return macros.values[last], macros, properties
        missing = next(
            (name for name, folder in self.texts.packages.items() if folder is None), None
        )
        hint = (
            "define or include it before"
            if missing is None
            else f"the package {missing!r} is not found; {where_to_put(missing)}"
        )
        raise XacroError(f"the macro {name!r} is not known; {hint}")

    def _give_blocks(
        self,
        macro: Macro,
        element: Element,
        left: dict[str, Parameter],
        macros: Scope,
        properties: Scope,
        inner: Scope,
    ) -> None:
        """The elements inside a call, expanded where the call stands, for the parameters *x and **x
        in their order."""
        blocks = etree.Element("blocks")
        self.children(element, macros, properties, blocks)
        given = [b for b in blocks if isinstance(b.tag, str)]
        for name in [n for n in left if n.startswith("*")]:
            if given:
                inner.values[name] = given.pop(0)
                del left[name]
        if given:
            raise XacroError(
                f"the macro {macro.name!r} has no parameter for the block <{given[0].tag}>;"
                " remove it"
            )
        inner.values[" blocks"] = blocks  # keeps their parent alive

    def _give_default(self, parameter: Parameter, properties: Scope, inner: Scope) -> bool:
        if parameter.forward and properties.holder(parameter.name) is not None:
            inner.set(parameter.name, properties.get(parameter.name, self.texts.value))
        elif parameter.default is not None:
            inner.set(parameter.name, self.texts.value(parameter.default, properties))
        elif parameter.needed and is_name(parameter.name):
            inner.set(parameter.name, self.texts.name_for(parameter.name))
        else:
            return False
        return True


class Located(FileError):
    """A XacroError with its file and line. cause: the error itself."""

    def __init__(self, cause: XacroError, path: object, line: int | None):
        self.cause = cause
        super().__init__(str(cause), path, line)


def _of_xacro(key: str, element: Element) -> bool:
    return key.startswith("{") and key[1:].split("}")[0] == element.nsmap.get("xacro")


def _set(element: Element, key: str, value: str) -> None:
    try:
        element.set(key, value)
    except ValueError:
        raise XacroError(
            f"{key[:60]}={value[:60]!r} holds characters that XML does not allow"
        ) from None


def _append_text(out: Element, text: str) -> None:
    try:
        if len(out):
            out[-1].tail = (out[-1].tail or "") + text
        else:
            out.text = (out.text or "") + text
    except ValueError:
        raise XacroError(f"{text[:60]!r} holds characters that XML does not allow") from None
