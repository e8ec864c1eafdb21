"""Writes three tables of graph/core/signatures from TensorFlow's op registry.

op_signatures.txt has the ops, allowed_types.txt the types that attributes may have,
attribute_limits.txt the strings and the least numbers. What stands at their heads stays.

Needs an environment with TensorFlow, which flatlite itself never does:

    python tests/graph/ops/generate_signatures.py                 rewrites the rows that are there
    python tests/graph/ops/generate_signatures.py Betainc Lu      adds rows for these ops
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportArgumentType=false
from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework.tensor_util import MakeNdarray as make_ndarray

TABLE = Path(__file__).parents[3] / "graph/core/signatures/op_signatures.txt"
ALLOWED = TABLE.with_name("allowed_types.txt")
LIMITS = TABLE.with_name("attribute_limits.txt")


def dtype_name(number: int) -> str:
    """float32 for DT_FLOAT: numpy's names where there are any."""
    name = types_pb2.DataType.Name(number).removeprefix("DT_").lower()
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def argument(arg) -> str:
    """One input or output as the table writes it."""
    if arg.type_list_attr:
        return f"{arg.name}:*{arg.type_list_attr}"
    count = f"{arg.number_attr}*" if arg.number_attr else ""
    reference = "&" if arg.is_ref else ""
    return f"{arg.name}:{reference}{count}{arg.type_attr or dtype_name(arg.type)}"


def plain(value, kind: str):
    """A default as JSON can hold it."""
    if kind.startswith("list("):
        field = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(kind[5:-1], kind[5:-1])
        items = getattr(value.list, field)
        return [plain_item(item, kind[5:-1]) for item in items]
    field = value.WhichOneof("value")
    return plain_item(getattr(value, field), kind)


def plain_item(item, kind: str):
    """One number, text, dtype or shape as JSON can hold it."""
    if kind == "string":
        return item.decode()
    if kind == "type":
        return dtype_name(item)
    if kind == "shape":
        return "?" if item.unknown_rank else [dim.size for dim in item.dim]
    if kind == "tensor":
        array = make_ndarray(item)
        return {array.dtype.name: array.tolist()}
    if kind in ("int", "float", "bool"):
        return float(f"{item:.9g}") if kind == "float" else item
    raise SystemExit(f"a default of kind {kind} has no form in the table")


def attribute(attr) -> str:
    """One attribute as the table writes it."""
    if not attr.HasField("default_value"):
        return f"{attr.name}:{attr.type}"
    default = json.dumps(plain(attr.default_value, attr.type), separators=(",", ":"))
    if " " in default:
        raise SystemExit(f"the default {default} of {attr.name} needs quoting rules")
    return f"{attr.name}:{attr.type}={default}"


def row(definition) -> str:
    """The row of one op."""
    words = ["!" + definition.name if definition.is_stateful else definition.name]
    words += map(argument, definition.input_arg)
    words += ["->", *map(argument, definition.output_arg)]
    words += [";", *map(attribute, definition.attr)]
    return " ".join(words)


def type_rows(definitions) -> list[str]:
    """A row for each list of types that attributes of these ops may have."""
    places: dict[tuple[str, ...], list[str]] = {}
    for definition in definitions:
        for attr in definition.attr:
            if attr.type == "type" and attr.HasField("allowed_values"):
                types = tuple(map(dtype_name, attr.allowed_values.list.type))
                places.setdefault(types, []).append(f"{definition.name}.{attr.name}")
    return [f"{' '.join(types)}: {' '.join(names)}" for types, names in sorted(places.items())]


def limit_rows(definitions) -> list[str]:
    """A row for each limit on strings, integers and lengths."""
    places: dict[str, list[str]] = {}
    for definition in definitions:
        for attr in definition.attr:
            strings = [text.decode() for text in attr.allowed_values.list.s]
            limit = json.dumps(strings, separators=(",", ":")) if strings else str(attr.minimum)
            if strings or attr.has_minimum:
                places.setdefault(limit, []).append(f"{definition.name}.{attr.name}")
    return [f"{limit}: {' '.join(names)}" for limit, names in sorted(places.items())]


def registered_ops() -> dict:
    """Every op this TensorFlow knows, by name."""
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in ops.op}


def rewrite(table: Path, rows: list[str]) -> None:
    """Puts rows in the place of those that a table has."""
    head, _, _ = table.read_text().partition("\n\n")
    table.write_text("\n".join([head, "", *rows, ""]))


def main(extra: list[str]) -> None:
    """Rewrites the table with its own ops and those of `extra`."""
    matches = re.findall(r"^!?(\w+) .*;", TABLE.read_text(), re.M)
    ops = registered_ops()
    unknown = [name for name in extra if name not in ops]
    if unknown:
        raise SystemExit(f"this TensorFlow has no op {', '.join(unknown)}")
    names = sorted({*matches, *extra} & ops.keys())
    rows = [row(ops[name]) for name in names]
    rewrite(TABLE, rows)
    rewrite(ALLOWED, type_rows(ops[name] for name in names))
    rewrite(LIMITS, limit_rows(ops[name] for name in names))
    sys.stdout.write(f"{len(rows)} rows in {TABLE.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
