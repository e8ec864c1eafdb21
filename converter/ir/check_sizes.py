"""Sizes proved by example: what an IR says of them holds when they are other numbers.

Every operator's `prepare` runs once more, on plain numbers, for several choices of the unknown
sizes. A difference is an error of this package: then no file is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from math import isfinite
from typing import Any

import numpy as np

from ...engine.run.faults import Fault
from ...interpreter.plan.node import NeedsValue, NodeError
from ...schema.errors import ConverterError
from . import dims
from .dim_values import evaluate
from .dims import Dim, Extent
from .elements import numbers_of
from .graph import Graph, Op, Tensor, array_of
from .prepare import Outcome, as_operand, run_prepare
from .sizes import primes

PRIMES = tuple(takewhile(lambda n: n < 500, primes(5)))
LARGE = 100_003  # and more is above 10**5
DECLARED = ("CUSTOM", "READ_VARIABLE")  # whose results the file declares, and no prepare tells
REFUSALS = (NodeError, NeedsValue, Fault, LookupError, ZeroDivisionError, OverflowError)
LIMIT = 2**31  # numbers from here on are none of a size's
EXACT = 2**24  # integers up to which float32 holds each

BINDINGS: tuple[Callable[[int], int], ...] = (
    lambda i: 1,
    lambda i: PRIMES[i % len(PRIMES)],
    lambda i: PRIMES[-1 - i % len(PRIMES)],
    lambda i: 480,
    lambda i: LARGE + 2 * i,
    lambda i: 2 * LARGE - 2 * i,
)
"""The number of the i-th unknown size."""
SINGLE_SYMBOL_BINDINGS = (BINDINGS[0], BINDINGS[1], BINDINGS[3], BINDINGS[4])
"""Those for a single unknown size, of which none is larger than another."""


def check_sizes(graph: Graph) -> None:
    """Raises ConverterError where an operator gives another size than the IR says.

    A choice of sizes that an operator refuses says nothing of what comes after it, one that an
    operator of the source refused nothing at all: a pass may have taken it away.
    """
    demands = _all_demands(graph)
    for subgraph in graph.reachable():
        if any(not tensor.is_static for tensor in subgraph.tensors()):
            for binding in BINDINGS if n_symbols(subgraph) > 1 else SINGLE_SYMBOL_BINDINGS:
                _Check(binding, graph.scope.aliases).run(subgraph, demands[subgraph])


def _all_demands(graph: Graph) -> dict[Graph, set[Dim]]:
    """For each graph that is called, the sizes that are 0 whenever it is run."""
    demands = {graph: {*graph.scope.demands, *graph.demands}}
    for caller in graph.reachable():
        for callee in caller.callees():
            if callee not in demands:
                demands[callee] = {*demands[caller], *callee.demands}
    return demands


def n_symbols(graph: Graph) -> int:
    """How many unknown sizes there are; those that only the run can tell count, too."""
    sizes = {x for tensor in graph.tensors() for x in tensor.sizes or () if isinstance(x, Dim)}
    unknown_ranks = sum(tensor.sizes is None for tensor in graph.tensors())
    return len({name for x in sizes for name in x.symbols}) + unknown_ranks


class _InvalidSizes(Exception):
    """These sizes are none the graph takes."""


class _Check:
    """One choice of the unknown sizes of a graph.

    Opaque numbers that are needed before an operator gives them are a guess: where one does
    otherwise, the choice is none that the graph can take.
    """

    def __init__(self, binding: Callable[[int], int], aliases: Mapping[str, set[str]]) -> None:
        self._numbers: Iterator[int] = map(binding, count())
        self._aliases = aliases
        self._guesses: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.shapes: dict[Tensor, tuple[int, ...] | None] = {}
        self.values: dict[Tensor, np.ndarray | None] = {}

    def run(self, graph: Graph, demands: Iterable[Dim]) -> None:
        """Compares all that can be compared."""
        demands = list(demands)
        try:
            for tensor in graph.inputs:
                self._assume(tensor)
            self._refuse(demands)
            for op in graph.ops:
                n_known = len(self.numbers)
                self._step(op)
                if len(self.numbers) > n_known:
                    self._refuse(demands)
        except _InvalidSizes:
            return

    def _refuse(self, demands: Iterable[Dim]) -> None:
        for demand in demands:
            if demand.symbols <= self.numbers.keys() and self._evaluated(demand) != 0:
                raise _InvalidSizes

    def _assume(self, tensor: Tensor) -> None:
        """Gives a tensor that no prepare speaks of the shape and value the IR says."""
        self.values[tensor] = None
        self.shapes[tensor] = None
        if tensor.sizes is not None:
            shape = tuple(self._number(size) for size in tensor.sizes)
            if min(shape, default=0) < 0:
                raise _InvalidSizes
            self.shapes[tensor] = shape
        if tensor.elements is not None:
            extents = tensor.elements.extents
            flat = [self._number(x) if isinstance(x, Dim) else x for x in extents.flat]
            self.values[tensor] = numbers_of(array_of(flat, extents.shape), tensor.dtype)

    def _number(self, size: Extent) -> int:
        """The number of a size; symbols that are new get theirs."""
        missing = sorted(size.symbols - self.numbers.keys()) if isinstance(size, Dim) else []
        if missing:
            self._guesses |= dims.opaque_names(size) & {*missing}
        for name in missing:
            if name not in self.numbers:
                self._bind(name, next(self._numbers))
        return self._evaluated(size)

    def _bind(self, name: str, number: int) -> None:
        """Gives a symbol its number, and each other name that the number has."""
        self.numbers.update(dict.fromkeys(self._aliases.get(name, {name}), number))

    def _evaluated(self, size: Extent) -> int:
        try:
            number = evaluate(size, self.numbers)
        except ZeroDivisionError:
            raise _InvalidSizes from None
        if abs(number) >= LIMIT:
            raise _InvalidSizes
        return number

    def _step(self, op: Op) -> None:
        inputs = [t for t in op.present_inputs if t.value is None]
        if op.graphs or op.kind in DECLARED or any(self.shapes.get(t, ()) is None for t in inputs):
            for tensor in op.outputs:
                self._assume(tensor)
            return
        for tensor in inputs:
            if tensor not in self.shapes:  # a variable
                self._assume(tensor)
        try:
            outcomes = self._run_prepare(op)
        except NeedsValue:
            for tensor in op.outputs:
                self._assume(tensor)
            return
        except REFUSALS:
            raise _InvalidSizes from None
        for tensor, outcome in zip(op.outputs, outcomes, strict=True):
            self._compare(op, tensor, outcome)

    def _run_prepare(self, op: Op) -> Sequence[Outcome]:
        operands = [
            None
            if tensor is None
            else as_operand(tensor, self.shapes.get(tensor) or (), self._value(tensor))
            for tensor in op.inputs
        ]
        return run_prepare(op, [tensor.dtype for tensor in op.outputs], operands)

    def _value(self, tensor: Tensor) -> np.ndarray | None:
        return tensor.value if tensor.value is not None else self.values[tensor]

    def _compare(self, op: Op, tensor: Tensor, outcome: Outcome) -> None:
        shape = []
        if tensor.sizes is None:
            self.shapes[tensor] = None if None in outcome.shape else tuple(outcome.shape)
        elif len(tensor.sizes) != len(outcome.shape):
            self._fail(op, tensor, outcome.shape)
        else:
            for size, actual in zip(tensor.sizes, outcome.shape, strict=True):
                shape.append(self._check_size(op, tensor, size, actual))
            self.shapes[tensor] = tuple(shape)
        self.values[tensor] = outcome.value
        if tensor.elements is not None:
            if outcome.value is None:
                self._assume(tensor)
                return
            extents, value = tensor.elements.extents, outcome.value
            for x, actual in zip(extents.flat, value.ravel().tolist(), strict=True):
                self._check_size(op, tensor, x, actual)

    def _check_size(self, op: Op, tensor: Tensor, size: Any, actual: Any) -> int:
        """The number of a size, or of an element, which must be what `prepare` says."""
        if not isinstance(size, Dim):
            if actual is not None and size != actual and size == size:
                self._fail(op, tensor, actual)
            return size
        if actual is None:
            return self._number(size)
        missing = size.symbols - self.numbers.keys()
        if missing == {str(size)}:
            self._bind(str(size), actual)
        if missing:
            return actual
        if any(name.startswith("~") for name in size.symbols):
            return actual
        number = self._evaluated(size)
        if tensor.dtype.kind == "f" and not (abs(number) <= EXACT and isfinite(actual)):
            raise _InvalidSizes  # not finite: divided by a size of 0, which integers refuse
        if number != actual:
            if size.symbols & self._guesses:
                raise _InvalidSizes
            self._fail(op, tensor, actual)
        return number

    def _fail(self, op: Op, tensor: Tensor, actual: Any) -> None:
        if op.kind == "RESHAPE" and 0 in (self.shapes.get(op.inputs[0]) or ()):
            raise _InvalidSizes  # of no elements, -1 does not follow from their number
        raise ConverterError(
            f"{op.kind} '{tensor.name}': internal error, please report it: with "
            f"{', '.join(f'{name} = {n}' for name, n in sorted(self.numbers.items()))} it gives "
            f"{actual}, expected a tensor of the sizes {tensor.sizes}"
        )
