"""`tf.lite.experimental.Analyzer`: the structure of a flatbuffer, printed as TFLite prints it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import __version__
from ..converter.sources.source import naming
from ..schema import tables
from ..schema.checks import operator_name
from ..schema.files import read_bytes
from ..schema.flatbuffer import parse
from .mlir_text import mlir_text

SPLITTER = "-" * 63
MOST_VALUES = 5
MANY_ZEROS = 10.0
"""Percent of a file in buffers of zeros above which a way to save them is named."""
CALLS = {
    "CALL_ONCE": (("", "init_subgraph_index"),),
    "IF": ((", Then: ", "then_subgraph_index"), (", Else: ", "else_subgraph_index")),
    "WHILE": ((", Cond: ", "cond_subgraph_index"), (", Body: ", "body_subgraph_index")),
}
_GPU_WORDS = """
    ABS ADD ADD_N ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_MATMUL CAST CEIL CONCATENATION CONV_2D COS
    CUMSUM DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV ELU EQUAL EXP EXPAND_DIMS FLOOR
    FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER GELU GREATER GREATER_EQUAL HARD_SWISH
    L2_NORMALIZATION LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGISTIC LSTM MAXIMUM MAX_POOL_2D
    MEAN MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL ONE_HOT PACK PAD PADV2 POW PRELU QUANTIZE REDUCE_MAX
    REDUCE_MIN REDUCE_PROD RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 RESHAPE RESIZE_BILINEAR
    RESIZE_NEAREST_NEIGHBOR RSQRT SELECT SELECT_V2 SIGN SIN SLICE SOFTMAX SPACE_TO_BATCH_ND
    BATCH_TO_SPACE_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE SQUEEZE
    STRIDED_SLICE SUB SUM TANH TILE TRANSPOSE TRANSPOSE_CONV UNPACK
"""
GPU_OPERATORS = frozenset(_GPU_WORDS.split())
"""Operators that TFLite's GPU delegate may take."""


class ModelAnalyzer:
    """Shows what a .tflite file consists of."""

    @staticmethod
    def analyze(
        model_path: str | os.PathLike[str] | None = None,
        model_content: Any = None,
        gpu_compatibility: bool = False,
        **kwargs: Any,
    ) -> None:
        """Prints the subgraphs, operators, tensors, signatures and sizes of a model.

        Args:
            model_path: a .tflite file.
            model_content: the bytes of one.
            gpu_compatibility: also name the operators that TFLite's GPU delegate does not run.
            **kwargs: `experimental_use_mlir` asks for the text of MLIR's `tfl` dialect instead.

        Raises:
            ValueError: there is no model, or it is damaged (ModelError says where), or an operator
                has a form in MLIR that is not written here.
        """
        describe = partial(analysis, gpu_compatibility=gpu_compatibility)
        if kwargs.pop("experimental_use_mlir", False):
            describe = mlir_text
        if kwargs:
            raise TypeError(f"analyze() got unexpected keyword arguments {sorted(kwargs)}")
        if not model_path and not model_content:
            raise ValueError("neither `model_path` nor `model_content` is provided")
        if model_path:
            with naming(model_path):
                text = describe(read_bytes(model_path))
            print(f"=== {os.fspath(model_path)} ===\n")
        else:
            text = describe(model_content)
            print("=== TFLite ModelAnalyzer ===\n")
        print(text)


def analysis(content: Any, gpu_compatibility: bool = False) -> str:
    """What `ModelAnalyzer.analyze` prints of a model's bytes; ASCII, a dot for any other byte."""
    model = parse(content)
    codes = model.operator_codes or ()
    listing = _Listing(model, [_kind(code) for code in codes], memoryview(content).nbytes)
    text = "".join(listing.lines(gpu_compatibility)).encode("utf-8", "surrogateescape")
    return "".join(map(_character, text))


class _Listing:
    """The lines about one model.

    Args:
        model: its record.
        kinds: the operators of its operator codes.
        n_bytes: the size of its file.
    """

    def __init__(self, model: Any, kinds: Sequence[str], n_bytes: int):
        self._model, self._kinds, self._n_bytes = model, kinds, n_bytes
        self._used = [0] * len(model.subgraphs)  # bytes of constants

    def lines(self, gpu_compatibility: bool) -> Iterator[str]:
        """All of them."""
        yield from self._summary()
        fits = True
        for index, graph in enumerate(self._model.subgraphs):
            name = "" if graph.name is None else f" {graph.name}"
            ends = [self._tensors(x, index) for x in (graph.inputs, graph.outputs)]
            yield f"Subgraph#{index}{name}({ends[0]}) -> [{ends[1]}]\n"
            for position, operator in enumerate(graph.operators or ()):
                yield f"  {self._operator(position, operator, index)}"
            unfit = self._unfit(graph) if gpu_compatibility else []
            if unfit:
                fits = False
                yield (
                    f"\nGPU COMPATIBILITY WARNING: Subgraph#{index} has GPU delegate compatibility "
                    f"issues at nodes {', '.join(map(str, unfit))} on flatlite version "
                    f"{__version__}\n"
                )
            yield f"\nTensors of Subgraph#{index}\n"
            for position, tensor in enumerate(graph.tensors or ()):
                yield f"  {self._tensor(position, tensor, index)}"
            yield "\n"
        if gpu_compatibility and fits:
            yield (
                "\nYour model looks compatible with GPU delegate on flatlite version "
                f"{__version__}.\nThis does not guarantee that your model will work well with GPU "
                "delegate because there could still be runtime incompatibililties.\n"
            )
        yield from self._signatures()
        yield from self._sizes()

    def _summary(self) -> Iterator[str]:
        graphs = self._model.subgraphs
        yield (
            f"Your TFLite model has '{len(graphs)}' subgraph(s). In the subgraph description "
            "below,\nT# represents the Tensor numbers. "
        )
        if not graphs[0].operators:
            return
        first = graphs[0].operators[0]
        inputs, outputs = (
            " and ".join(f"tensor #{t}" for t in _ints(tensors))
            for tensors in (first.inputs, first.outputs)
        )
        yield (
            f"For example, in Subgraph#0, the {self._kinds[first.opcode_index]} op takes\n"
            f"{inputs} as input and produces {outputs} as output.\n\n"
        )

    def _operator(self, position: int, operator: Any, graph: int) -> str:
        kind = self._kinds[operator.opcode_index]
        inputs = self._tensors(operator.inputs, graph, with_values=True)
        for words, field in CALLS.get(kind, ()):
            inputs += f"{words}Subgraph#{getattr(operator.builtin_options, field, 0)}"
        return f"Op#{position} {kind}({inputs}) -> [{self._tensors(operator.outputs, graph)}]\n"

    def _tensors(self, tensors: Any, graph: int, with_values: bool = False) -> str:
        return ", ".join(self._name(t, graph, with_values) for t in _ints(tensors))

    def _name(self, index: int, graph: int, with_values: bool = False) -> str:
        name = f"T#{graph}_{index}" if graph and index != -1 else f"T#{index}"
        if with_values and index != -1:
            tensor = self._model.subgraphs[graph].tensors[index]
            if tables.name_of("TensorType", tensor.type) == "INT32":
                name += self._values(tensor)
        return name

    def _tensor(self, index: int, tensor: Any, graph: int) -> str:
        text = self._name(index, graph)
        if tensor.name is not None:
            text += f"({tensor.name}) "
        if tensor.shape_signature is not None:
            text += f"shape_signature:[{_joined(tensor.shape_signature)}]"
        elif tensor.shape is not None:
            text += f"shape:[{_joined(tensor.shape)}]"
        else:
            text += "shape:n/a"
        text += f", type:{tables.name_of('TensorType', tensor.type)}"
        data = self._data(tensor)
        if data is not None and len(data):
            self._used[graph] += len(data)
            text += f" RO {len(data)} bytes, buffer: {tensor.buffer}, data:{self._values(tensor)}"
        return text + "\n"

    def _data(self, tensor: Any) -> np.ndarray | None:
        buffers = self._model.buffers or ()
        return buffers[tensor.buffer].data if 0 < tensor.buffer < len(buffers) else None

    def _values(self, tensor: Any) -> str:
        """The first elements of a constant, "" for any other tensor."""
        data = self._data(tensor)
        if data is None:
            return ""
        kind = tables.name_of("TensorType", tensor.type)
        dtype, show = SHOWN.get(kind, (np.dtype(np.uint8), _unknown))
        data = np.asarray(data, np.uint8)
        values = data[: len(data) // dtype.itemsize * dtype.itemsize].view(dtype)
        shown = ", ".join(show(value) for value in values[:MOST_VALUES])
        return f"[{shown}{', ...' if len(values) > MOST_VALUES else ''}]"

    def _unfit(self, graph: Any) -> list[int]:
        kinds = [self._kinds[operator.opcode_index] for operator in graph.operators or ()]
        return [i for i, kind in enumerate(kinds) if kind not in GPU_OPERATORS]

    def _signatures(self) -> Iterator[str]:
        signatures = self._model.signature_defs or ()
        if not signatures:
            return
        yield f"{SPLITTER}\nYour TFLite model has '{len(signatures)}' signature_def(s).\n\n"
        for index, signature in enumerate(signatures):
            graph = signature.subgraph_index
            yield f"Signature#{index} key: '{signature.signature_key or ''}'\n"
            yield f"- Subgraph: Subgraph#{graph}\n"
            for title, maps in (("Inputs", signature.inputs), ("Outputs", signature.outputs)):
                yield f"- {title}: \n"
                for entry in maps or ():
                    yield f"    '{entry.name or ''}' : {self._name(entry.tensor_index, graph)}\n"
            yield "\n"

    def _sizes(self) -> Iterator[str]:
        data = [b.data for b in self._model.buffers or () if b.data is not None]
        constant = sum(map(len, data))
        zeros = sum(len(x) for x in data if not np.any(x))
        yield f"{SPLITTER}\n{'Model size':>24}: {self._n_bytes:10} bytes\n"
        yield self._share(f"{'Non-data buffer size':>24}", self._n_bytes - constant)
        yield self._share(f"{'Total data buffer size':>24}", constant)
        if len(self._used) > 1:
            for index, used in enumerate(self._used):
                yield self._share(f"          - {f'Subgraph#{index}':<12}", used)
        yield self._share(f"{'(Zero value buffers)':>24}", zeros)
        yield (
            "\n* Buffers of TFLite model are mostly used for constant tensors.\n"
            "  And zero value buffers are buffers filled with zeros.\n"
        )
        if self._percent(zeros) > MANY_ZEROS:
            yield (
                "  (Consider use `converter._experimental_unfold_large_splat_constant` to save "
                "the model size.)\n"
            )
        yield (
            "  Non-data buffers area are used to store operators, subgraphs and etc.\n"
            "  You can find more details from https://github.com/tensorflow/tensorflow/blob/master/"
            "tensorflow/lite/schema/schema.fbs\n"
        )

    def _share(self, title: str, n_bytes: int) -> str:
        return f"{title}: {n_bytes:10} bytes ({self._percent(n_bytes):05.2f} %)\n"

    def _percent(self, n_bytes: int) -> float:
        return float(np.float32(n_bytes) / np.float32(self._n_bytes) * np.float32(100))


def _kind(code: Any) -> str:
    name = operator_name(code)
    return (code.custom_code or "") if name == "CUSTOM" else name


def _unknown(_: Any) -> str:
    return "??"


def _character(value: Any) -> str:
    return chr(value) if value == ord("\n") or 32 <= value < 127 else "."


def _float(value: Any) -> str:
    return (
        f"{float(value):g}" if np.isfinite(value) or np.signbit(value) == 0 else f"-{abs(value):g}"
    )


SHOWN: dict[str, tuple[np.dtype, Callable[[Any], str]]] = {
    "INT32": (np.dtype(np.int32), str),
    "UINT32": (np.dtype(np.uint32), str),
    "FLOAT32": (np.dtype(np.float32), _float),
    "INT8": (np.dtype(np.uint8), _character),
    "UINT8": (np.dtype(np.uint8), _character),
    "STRING": (np.dtype(np.uint8), _character),
}
"""How the elements of a type are shown; bytes as the characters they are, as TFLite does."""


def _ints(vector: Any) -> Iterable[int]:
    return () if vector is None else np.asarray(vector).tolist()


def _joined(vector: Any) -> str:
    return ", ".join(map(str, _ints(vector)))
