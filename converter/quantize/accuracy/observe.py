"""What flows into operators while a float model runs on samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...ir.graph import Graph, Tensor

if TYPE_CHECKING:
    from ...api.samples import Sample
    from ...ir.write import WrittenModel
    from ...verify.verification import Function

Write = Callable[[list[Graph]], "tuple[WrittenModel, list[Function]]"]
"""Writes float graphs; the file, and a function for each of them."""


class Written(NamedTuple):
    """Float graphs as a file."""

    model: WrittenModel
    functions: list[Function]

    def values(
        self, samples: Sequence[Sample], graph: int, tensors: Sequence[Tensor]
    ) -> Iterator[list[np.ndarray]]:
        """The values of some tensors of one graph, sample by sample.

        Args:
            samples: (number of the graph, what messages call it, arrays in input order).
            graph: the number of the graph.
            tensors: tensors that are not constant.
        """
        function = self.functions[graph]
        index = {tensor: i for i, tensor in enumerate(self.model.tensors[graph])}
        interpreter = function.interpreter(preserve=True)
        for number, _, arrays in samples:
            if number == graph:
                function.run(interpreter, arrays)
                yield [
                    interpreter.get_tensor(index[tensor], function.subgraph) for tensor in tensors
                ]
