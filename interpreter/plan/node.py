"""What an operator's `prepare` sees: inputs, options, declared outputs; and what a stage keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from math import prod
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np

from ...engine import sizes
from ...engine.plan.buffer import ARENA, CONSTANT, Buffer, Storage, constant_storage

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...engine.plan.program import Program
    from ...engine.run.stages import Stage as EngineStage
    from ...schema.flatbuffer import Record
    from ...schema.quantization import Quantization
    from ..delegation.partition import AnyDelegate, Partition
    from .planner import Planner
    from .scope import Scope

    Emit: TypeAlias = Callable[[Program], object]
    """Adds the instructions of a prepared operator to a program."""
    Prepared: TypeAlias = "Emit | DynamicResult | None"
    """What `prepare` returns; None where the results need no instruction."""
    SizeOrShape: TypeAlias = int | Sequence[int] | None
    """What has to be equal to another one; None for a shape of the wrong rank."""
    Dimension: TypeAlias = int | np.integer
    Stage: TypeAlias = EngineStage[int, "Operand", "StageNotes"]
    """A stage whose tensors are known by their index."""


class NodeError(ValueError):
    """An operator cannot run as the model says; the message names the op and its result.

    Attributes:
        node: the Node, or Partition of a delegate, it is about; None when it is not about one.
        unequal: two sizes that must be equal and are not; None when it is about something else.
    """

    def __init__(
        self,
        message: str,
        node: Node | Partition | None = None,
        unequal: tuple[int, int] | None = None,
    ):
        super().__init__(message)
        self.node = node
        self.unequal = unequal


class LostResultError(NodeError):
    """A delegate no longer has a result that the CPU needs to take over."""


class NeedsValue(Exception):
    """`prepare` needs the value of input `index`, which is known only at run time."""

    def __init__(self, index: int):
        super().__init__(f"the value of input {index} is known only at run time")
        self.index = index


class NeedsState(Exception):
    """`prepare` needs the memory of variables, which what stands before may change."""


class TensorDeclaration:
    """An output as the file declares it; None where the op has to infer."""

    __slots__ = ("dtype", "name", "quantization", "shape")

    def __init__(
        self,
        name: str = "",
        dtype: np.dtype | None = None,
        quantization: Quantization | None = None,
        shape: tuple[int, ...] | None = None,
    ):
        self.name = name
        self.dtype = dtype
        self.quantization = quantization
        self.shape = shape


class Operand(Buffer):
    """A typed buffer with the tensor's name and quantization.

    `value` is the array when it is known before the model runs (constants and what is computed
    from them), else None. Strings have dtype object and memory of Python's own. `sizes` are the
    elements of a value that is known but for unknown dimensions, which only the converter has.
    `packed` are the bytes of a constant of several elements each, as the file has them.
    """

    __slots__ = ("name", "objects", "packed", "quantization", "sizes")

    def __init__(
        self,
        dtype: np.dtype,
        shape: Sequence[int],
        storage: Storage,
        offset: int = 0,
        name: str = "",
        quantization: Quantization | None = None,
    ):
        super().__init__(dtype, shape, storage, offset)
        self.name = name
        self.quantization = quantization
        self.objects: np.ndarray | None = None
        self.sizes: list[int] | None = None
        self.packed: Buffer | None = None

    @classmethod
    def of(
        cls, buffer: Buffer, name: str = "", quantization: Quantization | None = None
    ) -> Operand:
        """The operand over `buffer`'s memory."""
        return cls(buffer.dtype, buffer.shape, buffer.storage, buffer.offset, name, quantization)

    @classmethod
    def known(
        cls, value: np.ndarray, name: str = "", quantization: Quantization | None = None
    ) -> Operand:
        """A constant operand; `value` must not change afterwards."""
        operand = cls(value.dtype, value.shape, _NO_STORAGE, 0, name, quantization)
        operand.settle(value)
        return operand

    @property
    def value(self) -> np.ndarray | None:
        """The array when it is known before the model runs, read-only; else None."""
        if self.storage.kind != CONSTANT:
            return None
        return super().value if self.objects is None else self.objects

    def settle(self, value: np.ndarray) -> None:
        """Makes `value` the known value of this operand."""
        if value.dtype.hasobject:
            self.objects = value
            self.storage = Storage(CONSTANT, 0, None, self.name)
        else:
            self.storage = constant_storage(value, self.name)
        self.offset = 0


_NO_STORAGE = Storage(CONSTANT, 0)


class DynamicResult:
    """A step whose results have shapes that are known only after it ran.

    `function(*input arrays)` returns the arrays; `shapes` says what is known before, None for
    an unknown dimension.

    Attributes:
        is_done: is_done() says whether it would change nothing; None where it always may.
    """

    __slots__ = ("function", "is_done", "shapes")

    def __init__(
        self,
        function: Callable[..., Sequence[np.ndarray]],
        shapes: Sequence[tuple[int | None, ...]],
        is_done: Callable[[], bool] | None = None,
    ):
        self.function = function
        self.shapes = shapes
        self.is_done = is_done


class HostCall:
    """An `emit` of one Python step: function(*input arrays, *output arrays), which fills these.

    An operator with one cannot be part of a loop or branch of its caller's program.
    """

    __slots__ = ("function", "inputs", "outputs")

    def __init__(
        self,
        function: Callable[..., object],
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
    ):
        self.function = function
        self.inputs, self.outputs = inputs, outputs

    def __call__(self, program: Program) -> None:
        """Adds the step."""
        program.host(self.function, self.inputs, self.outputs)


class Node:
    """One operator while it is prepared.

    Attributes:
        kind: the operator's name in the schema ("CONV_2D"), or the custom code.
        name: name of the first output tensor.
        index: position in the subgraph.
        version: the operator's version.
        inputs: an Operand for each input; None for an omitted optional one.
        options: the schema's options record, with defaults when the file has none; None for
            ops without options, whose `prepare` reads none.
        custom_options: bytes of a custom op's options.
        outputs: the outputs as the file declares them.
        intermediates: tensors that only tell the quantization of values inside the operator.
        results: the Operands made so far by `result` and `alias`.
        equalities: the pairs that `require_equal` was asked for.
        is_excused: whether two unequal sizes may be ones that are equal whenever the model runs.
        scope: what runs other subgraphs and keeps variables; None outside an interpreter.
        stateful: whether it may do more than give results; such operators keep their order.
        planner: that of its subgraph; None outside an interpreter.
        caller: the node whose program it is part of, when its subgraph has none of its own.
    """

    def __init__(
        self,
        kind: str,
        inputs: Sequence[Operand | None],
        outputs: Sequence[TensorDeclaration],
        options: Record | None = None,
        *,
        index: int = 0,
        version: int = 1,
        custom_options: bytes = b"",
        intermediates: Sequence[TensorDeclaration] = (),
        scope: Scope | None = None,
        stateful: bool = False,
    ):
        self.kind = kind
        self.name = outputs[0].name if outputs else ""
        self.index = index
        self.version = version
        self.inputs = list(inputs)
        self.options = cast("Record", options)  # None only where no `prepare` reads it
        self.custom_options = custom_options
        self.outputs = list(outputs)
        self.intermediates = list(intermediates)
        self.results: list[Operand] = []
        self.equalities: list[tuple[SizeOrShape, SizeOrShape]] = []
        self.is_excused: Callable[[int, int], bool] | None = None
        self.scope = scope
        self.stateful = stateful
        self.planner: Planner | None = None
        self.caller: Node | None = None

    def fail(self, message: str) -> NoReturn:
        """Raises NodeError "<OP> '<name>': <message>"."""
        raise NodeError(f"{self.kind} '{self.name}': {message}", self)

    def require(self, condition: object, message: str) -> None:
        """Raises NodeError "<OP> '<name>': <message>" unless `condition` holds."""
        if not condition:
            self.fail(message)

    def require_equal(self, first: SizeOrShape, second: SizeOrShape, message: str) -> None:
        """Raises NodeError "<OP> '<name>': <message>" unless two sizes, or shapes, are equal."""
        self.equalities.append((first, second))
        if first == second:
            return
        unequal = _unequal_sizes(first, second)
        if not unequal or self.is_excused is None or not all(starmap(self.is_excused, unequal)):
            text = f"{self.kind} '{self.name}': {message}"
            raise NodeError(text, self, unequal[0] if unequal else None)

    def optional(self, i: int) -> Operand | None:
        """Input `i`, or None when it is omitted or the list is shorter."""
        return self.inputs[i] if i < len(self.inputs) else None

    def constant(self, i: int) -> np.ndarray:
        """The value of input `i`; raises NeedsValue when it is not known yet."""
        operand = self.optional(i)
        if operand is None:
            self.fail(f"input {i} is missing")
        value = operand.value
        if value is None or operand.sizes is not None:
            raise NeedsValue(i)
        return value

    def sizes(self, i: int) -> list[int]:
        """The numbers in input `i`; raises NeedsValue when they are not known yet.

        What is computed of these alone may stand for dimensions: it holds at every size.
        """
        operand = self.optional(i)
        if operand is not None and operand.sizes is not None:
            return list(operand.sizes)
        return self.integers(i)

    def integers(self, i: int) -> list[int]:
        """The whole numbers in input `i`; raises NeedsValue when they are not known yet."""
        operand = self.optional(i)
        if operand is not None and not operand.is_integer:
            from ...schema.dtypes import tf_name  # of errors alone

            self.fail(f"input {i} must be integers, got {tf_name(operand.dtype)}")
        return [int(n) for n in self.constant(i).ravel()]

    def axis(self, name: str, operand: Buffer, value: int | None = None) -> int:
        """The option `name` (or `value`) as an axis of `operand`, counted from the front."""
        axis = int(getattr(self.options, name) if value is None else value)
        rank = operand.ndim
        self.require(-rank <= axis < rank, f"{name} must be in [{-rank}, {rank}), got {axis}")
        return axis + rank if axis < 0 else axis

    def result(
        self,
        shape: Iterable[Dimension],
        dtype: np.dtype | type | None = None,
        value: np.ndarray | None = None,
        *,
        retypes: bool = False,
    ) -> Operand:
        """The next output, with new memory.

        Args:
            shape: its dimensions.
            dtype: its type; the declared one when None.
            value: the result itself, when `prepare` already knows it.
            retypes: whether LiteRT's kernel sets the type, whatever the model declares.
        """
        declaration = self._declaration()
        shape = _whole(shape)
        if dtype is None:
            dtype = declaration.dtype
        if dtype is None:
            self.fail(f"the type of output {len(self.results)} is not declared")
        dtype = np.dtype(dtype)
        if declaration.dtype not in (None, dtype) and not retypes:
            self._fail_type(declaration, dtype)
        if not sizes.fit_int32(shape):
            limit = "not be negative" if sizes.negative(shape) else f"be at most {sizes.MAX_SIZE}"
            self.fail(f"dimensions must {limit}, got {shape}")
        if value is not None:
            array = np.asarray(value, dtype).reshape(shape)
            return self._add(Operand.known(array, declaration.name, declaration.quantization))
        storage = Storage(ARENA, prod(map(int, shape)) * dtype.itemsize, None, declaration.name)
        name, quantization = declaration.name, declaration.quantization
        return self._add(Operand(dtype, shape, storage, 0, name, quantization))

    def alias(
        self, operand: Buffer, shape: Iterable[Dimension], dtype: np.dtype | type | None = None
    ) -> Operand:
        """The next output, sharing the memory of `operand` under another shape (or type)."""
        declaration = self._declaration()
        shape = _whole(shape)
        dtype = operand.dtype if dtype is None else np.dtype(dtype)
        if declaration.dtype is not None and dtype != declaration.dtype:
            self._fail_type(declaration, dtype)
        message = f"shape {operand.shape} cannot be seen as {shape}: "
        message += f"{operand.size} elements against {prod(shape)}"
        self.require(sizes.fit_int32(shape), message)
        self.require_equal(prod(shape) * dtype.itemsize, operand.nbytes, message)
        value = operand.value
        if value is not None:
            array = np.ascontiguousarray(value)
            array = (array if dtype == array.dtype else array.ravel().view(dtype)).reshape(shape)
            known = Operand.known(array, declaration.name, declaration.quantization)
            if sum(not sizes.is_plain(n) for n in shape) > bool(array.size):
                known.shape = shape  # as many elements do not tell these sizes
            return self._add(known)
        name, quantization = declaration.name, declaration.quantization
        return self._add(Operand(dtype, shape, operand.storage, operand.offset, name, quantization))

    def in_place(self, position: int) -> Operand:
        """The next output, like the input at `position`: in its memory where nothing else reads it.

        What then has to be copied is for the caller to see: the storages differ.
        """
        operand = self.inputs[position]
        if operand is None:
            self.fail(f"input {position} is missing")
        if self.planner is not None and self.planner.may_overwrite(self, position):
            return self.alias(operand, operand.shape)
        return self.result(operand.shape, operand.dtype)

    def dynamic_result(
        self,
        function: Callable[..., Sequence[np.ndarray]],
        shapes: Sequence[tuple[int | None, ...]],
        is_done: Callable[[], bool] | None = None,
    ) -> DynamicResult:
        """What `prepare` returns when the results' shapes are known only after the op ran.

        `function(*input arrays)` (None for an omitted input) returns one array for each output;
        `shapes` has None for each dimension that is not known before.
        """
        return DynamicResult(function, tuple(shapes), is_done)

    def _declaration(self) -> TensorDeclaration:
        position = len(self.results)
        if position >= len(self.outputs):
            self.fail(f"has {len(self.outputs)} outputs in the model, needs more than {position}")
        return self.outputs[position]

    def _fail_type(self, declaration: TensorDeclaration, dtype: np.dtype) -> NoReturn:
        from ...schema.dtypes import tf_name  # of errors alone

        assert declaration.dtype is not None
        self.fail(
            f"output '{declaration.name}' must be {tf_name(dtype)}, "
            f"the model declares {tf_name(declaration.dtype)}"
        )

    def _add(self, operand: Operand) -> Operand:
        self.results.append(operand)
        return operand


def _unequal_sizes(first: SizeOrShape, second: SizeOrShape) -> list[tuple[int, int]]:
    """The sizes that differ in two sizes, or shapes of one rank; none of what cannot be paired."""
    if isinstance(first, int) and isinstance(second, int):
        return [(first, second)]
    if isinstance(first, int) or isinstance(second, int) or first is None or second is None:
        return []
    if len(first) != len(second):
        return []
    return [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]


def _whole(shape: Iterable[Dimension]) -> tuple[int, ...]:
    """Dimensions as ints, those that know how they come from others as they are."""
    return tuple(n if isinstance(n, int) else int(n) for n in shape)


class PlanError(RuntimeError):
    """An operator failed to prepare or to run; the message ends with its number and kind."""


class StageNotes:
    """What is kept with a stage.

    Attributes:
        start: position of its first operator.
        delegates: who may run partitions of it.
        steps: while the stage is made, its operators, each with what its `prepare` gave.
        outputs: the subgraph's outputs and whether they are lent, once they were asked for.
        shapes: of tensors that have no operand here, where they are not as the file says.
        knows_state: whether it is prepared when all before it has run.
        variables: those that instructions use where they lie, by number, with their memory.
    """

    __slots__ = (*("delegates", "knows_state", "outputs", "shapes", "start", "steps", "variables"),)

    def __init__(self) -> None:
        self.start = 0
        self.delegates: Sequence[AnyDelegate] = ()
        self.steps: list[tuple[Node, Emit | None]] = []
        self.outputs: list[tuple[np.ndarray, bool]] | None = None
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.knows_state = False
        self.variables: dict[int, tuple[Operand, np.ndarray]] = {}
