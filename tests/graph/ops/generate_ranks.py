"""Writes graph/core/signatures/operand_ranks.txt: the ranks that shape functions demand.

Needs an environment with TensorFlow, which flatlite itself never does:

    python tests/graph/ops/generate_ranks.py

An op of the signature table is built over placeholders of unknown rank, one of them with each rank
from 0 to 8 in turn; what its shape function refuses in its words for ranks is a demand. Attributes
without a default take the first value that TensorFlow accepts.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false
from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

import tensorflow.compat.v1 as tf
from generate_signatures import dtype_name, registered_ops

TABLE = Path(__file__).parents[3] / "graph/core/signatures/operand_ranks.txt"
SIGNATURES = TABLE.with_name("op_signatures.txt")
RANKS = range(9)
REFUSED = re.compile(r"Shape must be (at least |at most )?rank (\d+) but is rank \d+")
OF_ATTRIBUTES = {"RaggedGather.indices"}
"""Inputs whose rank an attribute says."""
SIGNS = {"at least ": ">=", "at most ": "<=", None: ""}
VALUES = {
    "int": [1, 2, 0, 4],
    "float": [1.0],
    "bool": [True],
    "string": ["", "NHWC", "bilinear"],
    "type": [tf.float32, tf.int32, tf.string, tf.bool],
    "shape": [tf.TensorShape(None), tf.TensorShape([])],
    "list(int)": [[1, 1, 1, 1], [1, 1, 1, 1, 1], [1], []],
    "list(float)": [[1.0], []],
    "list(string)": [[b"a"], []],
    "list(bool)": [[True], []],
    "list(type)": [[tf.float32], [tf.int64], [tf.string], []],
    "list(shape)": [[tf.TensorShape(None)], []],
}


def types_of_inputs(definition) -> set[str]:
    """The attributes that the types and numbers of the inputs say."""
    return {
        name
        for argument in definition.input_arg
        for name in (argument.type_attr, argument.number_attr, argument.type_list_attr)
        if name
    }


def candidates(attr) -> list:
    """Values to try for an attribute."""
    if attr.HasField("allowed_values") and attr.type in ("type", "string"):
        values = attr.allowed_values.list
        return [tf.as_dtype(t) for t in values.type] or [text.decode() for text in values.s]
    return VALUES.get(attr.type, [])


def settings(definition):
    """Combinations of values for what has no default: attributes, and types of inputs."""
    types = types_of_inputs(definition)
    free = [
        attr
        for attr in definition.attr
        if (attr.type == "type" if attr.name in types else not attr.HasField("default_value"))
    ]
    lists = [candidates(attr)[:4] for attr in free]
    for values in itertools.islice(itertools.product(*lists), 64):
        yield {attr.name: value for attr, value in zip(free, values, strict=True)}


def placeholders(definition, values, position=None, shape=None):
    """An input for each argument, that at `position` of a shape, the others of unknown rank."""
    inputs = {}
    for i, argument in enumerate(definition.input_arg):
        dtype = values.get(argument.type_attr) or (tf.as_dtype(argument.type or tf.float32))
        count = 2 if argument.number_attr or argument.type_list_attr else 1
        tensors = [tf.placeholder(dtype, shape if i == position else None) for _ in range(count)]
        inputs[argument.name] = tensors if count > 1 else tensors[0]
    return inputs


def outcome(definition, values, position=None, rank=None) -> str | None:
    """None where TensorFlow builds the op, else its error."""
    types = types_of_inputs(definition)
    attrs = {name: value for name, value in values.items() if name not in types}
    shape = None if rank is None else [None] * rank
    with tf.Graph().as_default():
        try:
            inputs = placeholders(definition, values, position, shape)
            getattr(tf.raw_ops, definition.name)(**inputs, **attrs)
        except Exception as error:
            return str(error)
    return None


def demand(definition, values, position) -> str | None:
    """The demand on the rank of one input, None where there is none that is always the same."""
    errors = {rank: outcome(definition, values, position, rank) for rank in RANKS}
    matches = {rank: REFUSED.search(error) for rank, error in errors.items() if error}
    rows = {(m[1], int(m[2])) for m in matches.values() if m}
    if not rows or len(rows) > 2 or None in matches.values():
        return None
    words = ",".join(sorted(f"{SIGNS[sign]}{rank}" for sign, rank in rows))
    taken = [rank for rank, error in errors.items() if error is None]
    return words if taken == [rank for rank in RANKS if fits(words, rank)] else None


def fits(words: str, rank: int) -> bool:
    """Whether a rank meets the demands."""
    tests = {">": rank.__ge__, "<": rank.__le__}
    return all(
        tests.get(word[0], rank.__eq__)(int(word.lstrip("<>="))) for word in words.split(",")
    )


def variants(definition):
    """Settings that may change a rank: the layout of data, and whether an axis is meant.

    Layouts in which vectors of channels are apart are left out.
    """
    names = {attr.name: attr for attr in definition.attr}
    if "data_format" in names:
        layouts = [name.decode() for name in names["data_format"].allowed_values.list.s]
        return [{"data_format": name} for name in layouts if not name.endswith("VECT_C")]
    if "axis" in names and names["axis"].type == "int":
        return [{"axis": -1}, {"axis": 0}]
    return [{}]


def demands(definition) -> dict[str, str]:
    """The demands of one op, by input."""
    rows = {}
    working = (values for values in settings(definition) if outcome(definition, values) is None)
    values = next(working, None)
    if values is None:
        return rows
    settings_tried = [values | variant for variant in variants(definition)]
    for i, argument in enumerate(definition.input_arg):
        is_plain = not argument.number_attr and not argument.type_list_attr and not argument.is_ref
        if is_plain and dtype_name(argument.type) not in ("resource", "variant"):
            words = {demand(definition, tried, i) for tried in settings_tried}
            if len(words) == 1 and None not in words:
                rows[argument.name] = words.pop()
    return rows


def apart(definition) -> dict[str, str]:
    """The demands of one op, built in a process of its own: TensorFlow aborts at some."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, json.dumps(demands(definition)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {}


def main() -> None:
    """Rewrites the table for the ops of the signature table."""
    tf.disable_eager_execution()
    names = re.findall(r"^!?(\w+) .*;", SIGNATURES.read_text(), re.M)
    ops, places = registered_ops(), defaultdict(list)
    for name in sorted(set(names) & ops.keys() & set(dir(tf.raw_ops))):
        for argument, words in apart(ops[name]).items():
            if (place := f"{name}.{argument}") not in OF_ATTRIBUTES:
                places[words].append(place)
    lines = [f"{words}: {' '.join(sorted(rows))}" for words, rows in sorted(places.items())]
    head, _, _ = TABLE.read_text().partition("\n\n")
    TABLE.write_text("\n".join([head, "", *lines, ""]))
    sys.stdout.write(f"{sum(map(len, places.values()))} demands in {TABLE.name}\n")


if __name__ == "__main__":
    main()
