"""Operations of TensorFlow that builtins cannot express, as the operators of its Flex delegate.

The code is "Flex" and the operation's type; the options are a FlexBuffer of two strings, the type
and a serialized NodeDef.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...graph.format.nodedef import write_node
from ...schema import proto
from ...schema.errors import ConverterError

if TYPE_CHECKING:
    from ...graph.core import graph as tf
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

PREFIX = "Flex"
STRING, VECTOR = 5, 10
"""Types of a FlexBuffer."""
WIDTH, WIDTH_CODE = 4, 2
"""Bytes of its lengths and offsets, and how it writes that."""


_OTHERS = """
AdjustContrast BatchCholesky BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D
BatchMatrixBandPart BatchMatrixDeterminant BatchMatrixDiag BatchMatrixDiagPart
BatchMatrixInverse BatchMatrixSetDiag BatchMatrixSolve BatchMatrixSolveLs
BatchMatrixTriangularSolve BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd CTCLossV2 Conv
DecodeWebP DeepCopy Eig FusedPadConv2D FusedResizeAndPadConv2D GenerateBoundingBoxProposals
IsotonicRegression KMC2ChainInitialization KmeansPlusPlusInitialization MakeUnique
MatrixExponential NearestNeighbors ParameterizedTruncatedNormal QuantizeDownAndShrinkRange
QuantizedAdd QuantizedBiasAdd QuantizedConcatV2 QuantizedInstanceNorm QuantizedMatMul
QuantizedMul QuantizedResizeBilinear RandomPoisson RequantizationRange Requantize SelfAdjointEig
Skipgram StochasticCastToInt TopKUnique TopKWithUnique UniformDequantize UniformQuantize
UniformQuantizedAdd UniformQuantizedClipByValue UniformQuantizedConvolution UniformQuantizedDot
UniformRequantize
"""
OTHERS = frozenset(_OTHERS.split())
"""Operations of TensorFlow without handles that have no row in
graph/core/signatures/op_signatures.txt: its own runtime runs them, flatlite does not. A source
must say what types they give."""


def flex_options(op: tf.Operation) -> bytes:
    """The options of an operation's Flex operator."""
    node: Any = proto.message("NodeDef")()
    write_node(op, node, lambda tensor: tensor.name)
    del node.input[:]
    node.input.extend([""] * len(op.inputs))  # as TensorFlow's converter writes them
    node.device = ""
    for name in [name for name in node.attr if name.startswith("_")]:
        del node.attr[name]
    return strings([op.type.encode(), node.SerializeToString(deterministic=True)])


def strings(texts: Sequence[bytes]) -> bytes:
    """A FlexBuffer that is a vector of strings of any bytes."""
    content, offsets = bytearray(), []
    for text in texts:
        content += bytes(-len(content) % WIDTH) + struct.pack("<I", len(text))
        offsets.append(len(content))
        content += text + b"\0"
    content += bytes(-len(content) % WIDTH) + struct.pack("<I", len(texts))
    vector = len(content)
    for offset in offsets:
        content += struct.pack("<I", len(content) - offset)
    content += bytes([STRING << 2 | WIDTH_CODE] * len(texts))
    return bytes(content) + bytes([len(content) - vector, VECTOR << 2 | WIDTH_CODE, 1])


def flex_outputs(op: tf.Operation, b: Builder, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The IR tensors of an operation that becomes a Flex operator."""
    options = flex_options(op)
    types = result_types(op, is_rank_needed=False)
    return b.custom(f"{PREFIX}{op.type}", *inputs, outputs=types, options=options)


class SelectOps(NamedTuple):
    """What may become operators of TensorFlow's Flex delegate.

    Attributes:
        is_allowed: whether OpsSet.SELECT_TF_OPS is among the sets that the device supports.
        user_ops: types of operations that the user's TensorFlow runs, whatever they are.
    """

    is_allowed: bool = False
    user_ops: frozenset[str] = frozenset()

    def has(self, op: tf.Operation) -> bool:
        """Whether an operation may."""
        return self.is_allowed and (op.type in self.user_ops or is_flex(op))


def is_flex(op: tf.Operation) -> bool:
    """Whether an operation can be a Flex operator: TensorFlow has it, it has no resources."""
    tensors = [*op.inputs, *op.outputs]
    return (op.signature is not None or op.type in OTHERS) and all(
        tensor.dtype is not None and tensor.dtype.names is None for tensor in tensors
    )


def result_types(op: tf.Operation, is_rank_needed: bool = True) -> list[tuple[Any, Any]]:
    """(dtype, shape) of the results of an operation that becomes a custom operator.

    Handles and variants are scalars. Raises ConverterError for other results whose type, or rank
    where it is needed, nobody knows.
    """
    results = []
    for tensor in op.outputs:
        shape = tensor.sizes
        if shape is None and tensor.dtype is not None and tensor.dtype.names is not None:
            shape = ()
        if tensor.dtype is None or (shape is None and is_rank_needed):
            raise ConverterError(
                f"{op.type} '{op.name}': type and rank of its results must be known to write a "
                "custom operator; note them in the attributes _output_types and _output_shapes"
            )
        results.append((tensor.dtype, shape))
    return results
