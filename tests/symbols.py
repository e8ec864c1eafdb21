"""Prints which symbols of an API description exist, and whose signatures differ: `make symbols`.

    python tests/symbols.py ../shared/spec/api.json              a table by area
    python tests/symbols.py ../shared/spec/api.json core nest    and what lacks there, with reasons

The description is a list of rows with `symbol` (tf.compat.v1.train.Saver.save), `kind`, `parent`,
`params` (each with `name` and `default`) and `area`. Attributes of instances count where a class
declares them, has them as a property or sets them in its constructors.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOTS = (
    ("tf.compat.v1.", "flatlite.compat.v1"),
    ("tf.compat.v2.", "flatlite"),
    ("tf.", "flatlite.compat.v1"),
    ("tf.", "flatlite.compat.v2"),
    ("tf.", "flatlite"),
)
BARE = ("tf.", "tf.train.", "tf.queue.", "tf.nn.rnn_cell.", "tf.lite.constants.")
INNER = (
    *("flatlite.schema.proto", "flatlite.training.checkpoints.checkpoints"),
    "flatlite.converter.api.toco",
)
"""Where a name without a module is looked for: a description names messages and bases so."""
KINDS = ("function", "class", "method")
ABSENT = object()
REASONS = {
    "SequenceFeatures": "a layer of tf.keras",
    "Queue": "tf.queue.QueueBase",
    "SaverBuilder": "a private class of TensorFlow; tf.train.Saver takes no builder of its users",
    "MetaInfoDef": "tf.MetaGraphDef.MetaInfoDef",
    "FileDescriptorSet": "google.protobuf.descriptor_pb2 has it",
    "STANDARD_PS_OPS": "a private constant of TensorFlow, the default of replica_device_setter",
}
"""Why names without a module are not there; those of a module say it themselves."""


def reason(symbol: str) -> str:
    """What the module of a symbol that is not there says of it, or ""."""
    if not symbol.startswith("tf."):
        return REASONS.get(symbol, "")
    value: Any = importlib.import_module("flatlite.compat.v1")
    try:
        for word in symbol.removeprefix("tf.").removeprefix("compat.v1.").split("."):
            value = getattr(value, word)
    except AttributeError as error:
        return str(error).partition(": ")[2]
    return ""


def resolved(symbol: str) -> Any:
    """The object a symbol names, or ABSENT."""
    for prefix, root in ROOTS:
        if not symbol.startswith(prefix):
            continue
        value: Any = importlib.import_module(root)
        for word in re.split(r"\.(?!\.|\))", symbol.removeprefix(prefix)):
            value = member(value, word)
            if value is ABSENT:
                break
        else:
            return value
    return ABSENT if symbol.startswith("tf.") else bare(symbol)


def bare(name: str) -> Any:
    """The object of a name without a module, or ABSENT."""
    public = (resolved(prefix + name) for prefix in BARE)
    inner = (getattr(importlib.import_module(home), name, ABSENT) for home in INNER)
    return next((value for value in (*public, *inner) if value is not ABSENT), ABSENT)


def member(owner: Any, name: str) -> Any:
    """An attribute of an object, also one that only instances of a class have.

    `restore(...)` is the class of what the method says it gives.
    """
    if name.endswith("(...)"):
        method = member(owner, name.removesuffix("(...)"))
        home = vars(importlib.import_module(method.__module__))
        return eval(method.__annotations__["return"], home)
    try:
        return getattr(owner, name)
    except AttributeError:
        pass
    if name in getattr(getattr(owner, "DESCRIPTOR", None), "fields_by_name", ()):
        return None  # a field of a message
    return None if isinstance(owner, type) and name in instance_attributes(owner) else ABSENT


def instance_attributes(owner: type) -> set[str]:
    """The names that a class declares, or that its methods set on `self`."""
    names: set[str] = set()
    for base in owner.__mro__[:-1]:
        names |= set(getattr(base, "__annotations__", ()))
        try:
            names |= set(re.findall(r"self\.(\w+)(?:, self\.\w+)* *[:=]", inspect.getsource(base)))
        except (OSError, TypeError):
            continue
    return names


def parameters(symbol: Any) -> list[str] | None:
    """The names of what a function or class is called with, without self; None when unknown."""
    try:
        signature = inspect.signature(symbol)
    except (TypeError, ValueError):
        return None
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    return [
        {2: "*", 4: "**"}.get(signature.parameters[name].kind.value, "") + name for name in names
    ]


def differs(row: dict[str, Any], symbol: Any) -> str:
    """How a signature differs from the one that is described; "" where it does not.

    Parameters of ours behind those that are described are no difference.
    """
    is_operator = row["symbol"].endswith("__")  # described with the operand it is called on
    if row["signature"] is None or is_operator or row["kind"] not in KINDS:
        return ""
    ours = parameters(symbol)
    theirs = [parameter["name"] for parameter in row["params"]]
    if ours is None or any(name.startswith("*") for name in theirs):
        return ""
    theirs = [name for name in theirs if name not in ("self", "cls")]
    same = ours[: len(theirs)] == theirs
    return "" if same else f"({', '.join(ours)}), not ({', '.join(theirs)})"


def main(path: str, areas: list[str]) -> None:
    """Prints the table, and what lacks in `areas`."""
    rows = json.loads(Path(path).read_text())
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    lines: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        area = row["area"]
        names = [row["symbol"], *row.get("aliases", ())]
        actual = next((x for x in map(resolved, names) if x is not ABSENT), ABSENT)
        count = counts[area]
        count[0] += 1
        if actual is ABSENT:
            why = reason(row["symbol"])
            line = f"  {row['symbol']} ({row['kind']}) is not there"
            lines[area].append(f"{line}: {why}" if why else line)
            continue
        count[1] += 1
        difference = "" if isinstance(actual, types.ModuleType) else differs(row, actual)
        count[2] += not difference
        if difference:
            lines[area].append(f"  {row['symbol']}{difference}")
    table = [f"{'area':24}{'symbols':>8}{'there':>8}{'alike':>8}"]
    for area, count in sorted(counts.items()):
        table.append(f"{area:24}{count[0]:8}{count[1]:8}{count[2]:8}")
        if area in areas or "all" in areas:
            table += lines[area]
    totals = [sum(count[i] for count in counts.values()) for i in range(3)]
    table.append(f"{'all':24}{totals[0]:8}{totals[1]:8}{totals[2]:8}")
    sys.stdout.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
