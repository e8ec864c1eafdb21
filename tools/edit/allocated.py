"""The shapes that an interpreter gives the tensors of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...interpreter.interpreter import Interpreter


def allocated_shapes(
    content: bytes, inputs: Mapping[int, Sequence[int]]
) -> dict[int, tuple[int, ...]]:
    """Tensor of the first subgraph -> its shape, where inputs have these shapes.

    Raises ValueError when an operator refuses them.
    """
    try:
        interpreter = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
        for index, sizes in inputs.items():
            interpreter.resize_tensor_input(index, list(sizes))
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"the model does not take these shapes: {error}") from None
    details = interpreter.get_tensor_details()
    return {detail["index"]: tuple(map(int, detail["shape"])) for detail in details}
