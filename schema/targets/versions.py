"""Which version of an operator a model needs, and which release of the runtime.

A version grows when an operator learns something new; a file names the lowest version that can do
what it asks, so that old runtimes run what they can.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..record import Record
from ..runtime_versions import FIRST_RELEASES
from ..structure import Model, Operator, Subgraph, Tensor
from .version_rules import FIRST_VERSION, RULES, Use

METADATA_NAME = "min_runtime_version"
"""The metadata entry that holds `runtime_version`."""
METADATA_BYTES = 16
"""Its length; the end is filled with zeros."""


def operator_version(
    op: str,
    options: Record | None,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
) -> int:
    """The lowest version of a builtin operator that says what this one says.

    Args:
        op: Name of the operator.
        options: Its options record, None for defaults.
        inputs: Its operands, None for one left out; dtype, shape, quantization and sparsity count.
        outputs: Its results.
    """
    use = Use(options, inputs, outputs)
    for version, holds in RULES.get(op, ()):
        if holds(use):
            return version
    return FIRST_VERSION.get(op, 1)


def update_versions(model: Model) -> None:
    """Gives every builtin operator of a model its version, and the model the release it needs.

    Operators of one kind get the highest version any of them needs, as in files of TensorFlow: the
    file then names the kind once.
    """
    needed: dict[str, int] = {}
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            if operator.op != "CUSTOM":
                version = _version_in(subgraph, operator)
                needed[operator.op] = max(needed.get(operator.op, 1), version)
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            operator.version = needed.get(operator.op, operator.version)
    release = runtime_version(model).encode()
    model.metadata[METADATA_NAME] = release.ljust(METADATA_BYTES, b"\0")


def runtime_version(model: Model) -> str:
    """The first release whose runtime knows all operators of a model in their versions.

    Custom operators, and versions no release is on record for, do not count.
    """
    operators = [operator for subgraph in model.subgraphs for operator in subgraph.operators]
    releases = {first_release(operator.op, operator.version) for operator in operators}
    return max(releases, key=_order, default="")


def first_release(op: str, version: int) -> str:
    """The first release whose runtime knows an operator in that version; "" if not on record.

    >>> first_release("GELU", 1)
    '2.9.0'
    """
    releases = FIRST_RELEASES.get(op, "").split()
    release = releases[version - 1] if 1 <= version <= len(releases) else ""
    return "" if release == "-" else release


def _order(release: str) -> list[int]:
    """What makes releases sort by age."""
    return [int(part) for part in release.split(".")] if release else []


def _version_in(subgraph: Subgraph, operator: Operator) -> int:
    """The version of an operator of a subgraph."""
    tensors = subgraph.tensors
    return operator_version(
        operator.op,
        operator.options,
        [tensors[i] if i >= 0 else None for i in operator.inputs],
        [tensors[i] for i in operator.outputs],
    )
