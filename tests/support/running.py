"""What our interpreter says of a file."""

import numpy as np

from flatlite.lite import Interpreter


def answers(interpreter, *arrays) -> list[np.ndarray]:
    """The outputs in order; inputs take the shapes of the arrays."""
    inputs = interpreter.get_input_details()
    for detail, array in zip(inputs, arrays, strict=True):
        if tuple(detail["shape"]) != np.shape(array):
            interpreter.resize_tensor_input(detail["index"], np.shape(array))
    interpreter.allocate_tensors()
    for detail, array in zip(inputs, arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def kinds(content: bytes) -> list[str]:
    """The operators of a file, in order."""
    return [one["op_name"] for one in Interpreter(model_content=content)._get_ops_details()]
