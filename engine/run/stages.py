"""Stages: a plan as a chain of programs, and the machine that makes and runs them.

A stage is one program: all operators up to the first that has to wait. It waits for a value that
only running tells (`NeedsValue`), or its results have a size that only its own run tells
(`DynamicResult`), or it works on memory that is known only at run time (`NeedsState`). When a stage
has run, that value is read, or that operator runs alone, and the stage after it is prepared for
what came, or taken again if the same came before.

What an operator is, subclasses of the machine know: those of interpreter/plan/plan.py and
graph/session/executor.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, prod
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ...schema.named_tuple import Generic, TypeVar
from ..plan.arena import ALIGNMENT, address
from ..plan.buffer import BOUND, CONSTANT, PERSISTENT, Buffer
from .faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ..plan.instruction import Tag
    from ..plan.planner import Layout
    from ..plan.program import Program

    Results: TypeAlias = Sequence[np.ndarray]

MAX_FOLLOWING = 8
"""Stages kept after each stage, one for each value or shape that was met."""

Name = TypeVar("Name", bound="Hashable")
AnyBuffer = TypeVar("AnyBuffer", bound=Buffer)
Notes = TypeVar("Notes")


class ReadValue(Generic[Name]):
    """The operator behind a stage is prepared when the value of `tensor` was read."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Name):
        self.tensor = tensor


class ReadState:
    """The operator behind a stage is prepared when all that may change variables has run."""

    __slots__ = ()


class RunAlone(Generic[Name]):
    """The operator behind a stage runs alone, as the sizes of its results are not known before.

    Attributes:
        tag: the operator, for times.
        inputs: what it reads; None for an omitted operand.
        outputs: what it gives; None for a result without a name.
        function: function(*input arrays) gives the arrays of all outputs.
        is_done: is_done() says whether a run would change nothing, results included; None where it
            always has to run.
    """

    __slots__ = ("function", "inputs", "is_done", "outputs", "tag")

    def __init__(
        self,
        tag: Tag,
        inputs: Sequence[Name | None],
        outputs: Sequence[Name | None],
        function: Callable[..., Results],
        is_done: Callable[[], bool] | None = None,
    ):
        self.tag, self.inputs, self.outputs, self.function = tag, inputs, outputs, function
        self.is_done = is_done


class Stage(Generic[Name, AnyBuffer, Notes]):
    """Operators that run without looking at data in between.

    Attributes:
        program: their instructions and host steps.
        operands: every tensor known so far.
        arrays: memory of the tensors that stay readable, in the same place in every run.
        bound: the operands whose memory was there before the stage.
        state: buffers whose memory variables have, which are no tensor's alone.
        fed: the operands that every run brings other memory for.
        lent: readable tensors that lie in the memory of those.
        stop: position of the first operator that is not in this stage.
        cut: why it ended; None at the end of the plan.
        results: tensors of the `RunAlone` before this stage, copied in at each run.
        following: the stages after this one, by what came.
        repeatable: whether an unfinished run may be repeated from its start.
        notes: what its machine keeps with it.
    """

    __slots__ = (
        *("arrays", "bound", "cut", "fed", "following", "lent", "operands", "program"),
        *("notes", "repeatable", "results", "state", "stop"),
    )

    def __init__(
        self,
        program: Program,
        operands: dict[Name, AnyBuffer],
        arrays: dict[Name, np.ndarray],
        notes: Notes,
        fed: Iterable[Name] = (),
    ):
        self.program = program
        self.notes = notes
        self.operands = operands
        self.arrays = arrays
        self.bound: dict[Name, Buffer] = {name: operands[name] for name in arrays}
        self.state: dict[AnyBuffer, np.ndarray] = {}
        self.fed = {name: operands[name] for name in fed}
        self.lent: dict[Name, AnyBuffer] = {}
        self.stop = 0
        self.cut: ReadValue[Name] | ReadState | RunAlone[Name] | None = None
        self.results: tuple[Name, ...] = ()
        self.following: dict[Hashable, Stage[Name, AnyBuffer, Notes]] = {}
        self.repeatable = True

    def close(
        self, readable: Iterable[Name], note: Callable[[Layout], object] | None = None
    ) -> None:
        """Ends the program and gives memory to the tensors that are to be readable.

        Raises what `Program.close` does.
        """
        program, operands = self.program, {name: self.operands[name] for name in readable}
        for operand in operands.values():
            program.keep(operand)
        memory: dict[Buffer, np.ndarray] = {x: self.arrays[n] for n, x in self.bound.items()}
        program.close({**memory, **self.state}, note)
        lenders = {operand.storage for operand in self.fed.values()}
        for name, operand in operands.items():
            if operand.storage in lenders:
                self.lent[name] = operand
            else:
                self.arrays[name] = program.array(operand)

    def move(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Lets all that lies in bound memory lie elsewhere; no values are copied.

        The stages that follow take part.

        Args:
            pairs: the memory of an input, and what takes its place, of as many bytes.
        """
        for name, array in self.arrays.items():
            for before, after in pairs:
                offset = address(array) - address(before)
                if 0 <= offset < before.nbytes:
                    flat = after.reshape(-1).view(np.uint8)
                    moved = np.ndarray(array.shape, array.dtype, flat, offset)
                    self.arrays[name] = moved
                    if name in self.bound:
                        self.program.rebind(self.bound[name], moved)
                    break
        for stage in self.following.values():
            stage.move(pairs)


class Control:
    """What ends a run from outside: another thread, or a time limit.

    A program looks at it whenever machine code comes back, which is after 50 ms at most as long as
    no chunk of an instruction takes longer.
    """

    __slots__ = ("_end", "_requested", "_timeout_error")

    def __init__(self) -> None:
        self._requested: BaseException | None = None
        self._timeout_error: BaseException | None = None
        self._end = inf

    def begin(
        self, seconds: float | None = None, timeout_error: BaseException | None = None
    ) -> None:
        """Starts a run, which no earlier request ends; raises `timeout_error` after `seconds`."""
        self._requested, self._timeout_error = None, timeout_error
        self._end = inf if seconds is None else monotonic() + seconds

    @property
    def is_limited(self) -> bool:
        """Whether the run may take some time alone."""
        return self._timeout_error is not None

    def end(self, error: BaseException) -> None:
        """Ends the run that is under way, in another thread, by raising `error` in it."""
        self._requested = error

    def check(self) -> None:
        """Raises the error by which the run is to end, if it is."""
        if self._requested is not None:
            requested, self._requested = self._requested, None
            raise requested
        if self._timeout_error is not None and monotonic() >= self._end:
            timeout_error, self._timeout_error = self._timeout_error, None
            raise timeout_error


class StageMachine(ABC, Generic[Name, AnyBuffer, Notes]):
    """A plan: prepares its stages when they are reached, and runs them.

    Attributes:
        first: the stage that every run begins with.
        reached: the stage that the last run came to.
        finished: whether it came to the end.
        control: what may end a run before.
    """

    first: Stage[Name, AnyBuffer, Notes]
    reached: Stage[Name, AnyBuffer, Notes]
    finished = True
    _times: list[tuple[Tag, float]] | None = None

    def __init__(self, control: Control):
        self.control = control

    # What subclasses know of operators.

    @property
    @abstractmethod
    def _n_operators(self) -> int:
        """How many operators there are."""

    @abstractmethod
    def _empty(
        self,
        operands: dict[Name, AnyBuffer],
        arrays: dict[Name, np.ndarray],
        fed: Iterable[Name] = (),
    ) -> Stage[Name, AnyBuffer, Notes]:
        """A stage without operators, where this is known and that has memory."""

    @abstractmethod
    def _prepare(
        self, stage: Stage[Name, AnyBuffer, Notes], position: int
    ) -> ReadValue[Name] | ReadState | RunAlone[Name] | None:
        """Adds the instructions or the host step of an operator; or gives why it has to wait."""

    @abstractmethod
    def _close(self, stage: Stage[Name, AnyBuffer, Notes], readable: set[Name]) -> None:
        """Ends a stage; raises the errors of operators that cannot run as they are."""

    @abstractmethod
    def _bound(self, name: Name, array: np.ndarray) -> AnyBuffer:
        """An operand of a tensor for memory of this dtype and shape."""

    @abstractmethod
    def _known(self, name: Name, value: np.ndarray) -> AnyBuffer:
        """A constant operand of a tensor."""

    @abstractmethod
    def _stays_readable(self, name: Name, stop: int) -> bool:
        """Whether a tensor is read by an operator from position `stop` on, or by the caller."""

    @abstractmethod
    def _failed(self, error: Exception) -> Exception:
        """The error to raise when an operator failed to run by one of `_errors`."""

    def _is_current(self, stage: Stage[Name, AnyBuffer, Notes]) -> bool:
        """Whether what lasts from run to run still has the memory that a stage was made for."""
        return True

    def _recovers(self, stage: Stage[Name, AnyBuffer, Notes], error: Exception) -> bool:
        """Whether a stage can be run again, from its front, after an error of a host step."""
        return False

    _errors: tuple[type[Exception], ...] = (Fault,)
    """What instructions and host steps raise that `_failed` has words for."""

    # Making stages.

    def _stage(
        self, stage: Stage[Name, AnyBuffer, Notes], position: int
    ) -> Stage[Name, AnyBuffer, Notes]:
        """Fills an empty stage with the operators from `position` on."""
        while position < self._n_operators:
            stage.cut = self._prepare(stage, position)
            if stage.cut is not None:
                break
            position += 1
        stage.stop = position
        readable = {
            name
            for name, operand in stage.operands.items()
            if name not in stage.arrays
            and operand.storage.kind != CONSTANT
            and self._stays_readable(name, position)
        }
        self._close(stage, readable)
        return stage

    def _after(
        self, stage: Stage[Name, AnyBuffer, Notes], position: int, fed: Mapping[Name, np.ndarray]
    ) -> Stage[Name, AnyBuffer, Notes]:
        """An empty stage that starts from what is known after `stage`, at operator `position`."""
        lasting = (CONSTANT, PERSISTENT)
        operands = {n: x for n, x in stage.operands.items() if x.storage.kind in lasting}
        arrays = {n: array for n, array in stage.arrays.items() if n not in operands}
        for name, array in arrays.items():
            operand = stage.operands[name]
            is_whole = operand.storage.kind == BOUND and operand.nbytes == operand.storage.nbytes
            operands[name] = operand if is_whole else self._bound(name, array)
        lent = [n for n in (*stage.fed, *stage.lent) if self._stays_readable(n, position)]
        operands.update((name, self._bound(name, fed[name])) for name in lent)
        following = self._empty(operands, arrays, lent)
        following.program.outside_bytes = stage.program.outside_bytes + stage.program.arena_bytes
        return following

    # Running them.

    def run(
        self, fed: dict[Name, np.ndarray] | None = None, resume: bool = False
    ) -> dict[Name, np.ndarray]:
        """Runs every operator; `finished` is False when it did not come to the end.

        Args:
            fed: arrays for the tensors that each run brings.
            resume: whether to go on with a run that `fast_run` began and did not finish.

        Returns:
            The arrays that are this run's alone: `fed`, and what lies in their memory.
        """
        self.finished = False
        fed = {} if fed is None else fed
        stage: Stage[Name, AnyBuffer, Notes] | None = self.first
        while stage is not None:
            self.reached = stage
            self._run_stage(stage, fed, resume)
            stage = self._next(stage, fed)
        self.finished = True
        return fed

    @property
    def settled_run(self) -> Callable[[], bool] | None:
        """What does as `run` while no stage but the last has anything left to do; else None."""
        stage, checks = self.first, list["Callable[[], bool]"]()
        while stage.cut is not None:
            check = stage.cut.is_done if isinstance(stage.cut, RunAlone) else None
            if stage.program.has_steps or not stage.following:
                return None
            if check is None and not isinstance(stage.cut, ReadState):
                return None
            checks += [check] if check else []
            stage = stage.following[next(reversed(stage.following))]
        begin, last = stage.program.fast_run, stage
        if begin is None or self.reached is not last:
            return None

        def run() -> bool:
            for check in checks:
                if not check():
                    break
            else:
                if self._is_current(last):
                    if not begin():
                        self._run_stage(last, {}, resume=True)
                    return True
            self.control.begin()
            self.run()
            return True

        return run

    def run_timed(
        self, times: list[tuple[Tag, float]], fed: dict[Name, np.ndarray] | None = None
    ) -> dict[Name, np.ndarray]:
        """Runs; adds (tag, seconds) of each instruction and step to `times`, in order."""
        self._times = times
        try:
            return self.run(fed)
        finally:
            self._times = None

    def _run_stage(
        self, stage: Stage[Name, AnyBuffer, Notes], fed: dict[Name, np.ndarray], resume: bool
    ) -> None:
        program, check = stage.program, self.control.check
        for name, operand in stage.fed.items():
            program.rebind(operand, fed[name])
        try:
            if resume:
                program.resume(check)
            else:
                times = program.run(check, profile=self._times is not None)
                if self._times is not None:
                    self._times.extend((tag, seconds) for tag, _, seconds in times or ())
        except self._errors as error:
            if not self._recovers(stage, error):
                raise self._failed(error) from error
            self._run_stage(stage, fed, resume=False)
            return
        for name, operand in stage.lent.items():
            fed[name] = program.array(operand)

    def _next(
        self, stage: Stage[Name, AnyBuffer, Notes], fed: dict[Name, np.ndarray]
    ) -> Stage[Name, AnyBuffer, Notes] | None:
        cut = stage.cut
        if cut is None:
            return None
        if isinstance(cut, RunAlone):
            return self._after_dynamic_result(stage, cut, fed)
        if isinstance(cut, ReadState):
            following = self._recalled(stage, ())
            if following is None:
                following = self._after(stage, stage.stop, fed)
                stage.following[()] = self._stage(following, stage.stop)
            return following
        value = self._value(stage, cut.tensor, fed)
        key = _key(value)
        following = self._recalled(stage, key)
        if following is None:
            following = self._after(stage, stage.stop, fed)
            following.operands[cut.tensor] = self._known(cut.tensor, value.copy())
            for memory in (following.arrays, following.bound, following.fed):
                memory.pop(cut.tensor, None)
            stage.following[key] = self._stage(following, stage.stop)
        return following

    def _after_dynamic_result(
        self, stage: Stage[Name, AnyBuffer, Notes], cut: RunAlone[Name], fed: dict[Name, np.ndarray]
    ) -> Stage[Name, AnyBuffer, Notes]:
        if cut.is_done is not None and stage.following and self._times is None:
            latest = stage.following[next(reversed(stage.following))]
            if self._is_current(latest) and cut.is_done():
                return latest
        values = [None if name is None else self._value(stage, name, fed) for name in cut.inputs]
        start = perf_counter()
        results = cut.function(*values)
        if self._times is not None:
            self._times.append((cut.tag, perf_counter() - start))
        self.control.check()
        pairs = zip(cut.outputs, results, strict=True)
        by_name = {name: array for name, array in pairs if name is not None}
        key = tuple((array.shape, array.dtype) for array in by_name.values())
        following = self._recalled(stage, key)
        if following is None:
            following = self._after(stage, stage.stop + 1, fed)
            following.program.take_outside(sum(array.nbytes for array in by_name.values()))
            for name, array in by_name.items():
                memory = aligned(array.shape, array.dtype)
                operand = self._bound(name, memory)
                following.operands[name] = following.bound[name] = operand
                following.arrays[name] = memory
            following.results = tuple(by_name)
            stage.following[key] = self._stage(following, stage.stop + 1)
        for name, array in by_name.items():
            following.arrays[name][...] = array
        return following

    def _recalled(
        self, stage: Stage[Name, AnyBuffer, Notes], key: Hashable
    ) -> Stage[Name, AnyBuffer, Notes] | None:
        """The stage that followed when the same came before; else there is room for one more."""
        following = stage.following.pop(key, None)
        if following is not None and not self._is_current(following):
            following = None
        if following is not None:
            stage.following[key] = following
        elif len(stage.following) >= MAX_FOLLOWING:
            del stage.following[next(iter(stage.following))]
        return following

    def _value(
        self, stage: Stage[Name, AnyBuffer, Notes], name: Name, fed: Mapping[Name, np.ndarray]
    ) -> np.ndarray:
        """The array of a tensor that is readable after a stage."""
        array = fed.get(name)
        if array is None:
            array = stage.arrays.get(name)
        if array is None:
            array = stage.operands[name].value
        assert array is not None  # it stays readable
        return array


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new array of zeros (empty strings) that starts on a cache line."""
    if dtype.hasobject:
        return np.full(shape, b"", object)
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def _key(value: np.ndarray) -> Hashable:
    return value.shape, tuple(value.ravel()) if value.dtype.hasobject else value.tobytes()
