"""Functions that `tf.data` calls for elements: for one, or for several at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import OpError
from ...core.build import ops
from ...core.graph import Graph
from ...emit.random import IN_TURN
from ...vectorization.registry import Call, NoRule, Options, Value
from ...vectorization.rewrite import over_rows
from ..datasets import Element, Elements, Several, stacked
from .control import Body, RunnableGraph, body_of

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ...core.signatures.attributes import FunctionRef
    from ..state import State

FEWEST = 4
"""Elements from which on it pays to compute them at once."""
MOST = 64
"""Elements that are computed at once at most."""


class ElementFunction:
    """A function of the components of an element, with what it captured.

    Args:
        body: What it computes.
        captured: The values of its last arguments.
    """

    def __init__(self, body: Body, captured: Sequence[np.ndarray]):
        self._body, self._captured = body, list(captured)
        self._rows: RunnableGraph | None = None
        self._is_by_element = False

    def __call__(self, element: Sequence[np.ndarray]) -> Element:
        """What it gives for an element."""
        return tuple(self._body.run([*element, *self._captured]))

    @property
    def has_rows(self) -> bool:
        """Whether it can be computed for several elements at once, as far as is known."""
        if self._rows is None and not self._is_by_element:
            self._rows = _over_rows(self._body, len(self._body.inputs) - len(self._captured))
            self._is_by_element = self._rows is None
        return not self._is_by_element

    def of_several(self, elements: Sequence[Element]) -> list[Element] | None:
        """What it gives for elements, computed at once; None where one fails or shapes differ."""
        shapes = {tuple(part.shape for part in element) for element in elements}
        if self._rows is None or len(elements) < FEWEST or len(shapes) > 1:
            return None
        drawn = [
            (stream, stream.memory.copy())
            for op, stream in self._body.state.streams.items()
            if op.graph is self._rows.graph
        ]
        try:
            results = self._rows.run([*stacked(elements), *self._captured])
        except OpError:
            self._is_by_element = True
            for stream, place in drawn:
                stream.memory[:] = place
            return None
        return [tuple(x[i, ...] for x in results) for i in range(len(elements))]


def _over_rows(body: Body, n_components: int) -> RunnableGraph | None:
    """The function of stacked elements; None where an operation has no form for many rows."""
    arguments = [tensor for tensor in body.inputs if tensor is not None]
    components = arguments[:n_components]
    if not components or body.controls or len(arguments) != len(body.inputs):
        return None
    graph = Graph(body.graph.functions)
    graph.scopes.extras = body.graph.scopes.extras
    values: dict[Tensor, Value] = {}
    for i, tensor in enumerate(arguments):
        attrs = {"T": tensor.dtype, "index": i}
        copy = graph.add("_Arg", f"arg{i}", (), attrs).outputs[0]
        is_component = i < n_components
        if tensor.sizes is not None:
            copy.set_shape((None, *tensor.sizes) if is_component else tensor.sizes)
        values[tensor] = Value(copy, is_component)
    with graph.as_default():
        try:
            n = _count(values[components[0]].tensor)
            options = Options(partial(_draw_in_turn, body.state), does_both=True)
            results = over_rows(body.outputs, values, n, options)
        except NoRule:
            return None
    if not all(result.is_stacked for result in results):
        return None
    return RunnableGraph(
        body.state, graph, [values[x].tensor for x in arguments], [r.tensor for r in results]
    )


def _draw_in_turn(state: State, call: Call, sizes: Tensor) -> Sequence[Tensor]:
    """The numbers that an operation would draw for one element after the other."""
    if call.op.type not in ("RandomUniform", "RandomUniformInt"):
        raise call.refusal("it draws other numbers for each element")
    others = [call.one(i) for i in range(1, len(call.inputs))]
    op = call.added([sizes, *others], {IN_TURN: True})
    state.streams[op] = state.stream(call.op)
    return op.outputs


def _count(stack: Tensor) -> Tensor:
    return ops.Shape(stack)[0]


def function_of(
    op: Operation,
    state: State,
    attr: str,
    operands: str,
    arrays: Sequence[np.ndarray],
    first: int = 1,
) -> ElementFunction:
    """A function of components, with what it captured.

    Args:
        op: What calls it.
        state: Of the Session.
        attr: The attribute that names it.
        operands: The name of the operands that it captured.
        arrays: The values of the operation's inputs from `first` on.
        first: How many inputs come before.
    """
    signature = op.signature
    assert signature is not None
    place = 0
    for argument in signature.inputs:
        n = len(argument.dtypes(op.get_attr))
        if argument.name == operands:
            break
        place += n
    else:
        n = 0
    captured = list(arrays[place - first : place - first + n])
    reference = cast("FunctionRef", op.get_attr(attr))
    body = body_of(state, op, reference, op.inputs[place : place + n])
    return ElementFunction(body, captured)


class Applied:
    """Elements, each with what a function gives for it.

    When several are asked for they are computed at once where that is possible. What happens is the
    same as when they are computed one after the other: an element that fails does so in its turn.
    """

    def __init__(self, function: ElementFunction, elements: Elements):
        self._function, self._elements = function, elements
        self._pending: deque[Element | OpError] = deque()

    def next(self) -> tuple[Element, Element]:
        """The next element and its result."""
        item = self._pending.popleft() if self._pending else next(self._elements)
        if isinstance(item, OpError):
            raise item
        return item, self._function(item)

    def take(self, n: int) -> list[tuple[Element, Element]]:
        """The next `n`, fewer before one that fails, none behind the last."""
        sources = self._sources(min(n, MOST)) if self._function.has_rows else []
        results = self._function.of_several(sources)
        if results is not None:
            return list(zip(sources, results, strict=True))
        self._pending.extendleft(reversed(sources))
        pairs = list[tuple[Element, Element]]()
        while len(pairs) < n:
            pair = self._attempt(bool(pairs))
            if pair is None:
                break
            pairs.append(pair)
        return pairs

    def skip(self, n: int) -> None:
        """Leaves out the next `n` elements."""
        for _ in range(n):
            if self._pending:
                self._pending.popleft()
            elif next(self._elements, None) is None:
                return

    def _attempt(self, puts_off: bool) -> tuple[Element, Element] | None:
        """The next element and its result; None behind the last, and before one that fails."""
        try:
            return self.next()
        except StopIteration:
            return None
        except OpError as error:
            if not puts_off:
                raise
            self._pending.appendleft(error)
            return None

    def _sources(self, n: int) -> list[Element]:
        """Up to `n` elements before one that fails."""
        sources = list[Element]()
        while len(sources) < n:
            try:
                item = self._pending.popleft() if self._pending else next(self._elements)
            except StopIteration:
                break
            except OpError as error:
                item = error
            if isinstance(item, OpError):
                self._pending.appendleft(item)
                break
            sources.append(item)
        return sources


class Mapped(Several):
    """What a function gives for each element."""

    def __init__(self, function: ElementFunction, elements: Elements):
        self._applied = Applied(function, elements)

    def __next__(self) -> Element:
        """The next one."""
        return self._applied.next()[1]

    def take(self, n: int) -> list[Element]:
        """The next `n`, fewer before one that fails, none behind the last."""
        return [result for _, result in self._applied.take(n)]

    def batch(self, n: int) -> list[Element]:
        """The next `n`, fewer at the end; when one fails, those behind it are left out, too."""
        results = list[Element]()
        while len(results) < n:
            try:
                more = self.take(n - len(results))
            except OpError:
                self._applied.skip(n - len(results) - 1)
                raise
            if not more:
                break
            results += more
        return results


class Filtered(Several):
    """The elements for which a function holds."""

    def __init__(self, function: ElementFunction, elements: Elements):
        self._applied = Applied(function, elements)

    def __next__(self) -> Element:
        """The next one."""
        while True:
            element, result = self._applied.next()
            if result[0]:
                return element

    def take(self, n: int) -> list[Element]:
        """Some of the next `n`, none behind the last."""
        while pairs := self._applied.take(n):
            elements = [element for element, result in pairs if result[0]]
            if elements:
                return elements
        return []
