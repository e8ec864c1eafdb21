"""Signatures: which tensors of a graph a SavedModel takes and gives, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...graph.core.composite.sparse_tensor import SparseTensor
from ...graph.core.graph import Graph, Tensor
from ...graph.core.scopes import get_default_graph
from ...graph.format import tensor_proto
from ...graph.variables.kinds import ReferenceVariable
from ...graph.variables.variables import Variable
from ...schema import proto
from ...schema.dtypes import tf_enum
from .saved_model_constants import (
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    PREDICT_METHOD_NAME,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
)

REFERENCE = 100
"""Added to the DataType of a variable that is a reference."""
STRING, FLOAT = tf_enum(np.dtype(object)), tf_enum(np.float32)


def build_tensor_info(tensor: Tensor | SparseTensor | Variable):
    """The TensorInfo message of a tensor: its name, or those of its parts, dtype and shape.

    Raises:
        TypeError: It is no Tensor, SparseTensor or Variable.
    """
    if not isinstance(tensor, Tensor | SparseTensor | Variable):
        raise TypeError(
            f"A TensorInfo must be of a Tensor, SparseTensor or Variable, got {tensor!r}; split "
            "other structures into their tensors"
        )
    reference = REFERENCE if isinstance(tensor, ReferenceVariable) else 0
    info = proto.TensorInfo(dtype=tf_enum(tensor.dtype) + reference)
    shape = tensor.get_shape().as_shape()
    info.tensor_shape.unknown_rank = shape is None
    for size in shape or ():
        info.tensor_shape.dim.add(size=-1 if size is None else size)
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | SparseTensor:
    """The tensor of a graph, the default one when None, that a TensorInfo message describes.

    Args:
        tensor_info: The message.
        graph: Where to look.
        import_scope: Put before all names.

    Raises:
        KeyError: The graph has no such tensor.
        ValueError: The message describes no Tensor and no SparseTensor.
    """
    graph = get_default_graph() if graph is None else graph
    prefix = f"{import_scope}/" if import_scope else ""

    def tensor(name: str) -> Tensor:
        return graph.get_tensor_by_name(prefix + name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            tensor(parts.indices_tensor_name),
            tensor(parts.values_tensor_name),
            tensor(parts.dense_shape_tensor_name),
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}. Expected one of: name, coo_sparse")


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
    defaults: Mapping[str, Tensor] | None = None,
):
    """The SignatureDef message of TensorInfo messages.

    Args:
        inputs, outputs: TensorInfo messages by name.
        method_name: What kind of signature it is, such as PREDICT_METHOD_NAME.
        defaults: Constants for inputs that may be left out.

    Raises:
        ValueError: A default is no constant.
    """
    signature = proto.SignatureDef(method_name=method_name or "")
    for name, info in (inputs or {}).items():
        signature.inputs[name].CopyFrom(info)
    for name, info in (outputs or {}).items():
        signature.outputs[name].CopyFrom(info)
    for name, default in (defaults or {}).items():
        if default.op.type != "Const":
            raise ValueError(
                f"Unable to convert object {default} of type {type(default)} to TensorProto."
            )
        value = tensor_proto.write(default.op.get_attr("value"))
        signature.defaults[name].ParseFromString(value.SerializeToString())
    return signature


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]):
    """A signature of any tensors, by name.

    Raises:
        ValueError: There are no inputs or no outputs.
    """
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        PREDICT_METHOD_NAME,
    )


def regression_signature_def(examples: Tensor, predictions: Tensor):
    """A signature that takes serialized tf.Examples and gives float32.

    Args:
        examples: Strings of any shape.
        predictions: float32.

    Raises:
        ValueError: One is missing, or has another dtype.
    """
    inputs = {REGRESS_INPUTS: _examples("Regression", examples)}
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    info = build_tensor_info(predictions)
    if info.dtype != FLOAT:
        raise ValueError(
            "Regression output tensors must be of type float. Found tensors with type "
            f"{info.dtype}."
        )
    return build_signature_def(inputs, {REGRESS_OUTPUTS: info}, REGRESS_METHOD_NAME)


def classification_signature_def(examples: Tensor, classes: Tensor | None, scores: Tensor | None):
    """A signature that takes serialized tf.Examples and gives labels, scores, or both.

    Args:
        examples: Strings of any shape.
        classes: Strings, or None.
        scores: float32, or None.

    Raises:
        ValueError: The examples are missing, or both others are, or one has another dtype.
    """
    if examples is not None and classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    inputs = {CLASSIFY_INPUTS: _examples("Classification", examples)}
    outputs = {}
    if classes is not None:
        info = outputs[CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
        if info.dtype != STRING:
            raise ValueError(
                "Classification classes must be of type string Tensor. Found tensors of type "
                f"{info.dtype}."
            )
    if scores is not None:
        info = outputs[CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
        if info.dtype != FLOAT:
            raise ValueError("Classification scores must be a float Tensor.")
    return build_signature_def(inputs, outputs, CLASSIFY_METHOD_NAME)


def _examples(kind: str, examples: Tensor):
    """The TensorInfo of a string tensor with serialized tf.Examples."""
    if examples is None:
        raise ValueError(f"{kind} `examples` cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(
            f"Expected {kind.lower()} `examples` to be of type Tensor. Found `examples` of type "
            f"{type(examples)}."
        )
    info = build_tensor_info(examples)
    if info.dtype != STRING:
        raise ValueError(
            f"{kind} input tensors must be of type string. Found tensors with type {info.dtype}."
        )
    return info


def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving can use a signature: method, names and dtypes are what it asks."""
    if signature_def is None:
        return False
    method = signature_def.method_name
    inputs = {name: info.dtype for name, info in signature_def.inputs.items()}
    outputs = {name: info.dtype for name, info in signature_def.outputs.items()}
    if method == PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if method == REGRESS_METHOD_NAME:
        return inputs == {REGRESS_INPUTS: STRING} and outputs == {REGRESS_OUTPUTS: FLOAT}
    possible = {CLASSIFY_OUTPUT_CLASSES: STRING, CLASSIFY_OUTPUT_SCORES: FLOAT}
    return (
        method == CLASSIFY_METHOD_NAME
        and inputs == {CLASSIFY_INPUTS: STRING}
        and len(outputs) > 0
        and outputs.items() <= possible.items()
    )
