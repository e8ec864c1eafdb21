"""MLIR bytecode: sections of strings, dialects, attributes, types and operations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import ModelError
from . import vhlo
from .cursor import Cursor
from .module import Attribute, Block, Module, Operation, OtherType, Type, Unread, Value
from .operations import ATTRIBUTES

MAGIC = b"ML\xefR"
MAX_VERSION = 6
"""The newest version of the bytecode format that is known."""
MAX_DEPTH = 64
"""How deep regions, attributes and types may be within one another."""
STRINGS, DIALECTS, ENTRIES, OFFSETS, OPERATIONS, PROPERTY_VALUES = 0, 1, 2, 3, 4, 8
VERSIONED, USE_LISTS, SHORT_LOCATIONS, PROPERTIES = 1, 3, 4, 5
"""Versions of the format since which dialects have versions, uses have an order, and so on."""
(
    HAS_ATTRIBUTES,
    HAS_RESULTS,
    HAS_OPERANDS,
    HAS_SUCCESSORS,
    HAS_REGIONS,
    HAS_ORDER,
    HAS_PROPERTIES,
) = (1 << i for i in range(7))
VERSION = re.compile(r"_v\d+$")
LOCATION_PARTS = {10: 0, 12: 0, 13: 0}
"""Locations that others make up (a call site, two that are fused)."""
NAMED_LOCATION = 14


def read(content: bytes, what: str = "MLIR bytecode") -> Module:
    """The functions of a module of StableHLO.

    Args:
        content: MLIR bytecode with operations of the VHLO dialect.
        what: What errors call it.

    Raises:
        ModelError: these are not the bytes of such a module.
    """
    if content[:4] != MAGIC:
        raise ModelError(f"{what} must begin with {MAGIC!r}, got {bytes(content[:4])!r}")
    return _Reader(Cursor(memoryview(content)[4:], what)).module()


class _Entry(NamedTuple):
    """Where an attribute or type is written, and by which dialect."""

    dialect: str
    content: memoryview
    is_binary: bool


class _Scope:
    """The values that operations of a region may name, those around it first."""

    def __init__(self) -> None:
        self.values: list[Value | None] = []


class _Reader:
    """Reads one file."""

    def __init__(self, cursor: Cursor) -> None:
        self.version = cursor.number()
        if self.version > MAX_VERSION:
            raise cursor.error(
                f"must be of a version up to {MAX_VERSION}, got {self.version}; write it with an "
                "older version of StableHLO"
            )
        self.what, self.producer = cursor.what, cursor.text()
        self.sections: dict[int, Cursor] = {}
        while not cursor.is_done:
            kind, section = cursor.section()
            if kind in self.sections:
                raise cursor.error(f"must have each section once, got section {kind} twice")
            self.sections[kind] = section
        missing = [kind for kind in range(5) if kind not in self.sections]
        if missing:
            raise cursor.error(f"must have the sections 0 to 4, missing {missing}")
        self.strings = self._strings(self.sections[STRINGS])
        self.dialects: list[str] = []
        self.names: list[tuple[str, str]] = []
        self._dialects(self.sections[DIALECTS])
        self.attributes, self.types = self._entries(self.sections[OFFSETS])
        self.properties = self._properties()
        self._read_attributes: dict[int, Attribute] = {}
        self._read_types: dict[int, Type] = {}
        self.depth = 0

    def module(self) -> Module:
        """The functions of the outermost module."""
        cursor, scope = self.sections[OPERATIONS], _Scope()
        block = self._block(cursor, scope)
        modules = [op for op in block.operations if op.name == "module"]
        if len(modules) != 1 or len(modules[0].regions) != 1:
            raise cursor.error("must have one module")
        body = modules[0].regions[0]
        functions: dict[str, Operation] = {}
        for op in body.operations if body is not None else ():
            name = op.attributes.get("sym_name")
            if op.name == "func" and isinstance(name, str):
                functions[name] = op
        return Module(self.producer, functions)

    def _strings(self, cursor: Cursor) -> list[str]:
        sizes = cursor.numbers()
        end = len(cursor.content)
        strings: list[str] = []
        for size in sizes:  # those of the last string first
            if size < 1 or end - size < cursor.position:
                raise cursor.error(f"has a string of {size} bytes that is not within its section")
            strings.append(bytes(cursor.content[end - size : end - 1]).decode(errors="replace"))
            end -= size
        return strings[::-1]

    def _dialects(self, cursor: Cursor) -> None:
        """Names of dialects, and of the operations that are used of each."""
        for _ in range(cursor.count()):
            index, has_version = cursor.number(), False
            if self.version >= VERSIONED:
                index, has_version = index >> 1, bool(index & 1)
            self.dialects.append(cursor.item(self.strings, index, "string"))
            if has_version:
                cursor.section()
        if self.version >= SHORT_LOCATIONS:
            cursor.number()
        while not cursor.is_done:
            dialect = cursor.item(self.dialects, cursor.number(), "dialect")
            for _ in range(cursor.count()):
                index = cursor.number()
                if self.version >= PROPERTIES:
                    index >>= 1
                name = cursor.item(self.strings, index, "string")
                self.names.append((dialect, name))

    def _entries(self, cursor: Cursor) -> tuple[list[_Entry], list[_Entry]]:
        """Where attributes and types are."""
        n_attributes, n_types = cursor.number(), cursor.number()
        content = Cursor(self.sections[ENTRIES].content, self.what)
        entries: list[_Entry] = []
        while not cursor.is_done:
            dialect = cursor.item(self.dialects, cursor.number(), "dialect")
            for _ in range(cursor.count()):
                size, is_binary = cursor.flagged()
                entries.append(_Entry(dialect, content.blob(size), is_binary))
        if len(entries) != n_attributes + n_types:
            raise cursor.error(
                f"must have {n_attributes} attributes and {n_types} types, got {len(entries)}"
            )
        return entries[:n_attributes], entries[n_attributes:]

    def _properties(self) -> list[memoryview]:
        """What operations have beside their dictionaries of attributes."""
        cursor = self.sections.get(PROPERTY_VALUES)
        if cursor is None:
            return []
        return [cursor.blob(cursor.number()) for _ in range(cursor.count())]

    # What vhlo.py asks for.

    def string(self, cursor: Cursor) -> str:
        """The string whose number comes next."""
        return cursor.item(self.strings, cursor.number(), "string")

    def type(self, cursor: Cursor) -> Type:
        """The type whose number comes next."""
        index = cursor.number()
        if index not in self._read_types:
            entry = cursor.item(self.types, index, "type")
            self._read_types[index] = self._type(entry)
        return self._read_types[index]

    def attribute(self, cursor: Cursor) -> Attribute:
        """The attribute whose number comes next."""
        return self._attribute_at(cursor, cursor.number())

    def _attribute_at(self, cursor: Cursor, index: int) -> Attribute:
        if index not in self._read_attributes:
            entry = cursor.item(self.attributes, index, "attribute")
            self._read_attributes[index] = self._attribute(entry)
        return self._read_attributes[index]

    def _type(self, entry: _Entry) -> Type:
        if not entry.is_binary or entry.dialect != "vhlo":
            return OtherType(entry.dialect)
        cursor = self._deeper(entry)
        result = vhlo.read_type(cursor, self)
        self.depth -= 1
        return result

    def _attribute(self, entry: _Entry) -> Attribute:
        if not entry.is_binary or entry.dialect not in ("vhlo", "builtin"):
            return Unread(entry.dialect)
        cursor = self._deeper(entry)
        if entry.dialect == "vhlo":
            result = vhlo.read_attribute(cursor, self)
        else:
            result = self._builtin(cursor)
        self.depth -= 1
        return result

    def _deeper(self, entry: _Entry) -> Cursor:
        cursor = Cursor(entry.content, self.what)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise cursor.error(f"may have attributes {MAX_DEPTH} deep")
        return cursor

    def _builtin(self, cursor: Cursor) -> Attribute:
        """An attribute of the builtin dialect: those that operations are written with."""
        code = cursor.number()
        if code == 0:
            return tuple(self.attribute(cursor) for _ in range(cursor.count()))
        if code == 1:
            return self.dictionary(cursor)
        if code == 2:
            return self.string(cursor)
        return Unread(f"builtin {code}")

    def dictionary(self, cursor: Cursor) -> Mapping[str, Attribute]:
        """Names and attributes."""
        result: dict[str, Attribute] = {}
        for _ in range(cursor.count()):
            name = self.attribute(cursor)
            if not isinstance(name, str):
                raise cursor.error(f"must name attributes by strings, got {name!r}")
            result[name] = self.attribute(cursor)
        return result

    def _location(self, index: int) -> str:
        """The name within a location, of a call site that of what is called."""
        for _ in range(MAX_DEPTH):
            entry = self.attributes[index] if index < len(self.attributes) else None
            if entry is None or not entry.is_binary or entry.dialect != "builtin":
                return ""
            cursor = Cursor(entry.content, self.what)
            code = cursor.number()
            if code == NAMED_LOCATION:
                name = self.attribute(cursor)
                return name if isinstance(name, str) else ""
            if code not in LOCATION_PARTS:
                return ""
            if code != 10 and not cursor.count():
                return ""
            index = cursor.number()
        return ""

    # Operations.

    def _block(self, cursor: Cursor, scope: _Scope, first: int = 0) -> Block:
        """A block whose values have the numbers from `first`."""
        n_operations, has_arguments = cursor.flagged()
        block = Block()
        if n_operations > cursor.n_left:
            raise cursor.error(f"must have {n_operations} operations more")
        if has_arguments:
            for _ in range(cursor.count()):
                index, has_location = cursor.number(), True
                if self.version >= SHORT_LOCATIONS:
                    index, has_location = index >> 1, bool(index & 1)
                type_ = cursor.item(self.types, index, "type")
                if index not in self._read_types:
                    self._read_types[index] = self._type(type_)
                if has_location:
                    cursor.number()
                block.arguments.append(Value(self._read_types[index]))
            if self.version >= USE_LISTS and cursor.byte():
                self._skip_order(cursor, len(block.arguments))
        first = self._define(cursor, scope, first, block.arguments)
        for _ in range(n_operations):
            op = self._operation(cursor, scope)
            first = self._define(cursor, scope, first, op.results)
            block.operations.append(op)
        return block

    def _define(self, cursor: Cursor, scope: _Scope, first: int, values: Sequence[Value]) -> int:
        """Gives values their numbers; where the next ones begin."""
        if first + len(values) > len(scope.values):
            raise cursor.error(f"has more values than the {len(scope.values)} of its region")
        scope.values[first : first + len(values)] = values
        return first + len(values)

    def _operation(self, cursor: Cursor, scope: _Scope) -> Operation:
        dialect, name = cursor.item(self.names, cursor.number(), "operation name")
        mask, location = cursor.byte(), self._location(cursor.number())
        attributes: Attribute = {}
        if mask & HAS_ATTRIBUTES:
            attributes = self.attribute(cursor)
        if mask & HAS_PROPERTIES and isinstance(attributes, Mapping):
            content = cursor.item(self.properties, cursor.number(), "property")
            attributes = {**attributes, **self._declared_attributes(dialect, name, content)}
        name = VERSION.sub("", name)
        if not isinstance(attributes, Mapping):
            raise cursor.error(f"must give {name} a dictionary of attributes, got {attributes!r}")
        op = Operation(dialect, name, location, attributes)
        if mask & HAS_RESULTS:
            op.results = [Value(self.type(cursor)) for _ in range(cursor.count())]
        if mask & HAS_OPERANDS:
            op.operands = [self._value(cursor, scope, op) for _ in range(cursor.count())]
        if mask & HAS_SUCCESSORS:
            raise cursor.error(f"must have no branches between blocks, got {op} with successors")
        if mask & HAS_ORDER and self.version >= USE_LISTS:
            self._skip_order(cursor, len(op.results))
        if mask & HAS_REGIONS:
            self._regions(cursor, scope, op)
        return op

    def _declared_attributes(
        self, dialect: str, name: str, content: memoryview
    ) -> dict[str, Attribute]:
        """The attributes that the operation declares, one after another."""
        if dialect != "vhlo":
            return {}
        cursor = Cursor(content, self.what)
        return {key: self.attribute(cursor) for key in ATTRIBUTES.get(name, ())}

    def _value(self, cursor: Cursor, scope: _Scope, op: Operation) -> Value:
        value = cursor.item(scope.values, cursor.number(), "value")
        if value is None:
            raise cursor.error(f"must compute operands before they are used, at {op}")
        return value

    def _regions(self, cursor: Cursor, scope: _Scope, op: Operation) -> None:
        count, is_isolated = cursor.flagged()
        if count > cursor.n_left:
            raise cursor.error(f"must have {count} regions more at {op}")
        if is_isolated:
            scope = _Scope()
            if self.version >= 2:
                kind, cursor = cursor.section()
                if kind != OPERATIONS:
                    raise cursor.error(f"must have a section of operations at {op}, got {kind}")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise cursor.error(f"may have regions {MAX_DEPTH} deep")
        for _ in range(count):
            op.regions.append(self._region(cursor, scope, op))
        self.depth -= 1

    def _region(self, cursor: Cursor, scope: _Scope, op: Operation) -> Block | None:
        n_blocks = cursor.number()
        if n_blocks == 0:
            return None
        if n_blocks > 1:
            raise cursor.error(f"must have one block in each region, got {n_blocks} at {op}")
        n_values, first = cursor.number(), len(scope.values)
        if n_values > cursor.n_left:
            raise cursor.error(f"must have {n_values} values more at {op}")
        scope.values += [None] * n_values
        block = self._block(cursor, scope, first)
        del scope.values[first:]
        return block

    def _skip_order(self, cursor: Cursor, n_values: int) -> None:
        """Skips in which order a value is used."""
        count = cursor.count() if n_values > 1 else 1
        for _ in range(count):
            if n_values > 1:
                cursor.number()
            n_indices, _ = cursor.flagged()
            if n_indices > cursor.n_left:
                raise cursor.error(f"must have {n_indices} uses more")
            for _ in range(n_indices):
                cursor.number()
