"""The order of a signature's inputs and outputs, which a SavedModel keeps by name only.

TensorFlow 2 saves a signature as a call of a wrapper that takes and gives everything in the order
of the keys, and calls the user's function in its own order:

    placeholders -> wrapper(alpha, zeta) = function(zeta, alpha) -> outputs
"""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.core.calls import called_function
from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.order import copied_from

WRAPPER = "signature_wrapper"


def argument_order(inputs: Mapping[str, Tensor]) -> list[str]:
    """The keys of a signature's inputs, in the order of the arguments of its function."""
    wrapper = _wrapper(reader for tensor in inputs.values() for reader in tensor.consumers())
    call = _inner_call(wrapper) if wrapper else None
    if wrapper is None or call is None:
        return list(inputs)
    keys = {tensor: key for key, tensor in inputs.items()}
    arguments = zip(call.graph.inputs or (), wrapper.inputs, strict=False)
    argument_keys = {argument: keys[tensor] for argument, tensor in arguments if tensor in keys}
    ordered_keys = [argument_keys[tensor] for tensor in call.inputs if tensor in argument_keys]
    return list(dict.fromkeys([*ordered_keys, *inputs]))


def result_order(outputs: Mapping[str, Tensor]) -> list[str]:
    """The keys of a signature's outputs, in the order of the results of its function."""
    producers = [tensor.op for tensor in outputs.values()]
    wrapper = _wrapper(producers)
    call = _inner_call(wrapper) if wrapper else None
    if call is None or any(producer is not wrapper for producer in producers):
        return list(outputs)
    results = [copied_from(tensor) for tensor in call.graph.outputs or ()]
    positions = {}
    for key, tensor in outputs.items():
        result = results[tensor.value_index] if tensor.value_index < len(results) else tensor
        is_result = result.op is call
        positions[key] = result.value_index if is_result else len(call.outputs)
    return sorted(outputs, key=positions.__getitem__)


def _wrapper(operations) -> Operation | None:
    """The call of a signature's wrapper among operations."""
    for op in operations:
        reference = called_function(op)
        if reference is not None and WRAPPER in reference.name:
            return op
    return None


def _inner_call(wrapper: Operation) -> Operation | None:
    """The one call in the body of a wrapper."""
    reference = called_function(wrapper)
    if reference is None or reference.name not in wrapper.graph.functions:
        return None
    body: Graph = wrapper.graph.functions.body(reference)
    calls = [op for op in body.operations if called_function(op) is not None]
    return calls[0] if len(calls) == 1 else None
