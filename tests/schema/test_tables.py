"""The tables are what generate.py makes of the schemas; tables.py agrees with LiteRT's schema."""

import re
from importlib import util
from pathlib import Path

import pytest

from flatlite.schema import metadata_tables, tables
from flatlite.schema.flatbuffer import options_class, record
from flatlite.schema.generate import TARGETS, generate

FOLDER = Path(tables.__file__).parent
SIZES = {"Bool": 1, "Int8": 1, "Uint8": 1, "Int16": 2, "Uint16": 2, "Int32": 4, "Uint32": 4}
SIZES |= {"Float32": 4, "Int64": 8, "Uint64": 8, "Float64": 8}
SCALARS = {"bool": "Bool", "byte": "Int8", "ubyte": "Uint8", "short": "Int16", "ushort": "Uint16"}
SCALARS |= {"int": "Int32", "uint": "Uint32", "long": "Int64", "ulong": "Uint64"}
SCALARS |= {"float": "Float32", "double": "Float64"}


@pytest.fixture(scope="module")
def published():
    """The source of the Python module flatc made from LiteRT's own schema."""
    package = util.find_spec("ai_edge_litert")
    return (Path(package.origin).parent / "schema_py_generated.py").read_text()


def camel(name):
    """A field's name as flatc writes it in functions."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@pytest.mark.parametrize("schema", TARGETS)
def test_tables_are_generated_from_the_schema(schema):
    text = generate(schema, (FOLDER / schema).read_text())
    written = (FOLDER / TARGETS[schema].file).read_text()
    assert written == text, "run python -m flatlite.schema.generate"


def test_no_table_is_in_two_schemas():
    assert not tables.TABLES.keys() & metadata_tables.TABLES.keys()


def test_the_schema_is_whole():
    assert list(tables.BUILTIN_OPERATOR.values()) == list(range(210))
    assert list(tables.TENSOR_TYPE.values()) == list(range(23))
    assert len(tables.UNIONS["BuiltinOptions"]) == 127
    assert len(tables.UNIONS["BuiltinOptions2"]) == 24


def test_enums_are_those_published(published):
    blocks = re.findall(r"^class (\w+)\(object\):\n((?:    \w+ = -?\d+\n)+)", published, re.M)
    theirs = {
        name: {member: int(value) for member, value in re.findall(r"(\w+) = (-?\d+)", body)}
        for name, body in blocks
    }
    ours = dict(tables.ENUMS)
    for union, members in tables.UNIONS.items():
        ours[union] = {name or "NONE": value for value, name in enumerate(members)}
    assert ours == theirs


def test_tables_are_those_published(published):
    counts = dict(
        re.findall(r"^def (\w+)Start\(builder\):\n.*StartObject\((\d+)\)", published, re.M)
    )
    assert set(counts) == set(tables.TABLES)
    for table, count in counts.items():
        adds = re.findall(
            rf"^def {table}Add(\w+)\(builder, \w+\):\n"
            r"    builder\.Prepend(\w+)Slot\((\d+), .*, ([-\w.]+)\)$",
            published,
            re.M,
        )
        theirs = {name: (kind, int(slot), default) for name, kind, slot, default in adds}
        assert theirs == dict(ours_as_published(table)), table
        last = max((slot for _, slot, _ in theirs.values()), default=-1)
        assert int(count) == last + 1, table


def ours_as_published(table):
    """(name, (kind, slot, default)) of the fields of a table, as flatc would write them."""
    for name, type_, default, slot in tables.TABLES[table]:
        scalar = SCALARS.get(tables.ENUM_TYPES.get(type_, type_))
        if type_ in tables.UNIONS:
            yield camel(name) + "Type", ("Uint8", slot, "0")
            yield camel(name), ("UOffsetTRelative", slot + 1, "0")
        elif scalar is None:
            yield camel(name), ("UOffsetTRelative", slot, "0")
        else:
            text = str(int(default) if scalar == "Bool" else default)
            yield camel(name), (scalar, slot, text)


def test_vectors_are_those_published(published):
    for table, fields in tables.TABLES.items():
        for name, type_, _, _ in fields:
            function = f"def {table}Start{camel(name)}Vector("
            assert (function in published) == type_.startswith("["), (table, name)
            element = type_.strip("[]")
            scalar = SCALARS.get(tables.ENUM_TYPES.get(element, element))
            if not type_.startswith("[") or scalar is None:
                continue
            size, _, alignment = re.search(
                re.escape(function) + r".*\n.*StartVector\((\d+), (\w+), (\d+)\)", published
            ).groups()
            assert int(size) == SIZES[scalar], (table, name)
            # flatc's Python forgets force_align; its C++ has it, and kernels rely on it.
            assert int(alignment) <= tables.ALIGNMENT.get((table, name), SIZES[scalar])
            getter = re.search(
                rf"class {table}\(object\):.*?def {camel(name)}\(self, j\):.*?types\.(\w+)Flags, a",
                published,
                re.DOTALL,
            )
            assert getter.group(1) == scalar, (table, name)


def test_name_of():
    assert tables.name_of("BuiltinOperator", 3) == "CONV_2D"
    assert tables.name_of("Padding", 1) == "VALID"
    with pytest.raises(KeyError):
        tables.name_of("Padding", 2)


def test_every_table_has_a_record():
    for name, fields in tables.TABLES.items():
        built = record(name)()
        assert {field: getattr(built, field) for field in built.__slots__} == {
            field: default for field, _, default, _ in fields
        }


def test_every_options_table_belongs_to_an_operator():
    used = {options_class(op) for op in tables.BUILTIN_OPERATOR} - {None}
    named = {*tables.UNIONS["BuiltinOptions"][1:], *tables.UNIONS["BuiltinOptions2"][1:]}
    assert {class_.__name__ for class_ in used} == named


@pytest.mark.parametrize(
    ("op", "options"),
    [
        ("CONV_2D", "Conv2DOptions"),
        ("MAX_POOL_2D", "Pool2DOptions"),
        ("REDUCE_MAX", "ReducerOptions"),
        ("MINIMUM", "MaximumMinimumOptions"),
        ("STABLEHLO_COMPOSITE", "StableHLOCompositeOptions"),
    ],
)
def test_options_class(op, options):
    assert options_class(op).__name__ == options


def test_an_operator_without_options():
    assert options_class("RELU") is None
    with pytest.raises(ValueError, match="must be one of the schema's, got 'RELU7'"):
        options_class("RELU7")
