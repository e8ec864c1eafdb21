"""Makes tables.py from tflite.fbs, metadata_tables.py from metadata.fbs.

    python -m flatlite.schema.generate

The part of the flatbuffers schema language that they use: enums, unions, tables with scalar,
string, vector, table and union fields, defaults, `(deprecated)` and `(force_align: n)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .files import write_atomic
from .rows import Default, Field, row_of

_DECLARATION = re.compile(r"(enum|union|table)\s+(\w+)\s*(?::\s*(\w+)\s*)?\{(.*?)\}", re.DOTALL)
_FIELD = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<type>\[?\w+\]?)\s*(?:=\s*(?P<default>[-\w.]+)\s*)?(?:\((?P<attributes>[^)]*)\))?\s*;"
)

Enums = dict[str, dict[str, int]]
Unions = dict[str, tuple[str | None, ...]]
Alignment = dict[tuple[str, str], int]


class Target(NamedTuple):
    """The module made of a schema.

    Attributes:
        file: its name.
        title: what it holds.
        constants: some of its enums' names.
        example: an enum, a value and the member that has it.
    """

    file: str
    title: str
    constants: str
    example: tuple[str, int, str]


TARGETS = {
    "tflite.fbs": Target(
        "tables.py",
        "The TFLite schema",
        "TENSOR_TYPE, BUILTIN_OPERATOR, ...",
        ("BuiltinOperator", 3, "CONV_2D"),
    ),
    "metadata.fbs": Target(
        "metadata_tables.py",
        "The schema of models' metadata",
        "ASSOCIATED_FILE_TYPE, ...",
        ("ColorSpaceType", 1, "RGB"),
    ),
}

_HEADER = '''"""{title} as plain data. Made from {source} by generate.py; do not edit.

ENUMS: enum -> {{member: value}}, each also a constant ({constants}).
ENUM_TYPES: enum -> the scalar type of its fields.
UNIONS: union -> its member tables, by type value; 0 is None.
TABLES: table -> fields (name, type, default, slot); a union's slot is that of its type, its value
is in the next one. A type in brackets is a vector. The text has name:type:slot=default.
ALIGNMENT: (table, field) -> bytes its vector is aligned to, where that is more than the element.
"""

from __future__ import annotations

from .rows import Default as Default
from .rows import Field as Field
from .rows import Rows
'''

_NAME_OF = '''

def name_of(enum: str, value: int) -> str:
    """The member of `enum` that has `value`; raises KeyError when there is none.

    >>> name_of("{enum}", {value})
    '{member}'
    """
    names = _NAMES.get(enum)
    if names is None:
        names = _NAMES[enum] = {{number: name for name, number in ENUMS[enum].items()}}
    return names[value]


_NAMES: dict[str, dict[int, str]] = {{}}
'''


_ROOT = (
    ("FILE_IDENTIFIER", r'file_identifier "(\w+)"'),
    ("ROOT_TYPE", r"root_type (\w+)"),
)


def generate(schema: str, text: str) -> str:
    """The text of the module for the text of a file of TARGETS."""
    source = re.sub(r"//[^\n]*", "", text)
    enums: Enums = {}
    enum_types: dict[str, str] = {}
    unions: Unions = {}
    bodies: dict[str, str] = {}
    alignment: Alignment = {}
    for keyword, name, scalar, body in _DECLARATION.findall(source):
        if keyword == "enum":
            enums[name] = _members(body)
            enum_types[name] = scalar
        elif keyword == "union":
            unions[name] = (None, *re.findall(r"\w+", body))
        else:
            bodies[name] = body
    tables = {name: _fields(name, body, enums, unions, alignment) for name, body in bodies.items()}
    target = TARGETS[schema]
    enum, value, member = target.example
    header = _HEADER.format(source=schema, title=target.title, constants=target.constants)
    for constant, pattern in _ROOT:
        header += f"\n{constant} = {re.findall(pattern, source)[0]!r}\n"
    body = "".join(_lines(enums, enum_types, unions, tables, alignment))
    return header + body + _NAME_OF.format(enum=enum, value=value, member=member)


def _members(body: str) -> dict[str, int]:
    """Members of an enum; one without a value follows the one before it."""
    members: dict[str, int] = {}
    following = 0
    for name, value in re.findall(r"(\w+)\s*(?:=\s*(-?\d+))?\s*,?", body):
        members[name] = int(value) if value else following
        following = members[name] + 1
    return members


def _fields(
    table: str, body: str, enums: Enums, unions: Unions, alignment: Alignment
) -> tuple[Field, ...]:
    """The fields of a table; a deprecated one leaves its slot empty."""
    fields: list[Field] = []
    slot = 0
    for field in _FIELD.finditer(body):
        name, type_, attributes = field["name"], field["type"], field["attributes"] or ""
        if "deprecated" not in attributes:
            fields.append((name, type_, _default(type_, field["default"], enums), slot))
        align = re.search(r"force_align:\s*(\d+)", attributes)
        if align:
            alignment[table, name] = int(align.group(1))
        slot += 2 if type_ in unions else 1
    return tuple(fields)


def _default(type_: str, text: str | None, enums: Enums) -> Default:
    """The value of a field that a file leaves out; None for what is not a scalar."""
    if type_ in enums:
        return enums[type_][text] if text else 0
    if type_ == "bool":
        return text == "true"
    if type_ in ("float", "double"):
        return float(text or 0)
    if type_ in ("byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong"):
        return int(text or 0)
    return None


def _lines(
    enums: Enums,
    enum_types: dict[str, str],
    unions: Unions,
    tables: dict[str, tuple[Field, ...]],
    alignment: Alignment,
) -> Iterator[str]:
    """The text of a module between its head and its function, piece by piece."""
    constants: dict[str, str] = {}
    for name, members in enums.items():
        constant = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()
        constants[name] = constant
        yield f"\n{constant} = {{\n"
        yield from (f"    {member!r}: {value},\n" for member, value in members.items())
        yield "}\n"
    yield "\nENUMS = {\n"
    yield from (f"    {name!r}: {constant},\n" for name, constant in constants.items())
    yield f"}}\n\nENUM_TYPES = {enum_types!r}\n\nUNIONS: dict[str, tuple[str | None, ...]] = {{\n"
    for name, members in unions.items():
        yield f"    {name!r}: (\n"
        yield from (f"        {member!r},\n" for member in members)
        yield "    ),\n"
    yield '}\n\nTABLES = Rows("""\n'
    yield from (row_of(name, fields) + "\n" for name, fields in tables.items())
    yield f'""")\n\nALIGNMENT = {alignment!r}\n'


def main() -> None:
    """Writes the modules beside their schemas."""
    folder = Path(__file__).parent
    for name, target in TARGETS.items():
        text = generate(name, (folder / name).read_text(encoding="utf-8"))
        write_atomic(folder / target.file, text.encode())


if __name__ == "__main__":
    main()
