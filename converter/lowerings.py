"""The lowerings of one kind of source: which function makes TFLite operators of which operation."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence

from ..schema.tables import BUILTIN_OPERATOR

SHOWN = 8  # kinds of operations listed in an error message
VERSION = re.compile(r"(V\d+|Op)$")
BUILTINS = {VERSION.sub("", name.replace("_", "")): name for name in BUILTIN_OPERATOR}
OTHERWISE_NAMED = {
    "ConvTranspose": "TRANSPOSE_CONV",
    "LSTM": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "Loop": "WHILE",
    "RNN": "UNIDIRECTIONAL_SEQUENCE_RNN",
    "LookupTableFind": "HASHTABLE_FIND",
    "LookupTableImport": "HASHTABLE_IMPORT",
    "LookupTableSize": "HASHTABLE_SIZE",
}
"""Operations whose builtin has another name."""


class Lowerings:
    """Functions by operation type; their modules are imported when one is first asked for.

    Args:
        package: The package with the modules.
        families: Their names.
    """

    def __init__(self, package: str | None, families: Sequence[str]) -> None:
        self.functions: dict[str, Callable] = {}
        self._package, self._families = package, families
        self._imported = False

    def lower(self, *types: str) -> Callable:
        """Registers a function `(node, b) -> tensor or tuple of tensors` for operation types.

        `b` is the Builder; the tensors returned are the operation's outputs, in order.
        """

        def register(function: Callable) -> Callable:
            for type_ in types:
                if type_ in self.functions:
                    raise ValueError(f"two lowerings are registered for {type_}")
                self.functions[type_] = function
            return function

        return register

    def lower_rows(self, rows: dict[str, str]) -> None:
        """Registers operations that become one builtin of the same inputs and default options."""
        for type_, kind in rows.items():
            self.lower(type_)(lambda node, b, kind=kind: getattr(b, kind)(*node.inputs))

    def lowering_of(self, type_: str) -> Callable | None:
        """The lowering of an operation type, None when there is none."""
        if not self._imported:
            for family in self._families:
                importlib.import_module(f".{family}", self._package)
            self._imported = True
        return self.functions.get(type_)


def builtin_of(type_: str) -> str | None:
    """The TFLite builtin that an operation of TensorFlow or ONNX is named like, if there is one.

    >>> builtin_of("HashTableV2"), builtin_of("AssignVariableOp"), builtin_of("Cholesky")
    ('HASHTABLE', 'ASSIGN_VARIABLE', None)
    """
    stem = VERSION.sub("", type_)
    if stem.startswith("FakeQuant"):
        return "FAKE_QUANT"
    return OTHERWISE_NAMED.get(stem, BUILTINS.get(stem.upper()))


def listed_unsupported(missing: Mapping[str, Sequence[str]]) -> str:
    """What an error says of operations without a lowering: {type: names of its nodes}."""
    rows = sorted(missing.items(), key=lambda row: -len(row[1]))
    heads = {
        True: "Some ops are not supported yet, though TFLite has operators for them:",
        False: "Some ops are not supported by the native TFLite runtime:",
    }
    lines = []
    for is_builtin, head in heads.items():
        some = [row for row in rows if (builtin_of(row[0]) is not None) == is_builtin]
        if not some:
            continue
        lines.append(head)
        for type_, names in some[:SHOWN]:
            builtin = f" ({builtin_of(type_)})" if is_builtin else ""
            lines.append(f"  {type_} x {len(names)}, first at node '{names[0]}'{builtin}")
        if some[SHOWN:]:
            rest = ", ".join(sorted(type_ for type_, _ in some[SHOWN:]))
            lines.append(f"  and {len(some) - SHOWN} more types: {rest}")
    return "\n".join(lines)
