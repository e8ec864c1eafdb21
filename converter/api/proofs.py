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


def noise_of(
    source: Source,
    graph: Graph,
    i: int,
    plain: tuple[WrittenModel, list[Function]],
    quantized: tuple[WrittenModel, list[Function]],
    sample_inputs: list[list[np.ndarray]],
    is_stated: bool,
) -> Noise:
    """Compares function `i` of the quantized file with that of the float one.

    Args:
        source: what it was made of.
        graph: the quantized graph.
        i: its number.
        plain, quantized: both files and their functions.
        sample_inputs: samples; without any, random numbers are compared.
        is_stated: whether model or caller state the ranges, which normals may show to be wrong;
            else random numbers lie in what the integers can hold.

    Raises ConverterError when an output drowns in noise that samples could have told of.
    """
    from ..quantize.check import compare, compare_readers, within_limits
    from ..verify.trial_inputs import trial_inputs

    before, after = plain[1][i], quantized[1][i]
    inputs = sample_inputs
    if not inputs:
        normals = next(trial_inputs(source.oracle(), before.sizes, before.is_empty))
        inputs = [normals if is_stated else within_limits(graph, normals)]
    n_samples = len(sample_inputs)
    words = f"{n_samples} sample{'s' * (n_samples > 1)} of representative_dataset"
    tensors = plain[0].tensors[i], quantized[0].tensors[i]
    return Noise(
        compare(before, after, inputs, is_stated),
        compare_readers(graph, before, after, tensors, inputs),
        words if n_samples else "seeded random inputs",
    )
