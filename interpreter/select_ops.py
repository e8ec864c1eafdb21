"""Flex operators: operations of TensorFlow in a file, run by graph/'s kernels.

Their options hold the operation as TensorFlow's NodeDef. Operations that open files, change
reference variables or call functions are refused: a model is data. What lies behind handles is the
interpreter's (select_state.py). Checkpoints are written and read where the caller says: their path
must be an input of the function that the caller runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

import numpy as np

from ..graph.core.graph import Graph
from ..graph.core.infer import KERNEL_ERRORS, call_kernel, each_output
from ..graph.core.registry import row_of
from ..graph.core.shapes import is_static
from ..graph.core.signatures.signatures import REQUIRED, signature_of
from ..graph.format.graphdef import import_node
from ..graph.session.hosted import HOSTED
from ..graph.session.keys import shared_name
from ..graph.session.state import State
from ..schema import proto
from ..schema.dtypes import RESOURCE, array_dtype, tf_dtype, tf_name
from ..schema.errors import ModelError, OpError
from ..schema.flexbuffer import read_flexbuffer
from .plan.node import HostCall, Node, NodeError
from .select_state import is_handle, keeps_state, state_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine.philox import Philox
    from ..graph.core.graph import Operation, Tensor
    from ..graph.core.protocols import AttrValue
    from ..graph.format import messages
    from .plan.node import Operand, Prepared
    from .plan.scope import Scope

    Kernel = Callable[[Sequence[np.ndarray]], list[np.ndarray]]

_RANDOM = {
    *("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt"),
    *("RandomShuffle", "Multinomial", "RandomGamma", "RandomPoissonV2"),
    *("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"),
}
_STATELESS = {"Assert", "CheckNumerics", "Empty", "StatelessRandomGetAlg", "Timestamp"}
"""What TensorFlow counts as stateful, though its results follow from its inputs alone."""
_CHECKPOINTS = {"Save", "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2"}
_FILES = {
    *("ReadFile", "WriteFile", "MatchingFiles", "MergeV2Checkpoints"),
    *("ImmutableConst", "PyFunc", "EagerPyFunc"),
}
_PRINTERS = {"Print", "PrintV2"}
_OPTIONALS = {f"Optional{word}" for word in ("FromValue", "None", "HasValue", "GetValue")}
_DRAWN = {
    *("StatelessMultinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
    *("StatelessRandomPoisson", "StatelessSampleDistortedBoundingBox"),
}
"""Drawn from seeds that are operands."""
_SAME_AS = {
    "CheckNumericsV2": "CheckNumerics",
    "DebugGradientIdentity": "Identity",
    "DeepCopy": "Identity",
    "ScatterNdNonAliasingAdd": "TensorScatterAdd",
}
"""Operations that compute what others do, which flatlite has kernels of."""
_REMOVED = {
    *("AdjustContrast", "BatchCholesky", "BatchNormWithGlobalNormalizationGrad", "TileGrad"),
    *(f"BatchMatrix{word}" for word in ("BandPart", "Determinant", "Diag", "DiagPart", "Inverse")),
    *("BatchMatrixSetDiag", "BatchMatrixTriangularSolve", "RandomPoisson", "TensorArrayV2"),
    *("Conv3DBackpropFilter", "Conv3DBackpropInput", "TensorArrayGradV2", "TensorArrayWriteV2"),
    *(f"TensorArray{word}V2" for word in ("Close", "Gather", "Read", "Scatter", "Size", "Split")),
}
"""Operations that TensorFlow no longer runs in graphs as new as those of files with them."""
_OF_QINT32 = {
    *("QuantizeDownAndShrinkRange", "QuantizedAdd", "QuantizedBiasAdd", "QuantizedConv2D"),
    *("QuantizedBatchNormWithGlobalNormalization", "QuantizedMatMul", "QuantizedMul"),
    *("RequantizationRange", "Requantize"),
}
_MAX_CONSTANT = 1024
"""Elements of an input whose value shape functions may look at."""

_STREAMS: WeakKeyDictionary[Scope, dict[tuple[int, int], Philox]] = WeakKeyDictionary()
"""Where the random numbers of an interpreter's operators were left, by subgraph and position."""


def prepare_select_op(node: Node) -> Prepared:
    """What `prepare` returns for the Flex operator `node`."""
    return prepare_operation(node, *_operation(node))


def prepare_operation(node: Node, op: Operation, name: str) -> Prepared:
    """What `prepare` returns for an operator that is an operation of TensorFlow.

    Args:
        node: the operator.
        op: the operation, in a graph of its own, with its inputs.
        name: of what it stands for, where it stands for something that is kept.
    """
    kernel = _kernel(node, op, name)
    if len(op.outputs) != len(node.outputs):
        node.fail(f"{op.type} has {len(op.outputs)} results, the model {len(node.outputs)}")
    dtypes = [_dtype(tensor) for tensor in op.outputs]
    for declared, dtype in zip(node.outputs, dtypes, strict=True):
        if declared.dtype is not None and declared.dtype != dtype:
            node.fail(f"{op.type} gives {dtype}, the model declares {tf_name(declared.dtype)}")

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        try:
            with np.errstate(all="ignore"):
                return [_plain(x) for x in kernel(arrays)]
        except NodeError:
            raise
        except (*KERNEL_ERRORS, OpError) as error:
            raise NodeError(f"{node.kind} '{node.name}': {error}", node) from error

    shapes = [tensor.sizes for tensor in op.outputs]
    static = [shape for shape in shapes if is_static(shape)]
    moving = [*dtypes, *(x.dtype for x in node.inputs if x is not None)]
    moves = all(dtype.kind in "biufc" for dtype in moving)
    if len(static) < len(shapes) or not moves or any(x is None for x in node.inputs):
        partly = [tuple(shape) if shape is not None else () for shape in shapes]
        return node.dynamic_result(lambda *arrays: run(arrays), partly)
    operands = [x for x in node.inputs if x is not None]
    outs = [node.result(shape, dtype) for shape, dtype in zip(static, dtypes, strict=True)]

    def step(*arrays: np.ndarray) -> None:
        results = run(arrays[: len(operands)])
        for out, result in zip(arrays[len(operands) :], results, strict=True):
            if result.shape != out.shape:
                node.fail(f"the result must have shape {out.shape}, got {result.shape}")
            out[...] = result

    return HostCall(step, operands, outs)


def _operation(node: Node) -> tuple[Operation, str]:
    """The operation that a node's options describe, in a graph of its own with its inputs.

    With it comes the name of what it stands for, where it stands for something that is kept.

    Those that would do more than compute are refused.
    """
    reason = reason_against(node.kind.removeprefix("Flex"))
    if reason:
        node.fail(reason)
    try:
        content = node_def_of(bytes(node.custom_options))
        if content is None:
            raise _unsupported(node, "the options must hold the operation's name and its NodeDef")
        kind, name, definition = known_definition(content)
        graph, dtypes = Graph(), _input_dtypes(definition)
        inputs = [
            operation_input(graph, node, i, x, *dtypes[i : i + 1])
            for i, x in enumerate(node.inputs)
        ]
        op = import_node(graph, definition, inputs)
    except NodeError:
        raise
    except (ModelError, ValueError, TypeError) as error:
        node.fail(f"{error}")
    if f"Flex{kind}" != node.kind:
        node.fail(f"options must describe {node.kind.removeprefix('Flex')}, got {kind}")
    return op, shared_name(op) or name


def known_definition(content: bytes) -> tuple[str, str, bytes]:
    """The type and the name of a serialized NodeDef, and it with an operation known here.

    Raises ModelError for what is no NodeDef.
    """
    definition = cast("messages.NodeDef", proto.parse("NodeDef", content))
    kind = definition.op
    definition.op = _SAME_AS.get(kind, kind)
    return kind, definition.name, definition.SerializeToString()


def node_def_of(options: bytes) -> bytes | None:
    """The serialized NodeDef in the options of a Flex operator, None where there is none.

    Raises ModelError for options that are no FlexBuffer.
    """
    value = read_flexbuffer(options) if options else None
    content = value[1] if isinstance(value, list) and len(value) == 2 else None
    content = content.encode() if isinstance(content, str) else content
    return content if isinstance(content, bytes) else None


def reason_against(kind: str) -> str:
    """Why no model may have an op, which would do more than compute; empty when it may."""
    kind = _SAME_AS.get(kind, kind)
    row, signature = row_of(kind), signature_of(kind)
    if keeps_state(kind):
        return ""
    if signature is not None and any(
        argument.is_reference for argument in (*signature.inputs, *signature.outputs)
    ):
        return f"{kind} is of references, which no Flex operator may be, nor is one in TensorFlow"
    if kind in _REMOVED:
        return f"{kind} was removed from TensorFlow, which no longer runs it either"
    if kind in _OF_QINT32:
        return f"{kind} takes or gives qint32, which no tensor of a file may have"
    if kind in _FILES or (row is not None and row.writes):
        return f"{kind} opens files or changes variables, which no model may"
    hosted = HOSTED.get(kind) if kind in _RANDOM | _CHECKPOINTS | _PRINTERS else None
    allowed = hosted is not None or kind in _STATELESS
    if signature is not None and signature.is_stateful and not allowed:
        return f"{kind} keeps a state, which Flex operators may not in flatlite"
    return ""


def _input_dtypes(definition: bytes) -> list[np.dtype]:
    """The types of inputs that a serialized NodeDef states; [] where it does not."""
    message = cast("messages.NodeDef", proto.parse("NodeDef", definition))
    signature = signature_of(message.op)
    if signature is None:
        return []

    def stated(name: str) -> AttrValue:
        if name not in message.attr:
            default = signature.attrs[name].default
            return None if default is REQUIRED else default
        value = message.attr[name]
        kind = signature.attrs[name].kind
        if kind.startswith("list("):
            return [tf_dtype(number) for number in value.list.type]
        return tf_dtype(value.type) if kind == "type" else value.i

    return [np.dtype(dtype) for dtype in signature.input_dtypes(stated)]


def operation_input(
    graph: Graph, node: Node, i: int, x: Operand | None, dtype: np.dtype | None = None
) -> Tensor:
    """What stands for input `i` in the operation's graph: a constant where its value is known.

    Of the type `dtype` where arrays of that are as the operand is: variants are objects, quantized
    numbers integers.
    """
    if x is None:
        node.fail(f"input {i} is missing")
    value = x.value
    if dtype is not None and dtype.names and dtype != RESOURCE and array_dtype(dtype) == x.dtype:
        attrs = {"dtype": dtype, "shape": x.shape}
        return graph.add("Placeholder", f"input_{i}", (), attrs).outputs[0]
    attrs = {"dtype": x.dtype, "shape": x.shape}
    if value is not None and value.size <= _MAX_CONSTANT:
        attrs = {"dtype": x.dtype, "value": value}
    kind = "Const" if "value" in attrs else "Placeholder"
    return graph.add(kind, f"input_{i}", (), attrs).outputs[0]


def _kernel(node: Node, op: Operation, name: str) -> Kernel:
    """What computes an operation."""
    if op.type in _RANDOM and HOSTED.get(op.type) is not None:
        return _random_kernel(node, op)
    if op.type in _CHECKPOINTS:
        return _checkpoint_kernel(node, op)
    if op.type in _PRINTERS | _DRAWN | _OPTIONALS:
        return _hosted_kernel(node, op)
    kernel = state_kernel(node, op, name)
    if kernel is not None:
        return kernel
    row = row_of(op.type)
    if row is None or row.kernel is None:
        raise _unsupported(node, f"there is no kernel for {op.type}")
    return lambda arrays: call_kernel(row, op, arrays)


def _checkpoint_kernel(node: Node, op: Operation) -> Kernel:
    """What writes or reads a checkpoint at a path of the caller's."""
    if not _is_callers(node, 0):
        node.fail(
            f"the path must be an input of the function that is run, so that the caller chooses "
            f"what {op.type} opens; a model may not"
        )
    function = HOSTED.known(op.type)

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(item) for item in each_output(op, function(op, State(), *arrays))]

    return run


def _hosted_kernel(node: Node, op: Operation) -> Kernel:
    """What draws numbers, or writes to a standard stream or the log."""
    function, state = HOSTED.known(op.type), State()
    stream = cast("bytes", op.attrs.get("output_stream", b"")).decode()
    if stream.startswith("file://"):
        node.fail(f"writes to {stream}; a model opens no files")
    return lambda arrays: [np.asarray(one) for one in each_output(op, function(op, state, *arrays))]


def _is_callers(node: Node, i: int) -> bool:
    """Whether input `i` is what the caller of the interpreter gave, and not of the model's own."""
    planner = node.planner
    if planner is None or node.caller is not None or planner.scope.is_in_call:
        return False
    spec = planner.spec
    tensor = spec.operators[node.index].inputs[i]
    return tensor in spec.inputs and not any(tensor in op.outputs for op in spec.operators)


def _unsupported(node: Node, reason: str) -> NodeError:
    """The error of an operator that cannot run, in LiteRT's words."""
    return NodeError(
        "Regular/Select TensorFlow ops are not supported by this interpreter. Make sure you "
        f"apply/link the Flex delegate before inference.\nFlex op: {node.kind}; in flatlite, "
        f"{reason}; register a class with @flatlite.lite.custom_op({node.kind!r})",
        node,
    )


def _random_kernel(node: Node, op: Operation) -> Kernel:
    """What draws the numbers of a random operation, going on where its last run left off."""
    function, scope = HOSTED.known(op.type), node.scope
    streams = {} if scope is None else _STREAMS.setdefault(scope, {})
    site = -1 if node.planner is None else node.planner.spec.index, node.index

    def draw(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        state = State()
        if site in streams:
            state.streams[op] = streams[site]
        results = each_output(op, function(op, state, *arrays))
        streams[site] = state.streams[op]
        return [np.asarray(result) for result in results]

    return draw


def _plain(x: np.ndarray) -> np.ndarray:
    """Quantized numbers as the integers that they are made of."""
    return x.view(array_dtype(x.dtype)) if x.dtype.names and x.dtype != RESOURCE else x


def _dtype(tensor: Tensor) -> np.dtype:
    """The type of a result as the interpreter has it: strings are objects."""
    if is_handle(tensor):
        return RESOURCE
    dtype = cast("np.dtype | None", None if tensor.dtype is None else tensor.dtype.dtype)
    return np.dtype(object) if dtype is None or dtype.hasobject else array_dtype(dtype)
