"""Models of one operator, with the shapes of their results, for the text of MLIR."""

import numpy as np
from building import Builder
from building import save as save_subgraphs
from cases import Case, all_cases, content
from ml_dtypes import bfloat16

from flatlite.lite import Interpreter
from flatlite.schema.model import load, save


def cases():
    """A case of each operator, one more where it has scales, by name."""
    first = {}
    for case in all_cases():
        is_plain = isinstance(case, Case) and case.oracle is not None and not case.why
        if is_plain and not case.op.startswith("STABLEHLO_"):
            first.setdefault((case.op, bool(case.quantization)), case)
    return {case.name: case for case in first.values()}


def model_of(case):
    """The file of a case, whose results have the shapes that they get."""
    file = content(case)
    interpreter = Interpreter(model_content=file)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), case.feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    model = load(file)
    for detail in interpreter.get_output_details():
        shape = interpreter.get_tensor(detail["index"]).shape
        model.subgraphs[0].tensors[detail["index"]].shape = tuple(shape)
    return save(model)


def with_signature():
    """A model with a signature, an unknown batch and two results."""
    b = Builder()
    x = b.input("image:0", (None, 4))
    y, z = b.tensor("y:0", (None, 4)), b.tensor("z:0", (None, 4))
    b.op("TANH", [x], [y])
    b.op("MUL", [y, b.constant("c", np.float32([0.1, 1, 1e-7, 3e9]))], [z])
    ends = {"image": x}, {"tanh": y, "scaled": z}
    return save_subgraphs(b.outputs(y, z), signatures=[("serving_default", *ends, 0)])


def with_numbers():
    """A model of constants that need few and many digits, points and none, in each type."""
    rng = np.random.default_rng(5)
    scales = [float(f"1e{n}") for n in range(-18, 18)]  # numpy's powers differ among processors
    numbers = np.concatenate([
        np.outer(scales, [1.234567, 1.2345678, 1.23456789, 1.5]).ravel(),
        2.0 ** np.arange(20, 28) + 1, rng.standard_normal(12), [0.0, -0.0, np.inf, -np.inf],
    ])  # fmt: skip
    b = Builder()
    for dtype in np.float64, np.float32, np.float16, bfloat16:
        with np.errstate(over="ignore"):
            rows = numbers.astype(dtype).reshape(-1, 12)
        for i, row in enumerate(rows):
            y = b.tensor(f"{dtype.__name__}/{i}", (12,), "INT32")
            b.op("CAST", [b.constant(f"{dtype.__name__}/constant{i}", row)], [y])
    return save_subgraphs(b.outputs(y))


OTHERS = {"signature": with_signature, "numbers": with_numbers}


def models():
    """The bytes of all models, by name."""
    alone = {name: model_of(case) for name, case in cases().items()}
    return alone | {name: build() for name, build in OTHERS.items()}
