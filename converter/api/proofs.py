"""What a conversion proves of its files: the float one against the source, the quantized one
against the float one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from ..ir.graph import Graph
    from ..ir.write import WrittenModel
    from ..sources.source import Source
    from ..verify.verification import Function, Verified
    from .samples import Samples


MAX_WORK = 1 << 30  # steps on single numbers that measuring a quantized file may take, about


class Noise(NamedTuple):
    """How far a quantized file lies from the float one.

    Attributes:
        outputs: decibels of signal to noise by output name.
        readers: the same of tensors that are read in several scales, by "tensor -> reader".
        inputs: the inputs on which it was measured, in words.
    """

    outputs: dict[str, float]
    readers: dict[str, float]
    inputs: str


def verified_on(
    sources: Sequence[Source],
    functions: Sequence[Function],
    samples: Samples,
    verify_inputs: Sequence[list[list[np.ndarray]]],
) -> dict[str, Verified]:
    """On which shapes each function of the float file was compared with its source, by signature.

    Raises ConverterError, naming the first operator that differs.
    """
    from ..verify.verification import verify

    rows = {}
    for i, (source, function) in enumerate(zip(sources, functions, strict=True)):
        sample_inputs = samples.first(i) or None
        rows[source.key or ""] = verify(
            source.oracle(), function, sample_inputs, first=verify_inputs[i]
        )
    return rows


class Inputs(NamedTuple):
    """Inputs that two files are compared on.

    Attributes:
        rows: arrays in input order.
        words: what they are.
    """

    rows: list[list[np.ndarray]]
    words: str


def n_measured(graph: Graph) -> int:
    """How many samples a quantized graph is measured on: many where they cost little."""
    from ..quantize.islands import work_of
    from .samples import MAX_MEASURED, N_VERIFIED

    work = sum(work_of(op) for part in graph.reachable() for op in part.ops)
    return max(N_VERIFIED, min(MAX_MEASURED, MAX_WORK // max(work, 1)))


def sampled(rows: list[list[np.ndarray]]) -> Inputs:
    """Samples of the user's."""
    return Inputs(rows, f"{len(rows)} sample{'s' * (len(rows) > 1)} of representative_dataset")


def tried(verified: Verified, graph: Graph, is_random: bool, is_stated: bool) -> Inputs:
    """What the float file was compared on.

    Args:
        verified: that.
        graph: the quantized graph.
        is_random: whether it was drawn, not the user's `verify_inputs`. Then it is moved into what
            the integers can hold;
        is_stated: not where model or caller state the ranges, which it may show to be wrong.
    """
    if not is_random:
        return Inputs([verified.inputs], "verify_inputs")
    from ..quantize.check import within_limits

    rows = [verified.inputs if is_stated else within_limits(graph, verified.inputs)]
    return Inputs(rows, "seeded random inputs")


def noise_of(
    graph: Graph,
    i: int,
    plain: tuple[WrittenModel, list[Function]],
    quantized: tuple[WrittenModel, list[Function]],
    inputs: Inputs,
    doubt: str,
) -> Noise:
    """Compares function `i` of the quantized file with that of the float one.

    Args:
        graph: the quantized graph.
        i: its number.
        plain, quantized: both files and their functions.
        inputs: what they are compared on.
        doubt: why an output that drowns in noise may yet be right; empty without a reason.

    Raises ConverterError when an output drowns in noise that samples could have told of.
    """
    from ..quantize.check import compare, compare_readers

    before, after = plain[1][i], quantized[1][i]
    tensors = plain[0].tensors[i], quantized[0].tensors[i]
    return Noise(
        compare(before, after, inputs.rows, doubt),
        compare_readers(graph, before, after, tensors, inputs.rows),
        inputs.words,
    )
