"""How the operations of a graph are compiled.

Within a stage an operation is, in this order of preference,

* folded: it depends only on constants and on shapes, and is computed while compiling;
* instructions of the engine (emit/), those of the functions it calls among them (inlining.py);
* a step in Python that calls its numpy kernel;
* where the sizes of its results are not known before, what runs alone after the stage.

Operations run in the order in which they were added to the graph, as far as data and control
dependencies leave it open: the same program gives the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.plan.buffer import PERSISTENT, Buffer, Storage, arena, bound, constant
from ...engine.plan.program import Program
from ...engine.run.faults import Fault
from ...engine.run.stages import ReadValue, RunAlone, Stage, StageMachine
from ...schema import dtypes, errors
from ..core.graph import Operation, Tensor
from ..core.infer import infer_shapes
from ..core.operation_errors import failed, located
from ..core.order import is_back_edge, ordered
from ..core.registry import Row, row_of
from ..core.shapes import Shape, is_static, shown
from ..emit import chains, list_buffer, lists, nested_lists, random, rows
from ..emit.list_buffer import ListBuffer, NotNative
from ..emit.registry import EMITTERS
from . import engine_arrays
from .delegated import DelegatedPart
from .engine_handles import HandleBuffer, box
from .exchanges import TAKING, scheduled
from .kernel_calls import DIRECT, array_dtype, call_direct, call_kernel, has_kernel, no_kernel
from .kernel_words import kernel_words
from .plan_variables import HANDLERS, PlanVariables, is_handle, runs_functions
from .run_errors import fault_words
from .run_limits import check_bytes, check_countable, check_counts, check_size
from .stage import Site, StageVariables
from .state import State

if TYPE_CHECKING:
    from .delegated import Step
    from .stage import Stage as PlanStage

UNNOTICED = frozenset(
    (
        *("Add", "AddN", "AddV2", "AvgPoolGrad", "BatchMatMul", "BatchMatMulV2", "BiasAdd"),
        *("BiasAddGrad", "BroadcastTo", "ConcatV2", "Conv2D", "Conv2DBackpropFilter"),
        *("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
        *("DepthwiseConv2dNativeBackpropInput", "MatMul", "MaxPoolGrad", "Mean", "Mul", "Neg"),
        *("RealDiv", "Relu", "ReluGrad", "Reshape", "SigmoidGrad", "Slice", "Sub", "Sum"),
        *("TanhGrad", "Tile", "Transpose"),
    )
)
"""Operations without effects or errors of values, which cost something."""
CHECKS = ("Assert", "CheckNumerics")
"""Operations that say what is wrong with inputs, before others stumble over them."""
PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
SIZED_BY_VALUES = (
    *("CTCBeamSearchDecoder", "CTCGreedyDecoder", "DynamicPartition", "ListDiff", "Where"),
    *(f"NonMaxSuppression{version}" for version in ("", "V2", "V3")),
)
"""Operations whose results have as many elements as values say."""


class Compiler(StageMachine[Tensor, Buffer, StageVariables]):
    """Operations that become stages.

    Args:
        state: The Session's variables.
        fetches: Tensors to compute and operations to run.
        feeds: Tensors that have a value before.
        n_threads: How many threads share the instructions.
        order: What to run, in which order, where delegates have taken parts of it.
        operations: What to run, in which order, where the caller knows it: `needed`, else.
    """

    _is_surveyed = False
    """Whether it is prepared for the sizes of all results, each as it is by itself."""

    def __init__(
        self,
        state: State,
        fetches: Sequence[Tensor | Operation],
        feeds: Iterable[Tensor],
        n_threads: int = 1,
        order: Sequence[Step] | None = None,
        operations: Sequence[Operation] | None = None,
    ):
        super().__init__(state.control)
        self.state = state
        self.n_threads = n_threads
        self.fetched = dict.fromkeys(item for item in fetches if isinstance(item, Tensor))
        operations = needed(fetches, feeds) if operations is None else operations
        check_counts(state.limits, operations)
        self.order: Sequence[Step] = operations if order is None else order
        self.last_use: dict[Tensor, float] = {}
        for position, op in enumerate(self.order):
            self.last_use.update((tensor, position) for tensor in op.inputs)
        self.last_use.update((tensor, float("inf")) for tensor in self.fetched)
        is_open = {*self.fetched, *feeds}
        if order is not None:
            operations = [step for step in order if isinstance(step, Operation)]
            parts = [step for step in order if isinstance(step, DelegatedPart)]
            is_open.update(tensor for part in parts for tensor in part.inputs)
        self.operations = operations
        if self._is_surveyed:
            is_open.update(tensor for op in operations for tensor in op.outputs)
        self.chains = chains.find(operations, is_open)
        self.padded = rows.find_padded(operations, is_open)
        self.put_off = {op: chain[-1] for chain in self.chains.values() for op in chain[:-1]}
        self._wait_for_chains()
        self.variables = PlanVariables(state, self.order, self.last_use, self.put_off)

    def _wait_for_chains(self) -> None:
        """Lets what a chain reads be there until its last operation."""
        positions = {op: position for position, op in enumerate(self.order) if op in self.chains}
        for last, chain in self.chains.items():
            for tensor in (tensor for op in chain for tensor in op.inputs):
                self.last_use[tensor] = max(self.last_use[tensor], positions[last])

    def in_use(self, stage: PlanStage, position: int) -> set[Storage]:
        """The memory of what is read behind the operation at `position`."""
        return {
            part.storage
            for tensor, buffer in stage.operands.items()
            if self.last_use.get(tensor, -1) > position
            if not isinstance(buffer, ListBuffer) or self._last_read.get(tensor, -1) > position
            for part in (buffer.parts if isinstance(buffer, ListBuffer) else [buffer])
        }

    @cached_property
    def _last_read(self) -> dict[Tensor, float]:
        """Where the elements of lists are read last: who asks for the length does not read them."""
        last_read: dict[Tensor, float] = {}
        for position, step in enumerate(self.order):
            if isinstance(step, DelegatedPart) or step.type != "TensorListLength":
                last_read.update((tensor, position) for tensor in step.inputs)
        last_read.update((tensor, float("inf")) for tensor in self.fetched)
        return last_read

    @property
    def _n_operators(self) -> int:
        return len(self.order)

    def _empty(
        self,
        operands: dict[Tensor, Buffer],
        arrays: dict[Tensor, np.ndarray],
        fed: Iterable[Tensor] = (),
    ) -> PlanStage:
        program = Program(self.state.memory_limit, threads=self.n_threads)
        return Stage(program, operands, arrays, StageVariables(), fed)

    def _prepare(
        self, stage: PlanStage, position: int
    ) -> ReadValue[Tensor] | RunAlone[Tensor] | None:
        op = self.order[position]
        stage.program.tag = op
        if isinstance(op, DelegatedPart):
            self._add_part(stage, op)
            return None
        stacked = lists.stacked(stage.program, op, stage.operands)
        if stacked is not None:
            return RunAlone(op, (), op.outputs, stacked)
        try:
            if self._add(stage, op, position):
                return None
        except errors.InvalidArgumentError as error:
            if not any(earlier.type in CHECKS for earlier in self.order[:position]):
                raise
            return RunAlone(op, op.inputs, op.outputs, _raising(error))
        return RunAlone(
            op, op.inputs, op.outputs, lambda *arrays: call_kernel(op, self.state, arrays)
        )

    def _close(self, stage: PlanStage, readable: set[Tensor]) -> None:
        for tensor in self.fetched:
            if tensor in stage.operands:
                self.variables.require(stage, tensor.op, stage.operands[tensor])
        operands = stage.operands
        readable -= {x for x in readable if _lasts(operands[x])}.difference(self.fetched)
        for tensor in tuple(readable):
            if self._keep_list(stage, tensor):
                readable.remove(tensor)
            else:
                self._box(stage, tensor)
        try:
            stage.close(readable)
        except Fault as fault:
            raise self._failed(fault) from None
        except MemoryError as error:
            raise errors.ResourceExhaustedError(None, None, str(error)) from None

    def _keep_list(self, stage: PlanStage, tensor: Tensor) -> bool:
        """Lets a list that nobody fetches be in memory that later stages have, where it can."""
        buffer = stage.operands[tensor]
        if tensor in self.fetched or not isinstance(buffer, ListBuffer):
            return False
        whole = list_buffer.lasting(stage.program, buffer)
        if whole is not None:
            stage.operands[tensor] = whole
        return whole is not None

    def _bound(self, name: Tensor, array: np.ndarray) -> Buffer:
        check_size(self.state.limits, name.op, name.name, array.shape)
        return bound(array.shape, array.dtype, name.name)

    def _known(self, name: Tensor, value: np.ndarray) -> Buffer:
        return constant(value, name.name)

    def _stays_readable(self, name: Tensor, stop: int) -> bool:
        return self.last_use.get(name, -1) >= stop

    def _failed(self, error: Exception) -> Exception:
        fault = cast("Fault", error)  # no other is among `_errors`
        return failed(fault.tag, fault_words(fault))

    def _add_part(self, stage: PlanStage, part: DelegatedPart) -> None:
        """Adds the step of what delegates take."""
        buffers: list[Buffer] = []
        for tensor in part.inputs:
            reader = next(op for op in part.operations if tensor in op.inputs)
            buffers.append(self._box(stage, tensor))
            self.variables.require(stage, reader, buffers[-1])
        outputs = [
            arena(shape, array_dtype(tensor.dtype), tensor.name)
            for tensor, shape in zip(part.outputs, part.sizes, strict=True)
        ]

        operands = [
            (tensor, stage.operands[tensor].value)
            for op in part.operations
            for tensor in op.inputs
            if tensor in stage.operands
        ]
        known = {tensor: value for tensor, value in operands if value is not None}

        def step(*arrays: np.ndarray) -> None:
            n = len(buffers)
            try:
                results = part.run(arrays[:n])
            except (RuntimeError, ValueError) as error:
                values = {**known, **dict(zip(part.inputs, arrays, strict=False))}
                for op in part.operations:  # raises what the operation says of its data
                    results = call_kernel(op, self.state, [values[tensor] for tensor in op.inputs])
                    values.update(zip(op.outputs, results, strict=True))
                last = part.operations[-1]
                raise errors.InternalError(None, last, located(last, str(error))) from error
            for target, result in zip(arrays[n:], results, strict=True):
                target[...] = result

        stage.program.host(step, buffers, outputs)
        stage.operands.update(zip(part.outputs, outputs, strict=True))

    def _add(self, stage: PlanStage, op: Operation, position: int) -> bool:
        """Compiles one operation; False when its results' sizes are not known before it runs."""
        if op in self.put_off:
            return True
        chain = self.chains.get(op)
        if chain is None:
            return self._add_one(stage, op, position)
        if not self._add_chain(stage, chain):
            for part in chain:
                self._add_one(stage, part, position)
        return True

    def _add_chain(self, stage: PlanStage, chain: list[Operation]) -> bool:
        """Compiles several operations as one instruction; False when that is not possible."""
        between = {op.outputs[0] for op in chain[:-1]}
        for op in chain:
            for tensor in op.inputs:
                if tensor not in between:
                    self.variables.require(stage, op, stage.operands[tensor])
        site = Site(chain[0], [stage.operands[tensor] for tensor in chain[0].inputs])
        _shapes(site, row_of(site.type))
        out = chains.emit(stage.program, chain, site, stage.operands.__getitem__)
        return out is not None and self._define(stage, chain[-1], out)

    def _inline(
        self, compiler: Compiler, stage: PlanStage, op: Operation, position: int
    ) -> Sequence[Buffer] | None:
        """The results of what calls functions, as instructions; None where Python runs them.

        They are for `compiler`, which is this one or records a function for it.
        """
        raise NotImplementedError

    def _add_one(self, stage: PlanStage, op: Operation, position: int) -> bool:
        if op.type in PLACEHOLDERS:
            raise _unfed(op)
        check_countable(op)
        handler = HANDLERS.get(op.type)
        if handler is not None:
            return self._define(stage, op, handler(self.variables, stage, op, position))
        buffers = [stage.operands[tensor] for tensor in op.inputs]
        if runs_functions(op):
            results = self._inline(self, stage, op, position)
            if results is not None:
                return self._define(stage, op, results)
        if op.type in lists.MAKERS or any(isinstance(buffer, ListBuffer) for buffer in buffers):
            results = self._on_lists(stage, op, position, buffers)
            if results is not None:
                return self._define(stage, op, results)
            buffers = [self._box(stage, tensor) for tensor in op.inputs]
        for buffer in buffers:
            self.variables.require(stage, op, buffer)
        if op.type in engine_arrays.MAKERS or any(isinstance(x, HandleBuffer) for x in buffers):
            results = self._on_handles(stage, op, buffers)
            if results is not None:
                return self._define(stage, op, results)
            buffers = [self._box(stage, tensor) for tensor in op.inputs]
        if runs_functions(op):  # of a variable that it may write there is a copy now
            buffers = [stage.operands[tensor] for tensor in op.inputs]
        site, row = Site(op, buffers), row_of(op.type)
        constants = self._folded(site, row, buffers)
        if constants is not None:
            return self._define(stage, op, constants)
        if row is not None and row.writes:
            for index in row.writes:
                self.variables.protect(stage, buffers[index], position)
                self.variables.written(stage, buffers[index])
        outputs = self._instructions(stage, op, site, buffers)
        if outputs is not None:
            return self._define(stage, op, outputs)
        return self._add_step(stage, site, row, buffers)

    def _instructions(
        self, stage: PlanStage, op: Operation, site: Site, buffers: Sequence[Buffer]
    ) -> Buffer | Sequence[Buffer] | None:
        """What an operation gives, by instructions; None where its kernel has to run."""
        program, outputs = stage.program, None
        if op in self.padded:
            outputs = rows.unique(program, buffers[0], cast("np.dtype", op.get_attr("out_idx")))
        elif rows.takes_each_once(op, self.padded):
            outputs = rows.update_rows(program, site, buffers)
        elif op.type in random.KINDS:
            outputs = random.emit(program, site, self.state.stream_buffer(op), *buffers)
        emitter = EMITTERS.get(op.type)
        if outputs is not None or emitter is None or not emitter.takes(buffers):
            return outputs
        if not all(is_static(tensor.sizes) for tensor in op.inputs):
            _shapes(site, row_of(op.type))  # what was not known when the graph was built
        try:
            return emitter.function(program, site, *buffers)
        except ValueError as error:
            raise _unsuited(site, error) from None

    def _on_lists(
        self, stage: PlanStage, op: Operation, position: int, buffers: Sequence[Buffer]
    ) -> Sequence[Buffer] | None:
        """What an operation on lists gives, by instructions; None where the kernel has to run."""
        site = Site(op, buffers)
        _shapes(site, row_of(op.type))
        try:
            return lists.emit(stage.program, site, buffers, self.in_use(stage, position))
        except NotNative:
            return None

    def _on_handles(
        self, stage: PlanStage, op: Operation, buffers: Sequence[Buffer]
    ) -> Sequence[Buffer] | None:
        """What an operation on handles gives, by instructions; None where the kernel has to run."""
        row = engine_arrays.ROWS.get(op.type)
        return None if row is None else row(stage.program, Site(op, buffers), buffers)

    def _box(self, stage: PlanStage, tensor: Tensor) -> Buffer:
        """The operand of a tensor; of a list or handle, one that kernels in Python can take."""
        buffer = stage.operands[tensor]
        if isinstance(buffer, ListBuffer):
            boxed_as = nested_lists.box if buffer.levels else list_buffer.box
            stage.operands[tensor] = boxed_as(stage.program, buffer)
        elif isinstance(buffer, HandleBuffer):
            boxed = box(stage.program, buffer)
            for other, operand in stage.operands.items():
                stage.operands[other] = boxed.get(operand, operand)
        return stage.operands[tensor]

    def _define(self, stage: PlanStage, op: Operation, outputs: Buffer | Sequence[Buffer]) -> bool:
        outputs = [outputs] if isinstance(outputs, Buffer) else outputs
        if self.state.limits is not None:
            for tensor, buffer in zip(op.outputs, outputs, strict=True):
                check_size(self.state.limits, op, tensor.name, buffer.shape)
        stage.operands.update(zip(op.outputs, outputs, strict=True))
        return True

    def _folded(
        self, site: Site, row: Row | None, buffers: Sequence[Buffer]
    ) -> list[Buffer] | None:
        """The outputs by constant folding: from shapes, or from constants."""
        if row is None or not row.is_pure:
            return None
        outputs = site.outputs
        if row.static is not None:
            arrays = [
                np.array(items, tensor.dtype)
                for items, tensor in zip(row.static(site), outputs, strict=True)
            ]
            return [constant(array) for array in arrays]
        arrays = [buffer.value for buffer in buffers if buffer.value is not None]
        if len(arrays) < len(buffers):
            return None
        check_bytes(site.op, self.state.memory_limit)
        return [constant(array) for array in call_kernel(site.op, self.state, arrays)]

    def _add_step(
        self, stage: PlanStage, site: Site, row: Row | None, buffers: Sequence[Buffer]
    ) -> bool:
        """Adds a step in Python; False when the sizes of its results are not known."""
        op = site.op
        if not has_kernel(op):
            raise no_kernel(op)
        if runs_functions(op) and self.variables.may_resize(op, buffers):
            return False
        writes = row.writes if row is not None else ()
        if writes:
            return self._add_change(stage, site, row, buffers, writes)
        inferred = _shapes(site, row)
        shapes = [shape for shape in inferred if is_static(shape)]
        if len(shapes) < len(inferred):
            return False
        outputs = [
            arena(shape, array_dtype(tensor.dtype), tensor.name)
            for shape, tensor in zip(shapes, op.outputs, strict=True)
        ]
        stage.program.host(self._step(op, len(buffers)), buffers, outputs)
        return self._define(stage, op, outputs)

    def _add_change(
        self,
        stage: PlanStage,
        site: Site,
        row: Row | None,
        buffers: Sequence[Buffer],
        writes: Sequence[int],
    ) -> bool:
        """Adds a step that changes variables; what it gives are these, or values of its own."""
        op = site.op
        changed = [buffers[index] for index in writes]
        if all(map(is_handle, op.outputs)):
            step = self._step(op, len(buffers), in_place=True)
            stage.program.host(step, buffers, changed)
            return self._define(stage, op, changed[: len(op.outputs)])
        outputs = [
            arena(shape, array_dtype(tensor.dtype), tensor.name)
            for shape, tensor in zip(_shapes(site, row), op.outputs, strict=True)
            if is_static(shape)
        ]
        run = self._step(op, len(buffers))

        def step_with_values(*arrays: np.ndarray) -> None:
            run(*arrays[: len(buffers)], *arrays[len(buffers) + len(changed) :])

        stage.program.host(step_with_values, buffers, [*changed, *outputs])
        return self._define(stage, op, outputs)

    def _step(self, op: Operation, n_inputs: int, in_place: bool = False) -> Callable[..., None]:
        """The function of a step: calls the kernel and copies its results to where they belong."""
        call = call_direct if op.type in DIRECT else call_kernel

        def step(*arrays: np.ndarray) -> None:
            results = call(op, self.state, arrays[:n_inputs], in_place)
            if in_place:
                return
            for target, result in zip(arrays[n_inputs:], results, strict=True):
                if target.shape != result.shape:
                    message = f"gave shape {result.shape}, {target.shape} was inferred"
                    raise errors.InternalError(None, op, located(op, message))
                target[...] = result

        return step


def needed(fetches: Iterable[Tensor | Operation], feeds: Iterable[Tensor]) -> list[Operation]:
    """The operations to run for `fetches`, in the graph's order where dependencies leave it.

    What nobody reads and cannot be noticed (`UNNOTICED`) is not run where others only wait for it.
    """
    fed = set(feeds)
    targets = [item.op if isinstance(item, Tensor) else item for item in fetches if item not in fed]
    behind: dict[Operation, list[Operation]] = {}
    running: set[Operation] = set()

    def read(op: Operation) -> list[Operation]:
        return [
            tensor.op
            for tensor in op.inputs
            if tensor not in fed and not is_back_edge(op.type, tensor.op.type)
        ]

    def waited_for(op: Operation) -> list[Operation]:
        """What to wait for in the place of an operation that others only wait for."""
        if op not in behind:
            behind[op], seen, stack = [], set[Operation](), [op]
            while stack:
                earlier = stack.pop()
                if earlier in seen or (earlier.outputs and fed.issuperset(earlier.outputs)):
                    continue
                seen.add(earlier)
                if earlier.outputs and fed.issuperset(earlier.outputs):
                    continue
                if earlier.type not in UNNOTICED or earlier in running:
                    behind[op].append(earlier)
                else:
                    stack += [*read(earlier), *earlier.control_inputs]
        return behind[op]

    def before(op: Operation) -> list[Operation]:
        return read(op) + [y for x in op.control_inputs for y in waited_for(x)]

    running = set(ordered(targets, before))
    behind.clear()
    if not running:
        return []
    listed = [op for op in targets[0].graph.operations if op in running]
    if any(op.type in TAKING or runs_functions(op) for op in listed):
        return _sized_by_values_last(scheduled(listed, before, lambda op: [op]), before)
    return _sized_by_values_last(ordered(listed, before), before)


def _sized_by_values_last(
    order: list[Operation], before: Callable[[Operation], list[Operation]]
) -> list[Operation]:
    """What has sizes that only values tell, and all behind it, after the rest.

    Such an operation ends a stage, and a loop whose gradient is in another stage keeps its values
    in Python. The order stays where something of that reads or changes what lasts.
    """
    deferred: dict[Operation, None] = {}
    for op in order:
        if op.type in SIZED_BY_VALUES or (deferred and any(x in deferred for x in before(op))):
            if op.signature is None or op.signature.is_stateful or any(map(is_handle, op.inputs)):
                return order
            deferred[op] = None
    return [*(op for op in order if op not in deferred), *deferred] if deferred else order


def _lasts(buffer: Buffer) -> bool:
    """Whether it is a handle or a list in memory that later stages read, too."""
    if isinstance(buffer, ListBuffer):
        return buffer.storage.kind == PERSISTENT
    return isinstance(buffer, HandleBuffer)


def _raising(error: Exception) -> Callable[..., list[np.ndarray]]:
    """A kernel that only raises: what runs before it may have a better word on what is wrong."""

    def fail(*arrays: np.ndarray) -> list[np.ndarray]:
        raise error

    return fail


def _unfed(op: Operation) -> Exception:
    """The error of a placeholder that was not fed."""
    dtype, shape = op.get_attr("dtype"), op.get_attr("shape")
    words = f"You must feed a value for placeholder tensor '{op.name}' with dtype "
    words += {"float32": "float", "float64": "double"}.get(dtype.name, dtypes.tf_name(dtype))
    if shape:
        words += f" and shape {shown(shape)}"
    return failed(op, words)


def _shapes(site: Site, row: Row | None) -> list[Shape]:
    try:
        return infer_shapes(site, row)
    except ValueError as error:
        raise _refused(site, str(error)) from None


def _refused(site: Site, words: str) -> errors.OpError:
    """The error of an operation whose shape function refuses its operands."""
    shapes, values = [x.sizes for x in site.inputs], [x.value for x in site.inputs]
    words = words.removeprefix(_prefix(site))
    return failed(site.op, kernel_words(site.op, shapes, values, words))


def _prefix(site: Site) -> str:
    """What shape functions begin their messages with."""
    return f"{site.type} '{site.name}': "


def _unsuited(site: Site, error: ValueError) -> Exception:
    """What a shape function says of operands, as the error of the operation that runs."""
    words = str(error)
    return _refused(site, words) if words.startswith(_prefix(site)) else error
