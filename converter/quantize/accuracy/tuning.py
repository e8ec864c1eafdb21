"""The algorithms of a recipe in their order, around the measuring of ranges.

First those that leave the float model's function as it is, which is proved on the samples; then
ranges are measured; then weights are rounded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....schema.errors import ConverterError
from ...callers import caller
from ...ir.graph import Graph, Tensor
from ..recipe import Recipe
from .equalization import channel_maxima, equalize, smooth, smoothable
from .observe import Write, Written
from .rotation import rotate
from .rounding import recover_grids, round_weights

if TYPE_CHECKING:
    from ...api.samples import Sample
    from ...ir.write import WrittenModel
    from ...verify.verification import Function

TOLERANCE = 1e-3  # of an output's largest value: what rescaling in float32 may change
N_SAMPLES = 16  # that statistics of channels are taken of


class Tuning:
    """Applies the algorithms of a recipe to float graphs.

    Args:
        graphs: float graphs; their constants are replaced.
        recipe: what is asked for.
        write: makes a file of float graphs.
        samples: (number of the graph, what messages call it, arrays in input order).
    """

    def __init__(
        self, graphs: list[Graph], recipe: Recipe, write: Write, samples: Sequence[Sample]
    ) -> None:
        self._graphs, self._recipe, self._write = graphs, recipe, write
        self._samples = samples

    def preserve(
        self, written: WrittenModel, functions: list[Function]
    ) -> tuple[WrittenModel, list[Function]]:
        """Applies what leaves the function as it is; the file of the graphs afterwards.

        Raises ConverterError when an output changes all the same.
        Warns of algorithms that nothing in the model fits.
        """
        before = after = Written(written, functions)
        for algorithm in self._recipe.algorithms:
            apply = PRESERVING.get(algorithm.name)
            if apply is None:
                continue
            n = apply(self, after, **dict(algorithm.parameters))
            if not n:
                warn_of_none(algorithm.name)
                continue
            after = Written(*self._write(self._graphs))
        if after is not before:
            self._check(before, after)
        return after.model, after.functions

    def round(self, advance: Callable[[], None]) -> None:
        """Rounds weights and corrects biases."""
        rounds = [row.name for row in self._recipe.algorithms if row.name not in PRESERVING]
        arguments = (self._graphs, self._recipe, self._write, self._samples, advance)
        if rounds and not round_weights(*arguments):
            warn_of_none(", ".join(rounds))

    def equalize(self, _: Written, sweeps: float = 40) -> int:
        """Cross-layer equalization."""
        return sum(equalize(graph, int(sweeps)) for graph in self._graphs)

    def smooth(self, written: Written, alpha: float = 0.5, linear: float = 0) -> int:
        """SmoothQuant."""
        n = 0
        for i, graph in enumerate(self._graphs):
            tensors = smoothable(graph)
            samples = [sample for sample in self._samples if sample[0] == i][:N_SAMPLES]
            if tensors and samples:
                columns = zip(*written.values(samples, i, tensors), strict=True)
                rows = map(channel_maxima, columns)
                maxima: dict[Tensor, np.ndarray] = dict(zip(tensors, rows, strict=True))
                n += smooth(graph, maxima, alpha, bool(linear))
        return n

    def rotate(self, _: Written) -> int:
        """Hadamard rotations."""
        return sum(map(rotate, self._graphs))

    def recover(self, _: Written) -> int:
        """Grids that weights lie on."""
        return recover_grids(self._graphs, self._recipe)

    def _check(self, before: Written, after: Written) -> None:
        """Raises ConverterError when an output is another than before."""
        for label, expected, actual in self._outputs(before, after):
            if expected.dtype.kind != "f" or not expected.size:
                continue
            largest = float(np.abs(expected).max())
            difference = float(np.abs(expected - actual).max())
            if not difference <= TOLERANCE * max(largest, 1e-6):
                names = ", ".join(row.name for row in self._recipe.algorithms)
                raise ConverterError(
                    f"{label}: {names} must leave the float model's answers as they are, but one "
                    f"changes by {difference:.3g} of {largest:.3g}; please report it, and leave "
                    "them out one by one"
                )

    def _outputs(
        self, before: Written, after: Written
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """The outputs of both files on the first samples."""
        for i in range(len(self._graphs)):
            pair = before.functions[i], after.functions[i]
            interpreters = [function.interpreter() for function in pair]
            samples = [sample for sample in self._samples if sample[0] == i][:N_SAMPLES]
            for _, label, arrays in samples:
                answers = [f.run(one, arrays) for f, one in zip(pair, interpreters, strict=True)]
                for expected, actual in zip(*answers, strict=True):
                    yield label, expected, actual


PRESERVING: dict[str, Callable[..., Any]] = {
    "recovery": Tuning.recover,
    "equalization": Tuning.equalize,
    "smooth_quant": Tuning.smooth,
    "hadamard": Tuning.rotate,
}
"""What leaves the function of the float model as it is; it returns how often it applied."""


def warn_of_none(names: str) -> None:
    """Warns that nothing in the model is what some algorithms work on."""
    warnings.warn(
        f"{names}: the model has nothing that it applies to, and is quantized without",
        stacklevel=caller(),
    )
