"""CompiledModel: a model run through buffers, with the surface of LiteRT 2's class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ...engine.plan.arena import address
from ...schema.errors import noted
from ..buffer_states import Repetition, States
from ..interpreter import Interpreter
from ..spec import SignatureSpec
from .compiled_options import Environment, HardwareAccelerator, Options, resolve
from .tensor_buffer import TensorBuffer, empty

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PLACEHOLDER = "<placeholder signature>"
"""The key of the one signature of a model that has none."""


class SignatureNames(TypedDict):
    """The names of a signature, in the file's order."""

    inputs: list[str]
    outputs: list[str]


class KeyedSignature(SignatureNames):
    """A signature with its key."""

    key: str


class CompiledTensorDetails(TypedDict):
    """What a compiled model says of an input or output."""

    name: str
    index: int
    dtype: str
    shape: list[int]


class BufferRequirements(TypedDict):
    """What a buffer of an input or output needs; type 1 is host memory."""

    buffer_size: int
    supported_types: list[int]


class _Runner(Interpreter):
    """The interpreter of a compiled model, which gives it all inputs anew for each run."""

    _consumes_inputs = True

    def _result(self, subgraph: int, tensor: int) -> np.ndarray:
        """The memory of an output, which the next run overwrites; int8 where it is packed."""
        memory = self._allocation.memory(subgraph, tensor)
        return memory.astype(np.int8) if self._model.tensor(subgraph, tensor).bits else memory

    def _repeat(self, repetition: Repetition) -> None:
        with self._call_lock:
            self._call_lock.run = None
            self._scope.control.begin()
            for memory, value in repetition.writes:
                memory[...] = value
            self._run_plan(repetition.plan)
            for target, result in repetition.reads:
                target[...] = result


class CompiledModel:
    """A model that is run on buffers of the caller; made by `from_file` or `from_buffer`.

    A signature goes by its key or by its index, in the order of the file. A model without
    signatures has one, of the names of its tensors.
    """

    def __init__(self, interpreter: _Runner, environment: Environment):
        self._interpreter: _Runner | None = interpreter
        self._environment = environment
        self._states = States(interpreter)
        self._repetitions: dict[tuple[str, int], Repetition] = {}
        self._signatures = interpreter._signatures_in_order() or [_unsigned(interpreter)]

    @classmethod
    def from_file(
        cls,
        model_path: str | os.PathLike[str],
        hardware_accel: HardwareAccelerator | None = None,
        environment: Environment | None = None,
        options: Options | None = None,
    ) -> CompiledModel:
        """The model of a .tflite file.

        Raises RuntimeError when it cannot be read, or may not run on the CPU.
        """
        chosen = resolve(options, hardware_accel)
        try:
            interpreter = _Runner(os.fspath(model_path), num_threads=_threads(chosen))
        except ValueError as error:
            raise noted(RuntimeError("Failed to load model from file"), str(error)) from error
        return cls(interpreter, environment or Environment.create())

    @classmethod
    def from_buffer(
        cls,
        model_data: ReadableBuffer,
        hardware_accel: HardwareAccelerator | None = None,
        environment: Environment | None = None,
        options: Options | None = None,
    ) -> CompiledModel:
        """The model of a file's bytes.

        Raises RuntimeError when they are none, or it may not run on the CPU.
        """
        chosen = resolve(options, hardware_accel)
        try:
            interpreter = _Runner(model_content=model_data, num_threads=_threads(chosen))
        except ValueError as error:
            raise noted(RuntimeError("Failed to load model from buffer"), str(error)) from error
        return cls(interpreter, environment or Environment.create())

    @property
    def environment(self) -> Environment:
        """What it was made with."""
        return self._environment

    def get_signature_list(self) -> dict[str, SignatureNames]:
        """Signature key -> {"inputs": names, "outputs": names}."""
        return {s.key: {"inputs": [*s.inputs], "outputs": [*s.outputs]} for s in self._signatures}

    def get_signature_by_index(self, index: int) -> KeyedSignature:
        """Key and names of a signature."""
        signature = self._at(index)
        inputs, outputs = [*signature.inputs], [*signature.outputs]
        return {"key": signature.key, "inputs": inputs, "outputs": outputs}

    def get_num_signatures(self) -> int:
        """How many signatures there are."""
        return len(self._signatures)

    def get_signature_index(self, key: str) -> int:
        """The index of a signature, -1 where there is none of that key."""
        return next((i for i, s in enumerate(self._signatures) if s.key == key), -1)

    def get_input_tensor_details(self, signature_key: str) -> dict[str, CompiledTensorDetails]:
        """Input name -> name of the tensor, index, dtype and the shape it has now."""
        signature = self._by_key(signature_key)
        return {n: self._details(signature, t) for n, t in signature.inputs.items()}

    def get_output_tensor_details(self, signature_key: str) -> dict[str, CompiledTensorDetails]:
        """Output name -> what `get_input_tensor_details` gives; the model is prepared for it."""
        signature = self._by_key(signature_key)
        self._open._allocate_subgraph(signature.subgraph)
        return {n: self._details(signature, t) for n, t in signature.outputs.items()}

    def get_input_buffer_requirements(
        self, input_index: int, signature_index: int = 0
    ) -> BufferRequirements:
        """How many bytes the buffer of an input needs."""
        signature = self._at(signature_index)
        return self._requirements(signature, _nth(signature.inputs, input_index, "Input"))

    def get_output_buffer_requirements(
        self, output_index: int, signature_index: int = 0
    ) -> BufferRequirements:
        """How many bytes the buffer of an output needs; the model is prepared for it."""
        signature = self._at(signature_index)
        self._open._allocate_subgraph(signature.subgraph)
        return self._requirements(signature, _nth(signature.outputs, output_index, "Output"))

    def is_fully_accelerated(self) -> bool:
        """True: every operator runs on what the model was compiled for, the CPU."""
        self._ensure_open()
        return True

    def create_input_buffer_by_name(self, signature_key: str, input_name: str) -> TensorBuffer:
        """A buffer for one input, of its type and present shape."""
        signature = self._by_key(signature_key)
        return self._buffer(signature, _named(signature.inputs, input_name, "Input"))

    def create_output_buffer_by_name(self, signature_key: str, output_name: str) -> TensorBuffer:
        """A buffer for one output; the model is prepared for its shape."""
        signature = self._by_key(signature_key)
        self._open._allocate_subgraph(signature.subgraph)
        return self._buffer(signature, _named(signature.outputs, output_name, "Output"))

    def create_input_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """A buffer for each input of a signature."""
        signature = self._at(signature_index)
        return [self._buffer(signature, tensor) for tensor in signature.inputs.values()]

    def create_output_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """A buffer for each output of a signature; the model is prepared for their shapes."""
        signature = self._at(signature_index)
        self._open._allocate_subgraph(signature.subgraph)
        return [self._buffer(signature, tensor) for tensor in signature.outputs.values()]

    def resize_input_tensor(
        self,
        input_index: int,
        dims: Sequence[int],
        signature_index: int = 0,
        strict: bool = True,
    ) -> None:
        """Gives an input another shape; buffers for it are made afterwards.

        Raises RuntimeError for a dimension that the file does not leave open, where `strict`.
        """
        signature = self._at(signature_index)
        tensor = _nth(signature.inputs, input_index, "Input")
        self._states.take_back(signature.subgraph)
        self._open._resize_subgraph(signature.subgraph, tensor, dims, strict)

    def resize_input_tensor_by_name(
        self, signature_key: str, input_name: str, dims: Sequence[int], strict: bool = True
    ) -> None:
        """`resize_input_tensor` of a signature's key and the name of its input."""
        index = self.get_signature_index(signature_key)
        if index < 0:
            raise ValueError(f"Unknown signature: {signature_key}")
        names = [*self._signatures[index].inputs]
        if input_name not in names:
            raise ValueError(f"Unknown input '{input_name}' for signature '{signature_key}'")
        self.resize_input_tensor(names.index(input_name), dims, index, strict)

    def run_by_name(
        self,
        signature_key: str,
        input_map: Mapping[str, TensorBuffer],
        output_map: Mapping[str, TensorBuffer],
    ) -> None:
        """Runs a signature on buffers by name, `input_map`; fills those of `output_map`.

        Raises RuntimeError when a buffer is missing or does not fit.
        """
        signature = self._by_key(signature_key)
        for title, names, buffers in (
            ("input", signature.inputs, input_map),
            ("output", signature.outputs, output_map),
        ):
            missing = [name for name in names if name not in buffers]
            if missing:
                raise RuntimeError(
                    f"The given map is missing some {title} TensorBuffers: {', '.join(missing)}"
                )
        inputs = [input_map[name] for name in signature.inputs]
        self._run(signature, inputs, [output_map[name] for name in signature.outputs])

    def run_by_index(
        self,
        signature_index: int,
        input_buffers: Sequence[TensorBuffer],
        output_buffers: Sequence[TensorBuffer],
    ) -> None:
        """Runs a signature on `input_buffers` in order; fills `output_buffers`.

        Raises RuntimeError when their number is wrong or one does not fit.
        """
        signature = self._at(signature_index)
        for title, names, buffers in (
            ("Input", signature.inputs, input_buffers),
            ("Output", signature.outputs, output_buffers),
        ):
            if len(names) != len(buffers):
                raise RuntimeError(
                    f"{title} buffer size mismatch: number of {title.lower()}s:{len(names)} vs "
                    f"buffers:{len(buffers)}"
                )
        self._run(signature, input_buffers, output_buffers)

    def close(self) -> None:
        """Frees the model; later calls raise RuntimeError."""
        if self._interpreter is not None:
            self._interpreter.close()
            self._interpreter = None

    def __enter__(self) -> CompiledModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ensure_open(self) -> None:
        """Raises RuntimeError when it is closed."""
        _ = self._open

    @property
    def _open(self) -> _Runner:
        if self._interpreter is None:
            raise RuntimeError("This CompiledModel is closed; make another one")
        return self._interpreter

    def _at(self, index: int) -> SignatureSpec:
        if not 0 <= index < len(self._signatures):
            raise RuntimeError(
                "Signature index is out of range of signature keys: "
                f"{index} of {len(self._signatures)}"
            )
        return self._signatures[index]

    def _by_key(self, key: str) -> SignatureSpec:
        index = self.get_signature_index(key)
        if index < 0:
            raise RuntimeError(f"Signature not found: {key}")
        return self._signatures[index]

    def _details(self, signature: SignatureSpec, tensor: int) -> CompiledTensorDetails:
        details = self._open._get_tensor_details(tensor, signature.subgraph)
        return {
            "name": details["name"],
            "index": details["index"],
            "dtype": np.dtype(details["dtype"]).name,
            "shape": details["shape"].tolist(),
        }

    def _requirements(self, signature: SignatureSpec, tensor: int) -> BufferRequirements:
        n_bytes = self._buffer(signature, tensor).array.nbytes
        return {"buffer_size": n_bytes, "supported_types": [1]}

    def _buffer(self, signature: SignatureSpec, tensor: int) -> TensorBuffer:
        details = self._open._get_tensor_details(tensor, signature.subgraph)
        dtype = np.dtype(details["dtype"])
        if dtype.hasobject or dtype.kind == "S":
            raise RuntimeError(
                f"tensor {tensor} '{details['name']}' holds strings, which have no TensorBuffer; "
                "run the model with Interpreter"
            )
        return TensorBuffer(empty(tuple(details["shape"].tolist()), dtype))

    def _run(
        self,
        signature: SignatureSpec,
        inputs: Sequence[TensorBuffer],
        outputs: Sequence[TensorBuffer],
    ) -> None:
        interpreter, subgraph = self._open, signature.subgraph
        buffers, key = [*inputs, *outputs], (signature.key, subgraph)
        repetition = self._repetitions.get(key)
        if repetition and repetition.fits(interpreter._plans.get(subgraph), buffers):
            interpreter._repeat(repetition)
            return
        by_tensor = dict(zip(signature.inputs.values(), inputs, strict=True))
        self._repetitions = {k: x for k, x in self._repetitions.items() if k[1] != subgraph}
        self._states.place(subgraph, by_tensor, outputs)
        values: dict[int, np.ndarray] = {}
        for (name, tensor), buffer in zip(signature.inputs.items(), inputs, strict=True):
            details = interpreter._get_tensor_details(tensor, subgraph)
            dtype, shape = np.dtype(details["dtype"]), tuple(details["shape"].tolist())
            values[tensor] = _fitting(buffer, dtype, shape, f"input '{name}'")
        interpreter._call(subgraph, values, ())
        reads: list[tuple[np.ndarray, np.ndarray]] = []
        may_repeat = True
        tensor_of = {id(buffer): tensor for tensor, buffer in by_tensor.items()}
        for position, (name, tensor) in enumerate(signature.outputs.items()):
            result, buffer = interpreter._result(subgraph, tensor), outputs[position]
            target = _fitting(buffer, result.dtype, result.shape, f"output '{name}'")
            if address(target) != address(result):
                target[...] = result
                reads.append((target, result))
                state = tensor_of.get(id(buffer))
                if state is not None and self._states.notes(subgraph, state, position, result):
                    may_repeat = False
        packed = [interpreter._model.tensor(subgraph, t).bits for t in signature.outputs.values()]
        if may_repeat and not any(packed):
            self._remember(key, by_tensor, buffers, reads)

    def _remember(
        self,
        key: tuple[str, int],
        inputs: Mapping[int, TensorBuffer],
        buffers: Sequence[TensorBuffer],
        reads: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """Notes what a run has copied, if that holds for the next one on these buffers."""
        interpreter, subgraph = self._open, key[1]
        plan = interpreter._plans[subgraph]
        if plan.fast_run is None:
            return
        writes: list[tuple[np.ndarray, np.ndarray]] = []
        for tensor, buffer in inputs.items():  # which may lie elsewhere since
            memory = plan.array(tensor)
            if memory is None:
                return
            if address(memory) != address(buffer.array):
                writes.append((memory, _fitting(buffer, memory.dtype, memory.shape, "an input")))
        self._repetitions[key] = Repetition(plan, buffers, writes, reads)


def _fitting(
    buffer: TensorBuffer, dtype: np.dtype, shape: tuple[int, ...], what: str
) -> np.ndarray:
    """A buffer's memory in this type and shape; RuntimeError where they differ in size."""
    array = buffer.array
    n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if array.nbytes != n_bytes:
        raise RuntimeError(
            f"The TensorBuffer of {what} must have {n_bytes} bytes ({dtype.name} {shape}), got "
            f"{array.nbytes}; after a resize, make buffers anew"
        )
    return array.reshape(-1).view(np.uint8).view(dtype).reshape(shape)


def _unsigned(interpreter: Interpreter) -> SignatureSpec:
    """The signature of a model without one: the names of its tensors."""
    inputs = {d["name"]: d["index"] for d in interpreter.get_input_details()}
    outputs = {d["name"]: d["index"] for d in interpreter.get_output_details()}
    return SignatureSpec(PLACEHOLDER, inputs, outputs, 0)


def _nth(names: Mapping[str, int], index: int, what: str) -> int:
    tensors = [*names.values()]
    if not 0 <= index < len(tensors):
        raise RuntimeError(f"{what} index out of range: {index} of {len(tensors)}")
    return tensors[index]


def _named(names: Mapping[str, int], name: str, what: str) -> int:
    if name not in names:
        raise RuntimeError(f"{what} tensor not found: {name}")
    return names[name]


def _threads(options: Options) -> int | None:
    return options.cpu_options.num_threads or None
