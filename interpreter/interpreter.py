"""Interpreter: runs a .tflite model, with the surface of `tf.lite.Interpreter`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, unique
from functools import partial
from operator import index as as_index
from typing import TYPE_CHECKING, NoReturn, TypedDict

import numpy as np

from ..schema.errors import noted
from .arguments import (
    check_fits,
    check_shape,
    check_strict,
    check_type,
    content_of,
    strings_of,
    usable_delegates,
)
from .call_lock import CallLock
from .details import operator_details, tensor_details
from .display import as_html, as_text
from .model import LoadedModel
from .plan import Plan
from .plan_cache import CachedPlan, cache_entry_of, store_plan
from .scope import Scope
from .signature import SignatureRunner
from .views import Views

if TYPE_CHECKING:
    import numpy.typing as npt
    from _typeshed import ReadableBuffer

    from ..engine.run.disk_cache import CacheEntry
    from .delegation import DelegateReport
    from .details import OperatorDetails, TensorDetails
    from .partition import AnyDelegate
    from .planner import LayoutCallback
    from .scope import Variables
    from .spec import SignatureSpec

_NULL = "Tensor data is null. Run allocate_tensors() first"
_ALIVE = """There is at least 1 reference to internal data
      in the interpreter in the form of a numpy array or slice. Be sure to
      only hold the function returned from tensor() if you are using raw
      data access."""


@unique
class OpResolverType(Enum):
    """Which kernels LiteRT would choose; flatlite has one set, exact as BUILTIN_REF."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class Arguments(TypedDict, total=False):
    """What `Interpreter` takes, by keyword."""

    model_path: str | os.PathLike[str] | None
    model_content: ReadableBuffer | None
    experimental_delegates: Sequence[AnyDelegate] | None
    num_threads: int | None
    experimental_op_resolver_type: OpResolverType
    experimental_preserve_all_tensors: bool
    experimental_disable_delegate_clustering: bool
    experimental_default_delegate_latest_features: bool
    experimental_compress_quantization_zero_points: bool
    experimental_disable_delegate_node_fusion: bool
    experimental_force_delegate_node_profiling: bool


class State(TypedDict):
    """A pickled interpreter."""

    content: bytes
    options: Arguments
    delegates: list[AnyDelegate]
    custom_ops: dict[str, type]
    variables: Variables


class Interpreter:
    """Runs a .tflite model.

    Call `allocate_tensors`, fill the inputs with `set_tensor`, `invoke`, and read the outputs with
    `get_tensor`; or call a signature by names, see `get_signature_runner`. An interpreter belongs
    to one thread at a time; a second one gets RuntimeError.

    Args:
        model_path: a .tflite file; it is mapped, not read.
        model_content: the bytes of one, in anything that has a buffer.
        experimental_delegates: objects that run parts of the model elsewhere, see
            `load_delegate` and `Delegate`; the first may choose first.
        num_threads: threads for the kernels, at least 1.
        experimental_op_resolver_type: accepted; every choice gives the same results.
        experimental_preserve_all_tensors: keep every intermediate result readable.
        experimental_disable_delegate_clustering: accepted, without effect.
        experimental_default_delegate_latest_features: accepted, without effect.
        experimental_compress_quantization_zero_points: accepted, without effect.
        experimental_disable_delegate_node_fusion: accepted, without effect.
        experimental_force_delegate_node_profiling: accepted, without effect.

    Raises:
        ValueError: an argument or the model is invalid (ModelError says where).
    """

    _custom_ops: Mapping[str, type] = {}
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
    ):
        if not isinstance(experimental_op_resolver_type, OpResolverType):
            raise ValueError(
                f"Unrecognized passed in op resolver type: {experimental_op_resolver_type}"
            )
        if num_threads is not None:
            if not isinstance(num_threads, int):
                raise ValueError("type of num_threads should be int")
            if num_threads < 1:
                raise ValueError("num_threads should >= 1")
        self._options: Arguments = {
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
        }
        self._delegates = usable_delegates(experimental_delegates)
        content, status = content_of(model_path, model_content)
        self._path = None if status is None else os.fsdecode(model_path or "")
        cache_entry = cached_bytes = None
        if status is not None and not (self._delegates or experimental_preserve_all_tensors):
            cache_entry = cache_entry_of(status, num_threads or 1)
            cached_bytes = cache_entry.read()
        cached_plan = None if cached_bytes is None else CachedPlan(cached_bytes, content)
        self._start(LoadedModel(content, cached_plan), cache_entry)

    def _start(self, model: LoadedModel, cache_entry: CacheEntry | None = None) -> None:
        self._model = model
        self._cache_entry = cache_entry  # where the first plan is stored
        self._call_lock = CallLock()
        self._views = Views()
        self._plans: dict[int, Plan] = {}
        self._shapes: dict[tuple[int, int], tuple[int, ...]] = {}
        self._inputs: dict[int, dict[int, np.ndarray]] = {}
        self._forget()
        preserve = self._options.get("experimental_preserve_all_tensors", False)
        self._scope = Scope(model, self._options.get("num_threads") or 1, preserve)
        self._scope.custom_ops.update(self._custom_ops)

    def allocate_tensors(self) -> None:
        """Prepares the operators for the inputs' shapes and gives the tensors memory.

        Raises RuntimeError when an operator cannot run as the model says, or an array that
        `tensor()` gave is still alive. The interpreter stays usable: resize and allocate again.
        """
        self._ensure_safe()
        with self._call_lock:
            self._allocate(0)

    def invoke(self, timeout: float | None = None) -> None:
        """Runs the model on the values of its input tensors.

        Args:
            timeout: seconds after which it is given up; None for no limit. It is looked at every
                50 ms, and between steps in Python.

        Raises:
            RuntimeError: before `allocate_tensors`, when an operator refuses its data, when an
                array that `tensor()` gave is still alive, or by `cancel`.
            TimeoutError: it took longer than `timeout`. Outputs are not valid then; the next
                invoke starts anew.
        """
        if timeout is not None:
            self._invoke_within(timeout)
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

    def get_input_details(self) -> list[TensorDetails]:
        """A dictionary for each input.

        Keys: name, index, shape (int32 array), shape_signature (with -1 for what is unknown),
        dtype (numpy type), quantization (scale, zero_point; (0.0, 0) when none or per channel),
        quantization_parameters (scales, zero_points, quantized_dimension, block_size),
        sparsity_parameters (empty for a dense tensor).
        """
        return [self._details(0, tensor) for tensor in self._model.ends(0)[0]]

    def get_output_details(self) -> list[TensorDetails]:
        """A dictionary for each output, with the keys of `get_input_details`."""
        return [self._details(0, tensor) for tensor in self._model.ends(0)[1]]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[TensorDetails]:
        """A dictionary for each tensor of a subgraph, with the keys of `get_input_details`."""
        if not 0 <= subgraph_index < self._model.n_subgraphs:
            raise ValueError(
                f"subgraph_index is out of range: {subgraph_index} for the model, which has "
                f"{self._model.n_subgraphs} subgraphs."
            )
        tensors = self._model.subgraph(subgraph_index).tensors
        return [self._details(subgraph_index, tensor) for tensor in range(len(tensors))]

    def set_tensor(self, tensor_index: int, value: npt.ArrayLike) -> None:
        """Copies `value`, of the tensor's own type and shape, into an input tensor.

        Raises ValueError when type or shape differ, or before `allocate_tensors`.
        """
        with self._call_lock:
            if type(tensor_index) is int:
                memory = self._inputs_set.get(tensor_index)
                if memory is not None and _alike(value, memory):
                    memory[...] = value
                    return
            self._set(0, as_index(tensor_index), value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> np.ndarray:
        """A copy of a tensor's value.

        Raises ValueError for an intermediate result whose memory is used again, unless the
        interpreter was made with experimental_preserve_all_tensors.
        """
        with self._call_lock:
            if type(tensor_index) is int and not subgraph_index and self._call_lock.run is not None:
                memory = self._outputs_got.get(tensor_index)
                if memory is not None:
                    return memory.copy()
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
        return SignatureRunner(interpreter=self, signature_key=signature_key)

    def num_subgraphs(self) -> int:
        """How many subgraphs the model has."""
        return self._model.n_subgraphs

    def delegate_report(self, subgraph_index: int = 0) -> DelegateReport:
        """Which operators the delegates run, why not the others, and what is copied.

        `print` shows it as a table. Raises RuntimeError before `allocate_tensors`, or when the
        interpreter was made without delegates.
        """
        if not self._delegates:
            raise RuntimeError("the interpreter was made without experimental_delegates")
        plan = self._plans.get(subgraph_index)
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
        return as_text(self)

    def _repr_html_(self) -> str:
        """What notebooks show."""
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
                "options": self._options.copy(),
                "delegates": list(self._delegates),
                "custom_ops": dict(self._custom_ops),
                "variables": self._scope.snapshot(),
            }

    def __setstate__(self, state: State) -> None:
        self._options, self._path = state["options"], None
        self._delegates = state["delegates"]
        self._custom_ops = state["custom_ops"]
        self._start(LoadedModel(state["content"]))
        self._scope.restore(state["variables"])

    def _safe_to_run(self) -> bool:
        """Whether no array that `tensor()` gave is alive."""
        return not self._views

    def _ensure_safe(self) -> None:
        """Raises RuntimeError while an array that `tensor()` gave is alive."""
        if not self._safe_to_run():
            raise RuntimeError(_ALIVE)

    def _signature(self, key: str) -> SignatureSpec | None:
        return self._model.signatures.get(key)

    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]:
        """Signature key -> {"inputs": {name: tensor}, "outputs": {name: tensor}}."""
        return {
            key: {"inputs": dict(signature.inputs), "outputs": dict(signature.outputs)}
            for key, signature in self._model.signatures.items()
        }

    def _get_op_details(self, op_index: int) -> OperatorDetails:
        """Index, op_name, inputs, outputs, operand_types and result_types of an operator."""
        spec = self._model.subgraph(0)
        if not 0 <= op_index < len(spec.operators):
            raise ValueError("Invalid node index")
        return operator_details(spec, spec.operators[op_index])

    def _get_ops_details(self) -> list[OperatorDetails]:
        """`_get_op_details` of every operator."""
        return [self._get_op_details(i) for i in range(len(self._model.subgraph(0).operators))]

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int) -> TensorDetails:
        """The dictionary of one tensor, with the keys of `get_input_details`."""
        return self._details(int(subgraph_index), int(tensor_index))

    def _details(self, subgraph: int, tensor: int) -> TensorDetails:
        declared = self._model.tensor(subgraph, tensor)
        shape = self._shapes.get((subgraph, tensor))
        plan = self._plans.get(subgraph)
        if shape is None and plan is not None:
            shape = plan.shape(tensor)
        return tensor_details(declared, declared.shape if shape is None else shape)

    def _shape(self, subgraph: int, tensor: int) -> tuple[int, ...]:
        resized = self._shapes.get((subgraph, tensor))
        return self._model.tensor(subgraph, tensor).shape if resized is None else resized

    def _allocate(self, subgraph: int) -> None:
        if subgraph in self._plans:
            return
        model, plan = self._model, None
        usual = subgraph == 0 and not self._shapes
        if usual and model.cached_plan is not None:
            plan = Plan.from_cache(self._scope, model.cached_plan)
        if plan is None:
            on_layout = None
            if usual and self._cache_entry is not None and self._cache_entry.is_writable:
                on_layout = partial(store_plan, self._cache_entry, model)
            plan = self._prepare(subgraph, on_layout)
        self._plans[subgraph] = plan
        model.release()
        if self._inputs.pop(subgraph, None) is not None:
            self._scope.reset_states()

    def _prepare(self, subgraph: int, on_layout: LayoutCallback | None) -> Plan:
        spec = self._model.subgraph(subgraph)
        shapes = {tensor: self._shape(subgraph, tensor) for tensor in spec.inputs if tensor >= 0}
        for tensor, shape in shapes.items():
            check_shape(spec.tensors[tensor], shape)
        inputs = self._inputs.get(subgraph)
        return Plan(self._scope, spec, shapes, inputs, self._delegates, on_layout)

    def _profiled(self) -> dict[tuple[int, str, str], float]:
        """Runs the model; seconds by (position, kind, name) of the operators that ran."""
        self._ensure_safe()
        with self._call_lock:
            self._call_lock.run = None
            self._scope.control.begin()
            times: dict[tuple[int, str, str], float] = {}
            for node, seconds in self._ready(0).times():
                key = node.index, node.kind, node.name
                times[key] = times.get(key, 0.0) + seconds
            return times

    def _invoke_within(self, seconds: float) -> None:
        """Runs the model for some seconds at most."""
        if not seconds >= 0:
            raise ValueError(f"timeout must be a number of seconds, not negative, got {seconds}")
        with self._call_lock:
            self._invoke(False, seconds)

    def _invoke(self, begun: bool, seconds: float | None = None) -> None:
        """Runs the model with every check, or the rest when the call lock's `run` has begun it."""
        call_lock, plan = self._call_lock, self._plans.get(0)
        call_lock.run = None
        if not begun:
            self._scope.control.begin(
                seconds, TimeoutError(f"invoke did not come to its end within {seconds} s")
            )
        self._ensure_safe()
        if plan is None:
            plan = self._ready(0)
        plan.run(begun=begun)
        call_lock.run = plan.fast_run

    def _ready(self, subgraph: int) -> Plan:
        plan = self._plans.get(subgraph)
        if plan is None:
            raise RuntimeError("Invoke called on model that is not ready.")
        return plan

    def _resize(self, subgraph: int, tensor: int, size: npt.ArrayLike, strict: bool) -> None:
        sizes = np.array(size, dtype=np.int32)
        if sizes.ndim != 1:
            raise ValueError(f"Shape should be 1D instead of {sizes.ndim}.")
        shape = tuple(sizes.tolist())
        try:
            declared = self._model.tensor(subgraph, tensor)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        if tensor not in self._model.ends(subgraph)[0] or declared.is_constant:
            error = RuntimeError("Attempting to resize a fixed-size tensor.")
            raise noted(error, f"Tensor {tensor} '{declared.name}' is no input of the model")
        check_shape(declared, shape)
        before = self._shape(subgraph, tensor)
        if strict:
            check_strict(tensor, declared, before, shape)
        if shape == before:
            return
        self._shapes[subgraph, tensor] = shape
        plan = self._plans.pop(subgraph, None)
        if plan is not None:
            self._forget()
            self._inputs[subgraph] = {t: plan.first.arrays[t] for t in plan.inputs}

    def _set(self, subgraph: int, tensor: int, value: npt.ArrayLike) -> None:
        declared = self._model.tensor(subgraph, tensor)
        array = np.asarray(value, object if isinstance(value, (str, bytes)) else None)
        check_type(declared, array.dtype)
        plan = self._plans.get(subgraph)
        shape = plan.shape(tensor) if plan is not None else None
        check_fits(tensor, array.shape, self._shape(subgraph, tensor) if shape is None else shape)
        if declared.is_constant:
            raise ValueError(f"Cannot set tensor: tensor {tensor} '{declared.name}' is constant")
        memory = None if plan is None else plan.array(tensor)
        if memory is None or not memory.flags.writeable:
            raise ValueError(
                "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first"
            )
        memory[...] = strings_of(array) if declared.dtype.hasobject else array
        if subgraph == 0 and not declared.dtype.hasobject:
            self._inputs_set[tensor] = memory

    def _memory(self, subgraph: int, tensor: int) -> np.ndarray:
        declared = self._model.tensor(subgraph, tensor)
        if declared.is_constant:
            return declared.value
        plan = self._plans.get(subgraph)
        if plan is None:
            raise ValueError(_NULL)
        if not plan.finished and tensor not in plan.inputs and not declared.is_variable:
            raise ValueError(
                "Tensor data is not valid: the last invoke did not come to its end; invoke again"
            )
        memory = plan.array(tensor)
        if memory is None and 0 in declared.shape:  # a constant of no elements has no data
            memory = np.empty(declared.shape, declared.dtype)
        if memory is None:
            raise noted(
                ValueError(_NULL),
                f"Tensor {tensor} '{declared.name}' is an intermediate result whose memory is used "
                "again: experimental_preserve_all_tensors=True keeps it",
            )
        return memory

    def _get(self, subgraph: int, tensor: int) -> np.ndarray:
        memory = self._memory(subgraph, tensor)
        declared = self._model.tensor(subgraph, tensor)
        if declared.bits:
            return memory.astype(np.int8)
        if subgraph == 0 and self._call_lock.run is not None and not declared.is_constant:
            self._outputs_got[tensor] = memory
        return memory.copy()

    def _forget(self) -> None:
        """Drops what calls on subgraph 0 remember of its plan."""
        self._call_lock.run = None
        self._inputs_set: dict[int, np.ndarray] = {}
        self._outputs_got: dict[int, np.ndarray] = {}

    def _view(self, tensor: int) -> np.ndarray:
        with self._call_lock:
            memory = self._memory(0, tensor)
            if memory.dtype.hasobject:
                raise ValueError(f"tensor {tensor} holds strings, use get_tensor({tensor})")
            self._call_lock.run = None  # an invoke has to ask whether the view is alive
            return self._views.give(memory)

    def _call(
        self, subgraph: int, values: Mapping[int, np.ndarray], outputs: Sequence[int]
    ) -> list[np.ndarray]:
        """The outputs of one run of a subgraph, resized to the shapes of `values`."""
        self._ensure_safe()
        with self._call_lock:
            self._call_lock.run = None
            for tensor, value in values.items():
                self._resize(subgraph, tensor, value.shape, False)
            self._allocate(subgraph)
            self._scope.control.begin()
            for tensor, value in values.items():
                self._set(subgraph, tensor, value)
            self._ready(subgraph).run()
            return [self._get(subgraph, tensor) for tensor in outputs]


def _alike(value: npt.ArrayLike, memory: np.ndarray) -> bool:
    """Whether `value` is an array of the very type and shape of `memory`."""
    return type(value) is np.ndarray and value.dtype is memory.dtype and value.shape == memory.shape
