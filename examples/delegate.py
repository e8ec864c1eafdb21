"""A delegate of your own: numpy runs the operators it knows, the CPU engine runs the rest.

python examples/delegate.py MODEL.tflite    says who runs what, and compares with the CPU engine.
"""

import sys

import numpy as np

import flatlite.lite

FUNCTIONS = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "RELU": lambda x: np.maximum(x, 0),
    "TANH": np.tanh,
    "RESHAPE": lambda x, shape: x.reshape(shape),
}


class NumpyDelegate(flatlite.lite.Delegate):
    name = "numpy"

    def reason_against(self, op):
        if op.kind not in FUNCTIONS:
            return f"{op.kind} has no function here"
        if getattr(op.options, "fused_activation_function", 0):
            return "it has a fused activation"
        if op.results[0].dtype != np.float32:
            return f"its result is {op.results[0].dtype}, not float32"
        return None

    def compile(self, partition):
        constants = {x: x.value for x in partition.constants}

        def run(*arrays):
            values = {**constants, **dict(zip(partition.inputs, arrays, strict=True))}
            for op in partition.ops:
                values[op.results[0]] = FUNCTIONS[op.kind](*(values[x] for x in op.inputs))
            return [values[x] for x in partition.outputs]

        return run


def outputs(path, delegates=None):
    interpreter = flatlite.lite.Interpreter(path, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        ones = np.ones(detail["shape"], detail["dtype"])
        interpreter.set_tensor(detail["index"], ones)
    interpreter.invoke()
    if delegates:
        print(interpreter.delegate_report())
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pairs = zip(outputs(sys.argv[1], [NumpyDelegate()]), outputs(sys.argv[1]), strict=True)
    print(f"largest difference: {max(np.abs(ours - engine).max() for ours, engine in pairs):.0e}")
