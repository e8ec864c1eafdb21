"""Interpreter: runs a .tflite model, with the surface of `tf.lite.Interpreter`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from .access import CallLock, Views, detached
from .arguments import (
    OpResolverType,
    as_index,
    checked,
    content_of,
    fits_exactly,
    takes_cached_plans,
    usable_delegates,
)
from .model import LoadedModel
from .plan.allocation import Allocation
from .plan.scope import Scope

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import TypeAlias

    import numpy.typing as npt
    from _typeshed import ReadableBuffer

    from ..engine.run.disk_cache import CacheEntry
    from ..engine.run.limits import Limits
    from ..engine.run.times import OperatorTime, Run, Times
    from .arguments import Options, State
    from .delegation.delegation import DelegateReport
    from .delegation.partition import AnyDelegate
    from .details import OperatorDetails, TensorDetails
    from .plan.plan import Plan
    from .signature import SignatureRunner
    from .spec import SignatureSpec

    Visited: TypeAlias = np.ndarray | None


class Interpreter:
    """Runs a .tflite model.

    Call `allocate_tensors`, fill the inputs with `set_tensor`, `invoke`, and read the outputs with
    `get_tensor`; or call a signature by names, see `get_signature_runner`. An interpreter belongs
    to one thread at a time; a second one gets RuntimeError.

    Args:
        model_path: a .tflite file; it is mapped, not read.
        model_content: the bytes of one, in anything that has a buffer.
        experimental_delegates: who runs parts of it (`load_delegate`); the first chooses first.
        num_threads: threads for the kernels, at least 1.
        experimental_op_resolver_type: accepted; every choice gives the same results.
        experimental_preserve_all_tensors: keep every intermediate result readable.
        experimental_disable_delegate_clustering: accepted, without effect.
        experimental_default_delegate_latest_features: accepted, without effect.
        experimental_compress_quantization_zero_points: accepted, without effect.
        experimental_disable_delegate_node_fusion: accepted, without effect.
        experimental_force_delegate_node_profiling: accepted, without effect.
        share_weights: a file's packed weights lie once in the memory of all processes that ask
            for it, a content's once among its clones; in small pages, which may take longer.
        limits: what the model may ask for at most, see `Limits`.
        profile: time every operator of each `invoke`, for the method `profile`.

    Raises:
        ValueError: an argument or the model is invalid (ModelError says where).
    """

    _custom_ops: Mapping[str, type] = {}
    _consumes_inputs = False
    _closed: frozenset[str] = frozenset()  # the names of what a closed one held

    def __init__(
        self,
        model_path: str | os.PathLike[str] | None = None,
        model_content: ReadableBuffer | None = None,
        experimental_delegates: Sequence[AnyDelegate] | None = None,
        num_threads: int | None = None,
        experimental_op_resolver_type: OpResolverType = OpResolverType.AUTO,
        experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
        experimental_compress_quantization_zero_points: bool = False,
        experimental_disable_delegate_node_fusion: bool = False,
        experimental_force_delegate_node_profiling: bool = False,
        *,
        share_weights: bool = False,
        limits: Limits | None = None,
        profile: bool = False,
    ):
        options: Options = {
            "num_threads": num_threads,
            "experimental_op_resolver_type": experimental_op_resolver_type,
            "experimental_preserve_all_tensors": experimental_preserve_all_tensors,
            "experimental_disable_delegate_clustering": experimental_disable_delegate_clustering,
            "experimental_default_delegate_latest_features": (
                experimental_default_delegate_latest_features
            ),
            "experimental_compress_quantization_zero_points": (
                experimental_compress_quantization_zero_points
            ),
            "experimental_disable_delegate_node_fusion": experimental_disable_delegate_node_fusion,
            "experimental_force_delegate_node_profiling": (
                experimental_force_delegate_node_profiling
            ),
            "share_weights": share_weights,
            "limits": limits,
            "profile": profile,
        }
        self._options = checked(options)
        self._delegates = usable_delegates(experimental_delegates)
        content, status = content_of(model_path, model_content)
        self._path = None if status is None else os.fsdecode(model_path or "")
        cache_entry = cached_bytes = None
        if status is not None and not self._delegates and takes_cached_plans(options):
            from .plan.pending_plans import stored_plan  # of files only

            cache_entry, cached_bytes = stored_plan(status, num_threads, self._consumes_inputs)
        folder = None if self._path is None else os.path.dirname(os.path.abspath(self._path))
        model = LoadedModel(content, cached_bytes, cache_entry, share_weights, folder)
        if limits is not None:
            model.check(limits)
        self._start(model, cache_entry if model.is_alone else None)
        self._allocation.prepare_early(0)

    def _start(self, model: LoadedModel, cache_entry: CacheEntry | None = None) -> None:
        self._model, self._call_lock, self._views = model, CallLock(), Views()
        self._times: Times | None = None
        if self._options.get("profile"):
            from ..engine.run.times import Times

            self._times = Times()
        self._forget()
        preserve = self._options.get("experimental_preserve_all_tensors", False)
        self._scope = Scope(model, self._options.get("num_threads") or 1, preserve)
        self._scope.custom_ops.update(self._custom_ops)
        self._scope.consumes_inputs = self._consumes_inputs
        self._allocation = Allocation(self._scope, self._delegates, self._options, cache_entry)
        self._plans = self._allocation.plans

    def allocate_tensors(self) -> None:
        """Prepares the operators for the inputs' shapes and gives the tensors memory.

        Raises RuntimeError when an operator cannot run as the model says, or an array that
        `tensor()` gave is still alive. The interpreter stays usable: resize and allocate again.
        """
        self._ensure_safe()
        with self._call_lock:
            self._allocation.allocate(0)

    def invoke(self, *, timeout: float | None = None) -> None:
        """Runs the model on the values of its input tensors.

        Args:
            timeout: seconds after which the run is aborted; None for no limit. Checked every
                50 ms, and between steps in Python.

        Raises:
            RuntimeError: before `allocate_tensors`, when an operator refuses its data, when an
                array that `tensor()` gave is still alive, or by `cancel`.
            TimeoutError: it took longer. Outputs are not valid then; the next invoke starts anew.
            TypeError, ValueError: `timeout` is no number, or negative.
        """
        if timeout is not None:
            with self._call_lock:
                self._begin(timeout)
                self._run(False)
            return
        call_lock = self._call_lock
        try:
            run = call_lock.free.pop()
        except IndexError:
            call_lock.refuse()
        except BaseException:
            call_lock.leave()
            raise
        try:
            if run is None or not run():
                self._invoke(run is not None)
        except BaseException:
            if run is not None:
                self._plans[0].finished = False
                call_lock.run = None
            raise
        finally:
            call_lock.free.append(call_lock.run)

    def async_invoke(self, timeout: float | None = None) -> Future[None]:
        """Starts an invoke in another thread and gives its Future, which ends or raises as it does.

        Until then every other call raises RuntimeError, but `cancel`. Raises here what `invoke`
        does before it runs.
        """
        from .background import background

        self._ensure_safe()
        with self._call_lock.handed_on() as leave:
            self._allocation.ready(0)
            self._begin(timeout)
            return background(partial(self._run, False), leave)

    def cancel(self) -> None:
        """Ends an invoke that is under way in another thread, which raises RuntimeError there.

        It comes to that after 50 ms at most, and not within a step in Python. Later calls are not
        affected. A run that ends just now may end well.
        """
        call_lock, control = self._call_lock, self._scope.control
        control.end(RuntimeError("Client requested cancel during Invoke()"))
        call_lock.run = None  # the next invoke begins by forgetting this
        if call_lock.free:  # nobody was inside
            control.begin()

    def reset_all_variables(self) -> None:
        """Gives every variable tensor its initial value."""
        with self._call_lock:
            self._scope.reset_states()

    def profile(self, repeats: int = 0) -> list[OperatorTime]:
        """The median of the seconds that each operator takes, in the order they run.

        Of `repeats` runs that are made now; without, of the invokes so far (the last 1000 of them)
        of an interpreter made with profile=True, or RuntimeError.
        """
        from .profile import profile, recorded

        return profile(self, repeats) if repeats else recorded(self._times)

    def visit_operators(
        self, callback: Callable[[OperatorDetails, list[Visited], list[Visited]], object]
    ) -> None:
        """Calls callback(operator's details, its inputs, its outputs) for the operators in order.

        They are those of the first subgraph; tensors are views of what the last invoke left, that
        nobody may write to, and None for an operand that is left out. Raises RuntimeError unless
        the interpreter was made with experimental_preserve_all_tensors.
        """
        if not self._options.get("experimental_preserve_all_tensors"):
            raise RuntimeError(
                "visit_operators shows every tensor: make the interpreter with "
                "experimental_preserve_all_tensors=True"
            )
        for details in self._get_ops_details():
            inputs, outputs = (
                [self._view(int(t), read_only=True) if t >= 0 else None for t in details[ends]]
                for ends in ("inputs", "outputs")
            )
            callback(details, inputs, outputs)

    def get_input_details(self) -> list[TensorDetails]:
        """A dictionary for each input.

        Keys: name, index, shape (int32 array), shape_signature (with -1 for what is unknown),
        dtype (numpy type), quantization (scale, zero_point; (0.0, 0) when none or per channel),
        quantization_parameters (scales, zero_points, quantized_dimension, block_size),
        sparsity_parameters (empty for a dense tensor).
        """
        return [self._allocation.details(0, tensor) for tensor in self._model.ends(0)[0]]

    def get_output_details(self) -> list[TensorDetails]:
        """A dictionary for each output, with the keys of `get_input_details`."""
        return [self._allocation.details(0, tensor) for tensor in self._model.ends(0)[1]]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[TensorDetails]:
        """A dictionary for each tensor of a subgraph, with the keys of `get_input_details`."""
        if not 0 <= subgraph_index < self._model.n_subgraphs:
            raise ValueError(
                f"subgraph_index is out of range: {subgraph_index} for the model, which has "
                f"{self._model.n_subgraphs} subgraphs."
            )
        tensors = self._model.subgraph(subgraph_index).tensors
        return [self._allocation.details(subgraph_index, tensor) for tensor in range(len(tensors))]

    def set_tensor(self, tensor_index: int, value: npt.ArrayLike) -> None:
        """Copies `value`, of the tensor's own type and shape, into an input tensor.

        Raises ValueError when type or shape differ, or before `allocate_tensors`.
        """
        with self._call_lock:
            if type(tensor_index) is int:
                memory = self._inputs_set.get(tensor_index)
                if memory is not None and fits_exactly(value, memory):
                    memory[...] = value
                    return
            self._set(0, as_index(tensor_index), value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> np.ndarray:
        """A copy of a tensor's value; a numpy scalar of numbers without dimensions.

        Raises ValueError for an intermediate result whose memory is used again, unless the
        interpreter was made with experimental_preserve_all_tensors.
        """
        with self._call_lock:
            if type(tensor_index) is int and not subgraph_index and self._call_lock.run is not None:
                memory = self._outputs_got.get(tensor_index)
                if memory is not None:
                    return detached(memory)
            return self._get(as_index(subgraph_index), as_index(tensor_index))

    def tensor(self, tensor_index: int) -> Callable[[], np.ndarray]:
        """A function that gives a view of the tensor's memory at that moment.

        Keep the function, not the array: while an array it gave exists, `invoke`,
        `allocate_tensors` and `resize_tensor_input` raise RuntimeError.
        """
        return lambda: self._view(as_index(tensor_index))

    def resize_tensor_input(
        self, input_index: int, tensor_size: Sequence[int], strict: bool = False
    ) -> None:
        """Gives an input another shape, from the next `allocate_tensors` on.

        Args:
            input_index: index of the input tensor.
            tensor_size: the shape.
            strict: change only the dimensions that shape_signature says are unknown.

        Raises:
            RuntimeError: the tensor is no input or the shape is not allowed; nothing changed.
        """
        self._ensure_safe()
        with self._call_lock:
            self._resize(0, as_index(input_index), tensor_size, strict)

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """Signature key -> {"inputs": names, "outputs": names}."""
        return {
            key: {"inputs": list(signature.inputs), "outputs": list(signature.outputs)}
            for key, signature in self._model.signatures.items()
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """A callable that runs one signature; the key may be left out when there is only one."""
        if signature_key is None:
            keys = list(self._model.signatures)
            if len(keys) != 1:
                raise ValueError(
                    f"SignatureDef signature_key is None and model has {len(keys)} Signatures. "
                    "None is only allowed when the model has 1 SignatureDef"
                )
            signature_key = keys[0]
        from .signature import SignatureRunner

        return SignatureRunner(interpreter=self, signature_key=signature_key)

    def num_subgraphs(self) -> int:
        """How many subgraphs the model has."""
        return self._model.n_subgraphs

    def delegate_report(self, subgraph_index: int = 0) -> DelegateReport:
        """Which operators the delegates run, why not the others, and what is copied.

        `print` shows it as a table; that of a called subgraph is of its last run. RuntimeError
        before `allocate_tensors`, or where delegates take nothing of a called subgraph.
        """
        if not self._delegates:
            raise RuntimeError("the interpreter was made without experimental_delegates")
        plan = self._plans.get(subgraph_index) or self._scope.called_plan(subgraph_index)
        if plan is None or plan.report is None:
            raise RuntimeError("nothing is delegated yet: call allocate_tensors() first")
        return plan.report

    def close(self) -> None:
        """Frees what it holds, as `with Interpreter(...)` does; later calls raise RuntimeError."""
        if not self._closed:
            with self._call_lock:
                self._scope.plans.clear()  # which know the scope
                names = frozenset(self.__dict__)
                self.__dict__.clear()
                self._closed = names

    def __enter__(self) -> Interpreter:
        with self._call_lock:
            return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> NoReturn:
        if name in self._closed:
            raise RuntimeError("This interpreter is closed; make another one")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        from .display import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from .display import as_html

        return as_html(self)

    def clone(self) -> Interpreter:
        """Another interpreter of the same model, with the same options and variable values.

        The constants of the model are shared; the copy is not allocated.
        """
        other = type(self).__new__(type(self))
        other._options, other._path = self._options.copy(), self._path
        other._delegates = list(self._delegates)
        other._custom_ops = self._custom_ops
        with self._call_lock:
            self._allocation.share_plan()
            other._start(self._model)
            other._scope.restore(self._scope.snapshot())
        return other

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """What the constructor was given under this name."""
        return self._options.get("experimental_compress_quantization_zero_points", False)

    def __deepcopy__(self, memo: dict[int, object]) -> Interpreter:
        return self.clone()

    def __getstate__(self) -> State:
        with self._call_lock:
            return {
                "content": bytes(self._model.content),
                "folder": self._model.folder,
                "options": self._options.copy(),
                "delegates": list(self._delegates),
                "custom_ops": dict(self._custom_ops),
                "variables": self._scope.snapshot(),
            }

    def __setstate__(self, state: State) -> None:
        self._options, self._path = state["options"], None
        self._delegates = state["delegates"]
        self._custom_ops = state["custom_ops"]
        self._start(LoadedModel(state["content"], folder=state["folder"]))
        self._scope.restore(state["variables"])

    def _safe_to_run(self) -> bool:
        """Whether no array that `tensor()` gave is alive."""
        return not self._views

    def _ensure_safe(self) -> None:
        """Raises RuntimeError while an array that `tensor()` gave is alive."""
        self._views.ensure_none()

    def _signature(self, key: str) -> SignatureSpec | None:
        return self._model.signatures.get(key)

    def _signatures_in_order(self) -> list[SignatureSpec]:
        """The signatures as the file lists them."""
        return self._model.signature_order

    def _reset_subgraph(self, subgraph: int) -> None:
        """Gives the variables of a subgraph, and of those it calls, their initial values."""
        with self._call_lock:
            self._scope.reset_states(subgraph)

    def _allocate_subgraph(self, subgraph: int) -> None:
        """`allocate_tensors` of any subgraph."""
        self._ensure_safe()
        with self._call_lock:
            self._allocation.allocate(subgraph)

    def _resize_subgraph(
        self, subgraph: int, tensor: int, size: npt.ArrayLike, strict: bool
    ) -> None:
        """`resize_tensor_input` of any subgraph."""
        self._ensure_safe()
        with self._call_lock:
            self._resize(subgraph, tensor, size, strict)

    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]:
        """Signature key -> {"inputs": {name: tensor}, "outputs": {name: tensor}}."""
        return {
            key: {"inputs": dict(signature.inputs), "outputs": dict(signature.outputs)}
            for key, signature in self._model.signatures.items()
        }

    def _get_op_details(self, op_index: int) -> OperatorDetails:
        """Index, op_name, inputs, outputs, operand_types and result_types of an operator."""
        spec = self._model.subgraph(0)
        if not 0 <= as_index(op_index) < len(spec.operators):
            raise ValueError("Invalid node index")
        from .details import operator_details

        return operator_details(spec, spec.operators[op_index])

    def _get_ops_details(self) -> list[OperatorDetails]:
        """`_get_op_details` of every operator."""
        return [self._get_op_details(i) for i in range(len(self._model.subgraph(0).operators))]

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int) -> TensorDetails:
        """The dictionary of one tensor, with the keys of `get_input_details`."""
        return self._allocation.details(as_index(subgraph_index), as_index(tensor_index))

    def _profiled(self) -> dict[tuple[int, str, str], float]:
        """Runs the model; seconds by (position, kind, name) of the operators that ran."""
        self._ensure_safe()
        with self._call_lock:
            self._call_lock.run = None
            self._scope.control.begin()
            return self._timed(self._allocation.ready(0))

    def _invoke(self, resume: bool) -> None:
        """Runs the model, or resumes it where the call lock's `run` has started it."""
        if not resume:
            self._scope.control.begin()
        self._run(resume)

    def _begin(self, timeout: object) -> None:
        """Starts the clock of a run."""
        if timeout is None:
            return self._scope.control.begin()
        from ..engine.run.limits import checked_timeout

        error = TimeoutError(f"invoke did not come to its end within {timeout} s")
        return self._scope.control.begin(checked_timeout(timeout), error)

    def _run(self, resume: bool) -> None:
        call_lock, plan = self._call_lock, self._plans.get(0)
        call_lock.run = None
        self._ensure_safe()
        if plan is None:
            plan = self._allocation.ready(0)
        self._run_plan(plan, resume)
        call_lock.run = None if self._times is not None else plan.fast_run

    def _run_plan(self, plan: Plan, resume: bool = False) -> None:
        if self._times is None:
            plan.run(resume=resume)
        else:
            self._times.append(self._timed(plan))

    def _timed(self, plan: Plan) -> Run:
        """Runs a plan; the times of its operators."""
        from .profile import by_operator

        return by_operator(plan.times())

    def _resize(self, subgraph: int, tensor: int, size: npt.ArrayLike, strict: bool) -> None:
        if self._allocation.resize(subgraph, tensor, size, strict):
            self._forget()

    def _set(self, subgraph: int, tensor: int, value: npt.ArrayLike) -> None:
        memory = self._allocation.set(subgraph, tensor, value)
        if subgraph == 0 and not memory.dtype.hasobject:
            self._inputs_set[tensor] = memory

    def _get(self, subgraph: int, tensor: int) -> np.ndarray:
        memory = self._allocation.memory(subgraph, tensor)
        declared = self._model.tensor(subgraph, tensor)
        if declared.bits:
            return detached(memory.astype(declared.byte_type))
        if subgraph == 0 and self._call_lock.run is not None and not declared.is_constant:
            self._outputs_got[tensor] = memory
        return detached(memory)

    def _forget(self) -> None:
        """Drops what calls on subgraph 0 remember of its plan."""
        self._call_lock.run = None
        self._inputs_set: dict[int, np.ndarray] = {}
        self._outputs_got: dict[int, np.ndarray] = {}

    def _view(self, tensor: int, read_only: bool = False) -> np.ndarray:
        """A view of a tensor. Strings have none: ValueError, or a copy where it is `read_only`."""
        with self._call_lock:
            memory = self._allocation.memory(0, tensor)
            if memory.dtype.hasobject:
                if read_only:
                    return memory.copy()
                raise ValueError(f"tensor {tensor} holds strings, use get_tensor({tensor})")
            self._call_lock.run = None  # an invoke has to ask whether the view is alive
            view = self._views.give(memory)
            if read_only:
                view.flags.writeable = False
            return view

    def _call(
        self,
        subgraph: int,
        values: Mapping[int, np.ndarray],
        outputs: Sequence[int],
        timeout: object = None,
    ) -> list[np.ndarray]:
        """The outputs of one run of a subgraph, resized to the shapes of `values`."""
        self._ensure_safe()
        with self._call_lock:
            self._call_lock.run = None
            for tensor, value in values.items():
                self._resize(subgraph, tensor, value.shape, False)
            self._allocation.allocate(subgraph)
            self._begin(timeout)
            for tensor, value in values.items():
                self._set(subgraph, tensor, value)
            self._run_plan(self._allocation.ready(subgraph))
            return [self._get(subgraph, tensor) for tensor in outputs]
