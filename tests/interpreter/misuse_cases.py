"""Wrong uses of an interpreter, one function each.

    python misuse_cases.py MODULE MODEL CASE...

prints as JSON, case by case, what MODULE's Interpreter did: ["ValueError", "words"] or ["", repr].
Functions are given the module and the path of a model with one float32 input of [?, 28, 28, 1].
"""

import importlib
import json
import os
import sys

import numpy as np

GOOD = np.zeros((1, 28, 28, 1), np.float32)
FIXED = "../../B/leaky_relu_neg/r4/int8.tflite"  # without unknown dimensions; beside MODEL


def ready(lite, path, **options):
    interpreter = lite.Interpreter(path, **options)
    interpreter.allocate_tensors()
    return interpreter


def output(interpreter):
    return interpreter.get_output_details()[0]["index"]


def set_value(value, index=0):
    return lambda lite, path: ready(lite, path).set_tensor(index, value)


def resize(index, shape, **options):
    return lambda lite, path: ready(lite, path).resize_tensor_input(index, shape, **options)


def resize_twice(first, second):
    def case(lite, path):
        interpreter = ready(lite, path)
        interpreter.resize_tensor_input(0, first)
        interpreter.resize_tensor_input(0, second, strict=True)
        return interpreter.get_input_details()[0]["shape"]

    return case


def resize_fixed(lite, path):
    interpreter = lite.Interpreter(os.path.join(os.path.dirname(path), FIXED))
    interpreter.resize_tensor_input(0, [2, 9, 6])
    interpreter.allocate_tensors()
    return interpreter.get_input_details(), interpreter.get_output_details()


def make(*args, **kwargs):
    return lambda lite, path: lite.Interpreter(*args, **kwargs)


def make_from(**kwargs):
    return lambda lite, path: lite.Interpreter(path, **kwargs)


def call(**kwargs):
    return lambda lite, path: lite.Interpreter(path).get_signature_runner()(**kwargs)


def while_alive(method, *args, view=lambda array: array):
    def case(lite, path):
        interpreter = ready(lite, path)
        alive = view(interpreter.tensor(0)())
        result = getattr(interpreter, method)(*args)
        del alive
        return result

    return case


def truncated(n):
    def case(lite, path):
        with open(path, "rb") as file:
            return lite.Interpreter(model_content=file.read()[:n])

    return case


def after_resize(method, *args):
    def case(lite, path):
        interpreter = ready(lite, path)
        interpreter.resize_tensor_input(0, [2, 28, 28, 1])
        return getattr(interpreter, method)(*args)

    return case


def unallocated(method, *args):
    return lambda lite, path: getattr(lite.Interpreter(path), method)(*args)


BEYOND = 2**31
BEYOND_INT32 = {
    "set index beyond int32": set_value(GOOD, BEYOND),
    "get index beyond int32": lambda lite, path: ready(lite, path).get_tensor(-BEYOND - 1),
    "get subgraph beyond int32": lambda lite, path: ready(lite, path).get_tensor(0, BEYOND),
    "view index beyond int32": lambda lite, path: ready(lite, path).tensor(BEYOND)(),
    "resize index beyond int32": resize(BEYOND, [1, 28, 28, 1]),
    "details of operator beyond int32": unallocated("_get_op_details", BEYOND),
    "details of tensor beyond int32": unallocated("_get_tensor_details", BEYOND, 0),
    "num_threads beyond int32": make_from(num_threads=BEYOND),
}
"""Indices that are no numbers of C++."""

SAME = {
    **BEYOND_INT32,
    "invoke with an argument": lambda lite, path: ready(lite, path).invoke(1),
    "bytes path": make(b"/no/such/model.tflite"),
    "no model": make(),
    "empty content": make(model_content=b""),
    "both given": make_from(model_content=b"abc"),
    "missing file": make("/no/such/model.tflite"),
    "short content": make(model_content=b"abc"),
    "garbage content": make(model_content=bytes(100)),
    "truncated content": truncated(5000),
    "content is str": make(model_content="abc"),
    "path is int": make(5),
    "num_threads 0": make_from(num_threads=0),
    "num_threads negative": make_from(num_threads=-1),
    "num_threads float": make_from(num_threads=1.5),
    "num_threads str": make_from(num_threads="2"),
    "resolver 7": make_from(experimental_op_resolver_type=7),
    "invoke before allocate": unallocated("invoke"),
    "invoke after resize": after_resize("invoke"),
    "set before allocate": unallocated("set_tensor", 0, GOOD),
    "set after resize": after_resize("set_tensor", 0, np.zeros((2, 28, 28, 1), np.float32)),
    "get before allocate": unallocated("get_tensor", 0),
    "get after resize": after_resize("get_tensor", 0),
    "view before allocate": lambda lite, path: lite.Interpreter(path).tensor(0)(),
    "float64": set_value(GOOD.astype(np.float64)),
    "uint16": set_value(GOOD.astype(np.uint16)),
    "complex": set_value(GOOD.astype(np.complex128)),
    "dates": set_value(GOOD.astype("M8[s]")),
    "list of ints": set_value([1, 2]),
    "list of floats": set_value([1.0, 2.0]),
    "None": set_value(None),
    "str": set_value("abc"),
    "array of str": set_value(np.array(["abc"])),
    "wrong rank": set_value(np.zeros((28, 28, 1), np.float32)),
    "wrong dimension": set_value(np.zeros((1, 28, 27, 1), np.float32)),
    "set index -1": set_value(GOOD, -1),
    "set index 9999": set_value(GOOD, 9999),
    "set index float": lambda lite, path: ready(lite, path).set_tensor(0.5, GOOD),
    "constant of another shape": set_value(GOOD, 3),
    "get index -1": lambda lite, path: ready(lite, path).get_tensor(-1),
    "get index 9999": lambda lite, path: ready(lite, path).get_tensor(9999),
    "get index str": lambda lite, path: ready(lite, path).get_tensor("x"),
    "view index 9999": lambda lite, path: ready(lite, path).tensor(9999)(),
    "get subgraph 7": lambda lite, path: ready(lite, path).get_tensor(0, 7),
    "get subgraph -1": lambda lite, path: ready(lite, path).get_tensor(0, -1),
    "details of subgraph 7": unallocated("get_tensor_details", 7),
    "details of tensor 9999": unallocated("_get_tensor_details", 9999, 0),
    "details of operator 99": unallocated("_get_op_details", 99),
    "reused intermediate": lambda lite, path: _invoked(lite, path).get_tensor(14),
    "strict resize": resize(0, [1, 29, 28, 1], strict=True),
    "strict resize to what it is": resize_twice([1, 29, 28, 1], [1, 29, 28, 1]),
    "strict resize of another rank": resize_twice([3, 3], [3, 4]),
    "resize a constant": resize(3, [2]),
    "resize to a number": resize(0, 5),
    "resize to a matrix": resize(0, [[5]]),
    "resize to a str": resize(0, "a"),
    "resize to None": resize(0, None),
    "resize beyond int32": resize(0, [2**33, 28, 28, 1]),
    "resize negative": resize(0, [1, -1, 28, 1]),
    "resize to too much": resize(0, [2**31 - 1, 2**31 - 1, 28, 1]),
    "invoke with view": while_alive("invoke"),
    "invoke with slice": while_alive("invoke", view=lambda array: array[0, 3:]),
    "allocate with slice": while_alive("allocate_tensors", view=lambda array: array.T[0]),
    "resize with slice": while_alive("resize_tensor_input", 0, [2, 28, 28, 1]),
    "signature key": unallocated("get_signature_runner", "nope"),
    "signature key ''": unallocated("get_signature_runner", ""),
    "signature without arguments": call(),
    "signature with another name": call(bad=GOOD),
    "signature with too many": call(keras_tensor=GOOD, bad=GOOD),
    "signature with a list": call(keras_tensor=GOOD.tolist()),
    "signature with float64": call(keras_tensor=GOOD.astype(np.float64)),
    "runner without interpreter": lambda lite, path: lite.SignatureRunner(),
    "runner without key": lambda lite, path: lite.SignatureRunner(lite.Interpreter(path)),
    "native registerer": lambda lite, path: lite.InterpreterWithCustomOps(["a"], model_path=path),
}
"""Same exception type and same leading words as LiteRT's."""

SAME_VALUE = {
    "allocate again": lambda lite, path: ready(lite, path).allocate_tensors(),
    "resize to the same": after_resize("resize_tensor_input", 0, [2, 28, 28, 1]),
    "resize to floats": resize(0, [2.5, 28, 28, 1]),
    "strict resize to what it was": resize_twice([1, 29, 28, 1], [2, 28, 28, 1]),
    "Fortran order": set_value(np.asfortranarray(GOOD)),
    "big endian": set_value(GOOD.astype(">f4")),
    "num_threads True": lambda lite, path: ready(lite, path, num_threads=True).invoke(),
    "reset before allocate": unallocated("reset_all_variables"),
    "reset with view": while_alive("reset_all_variables"),
    "set with view": while_alive("set_tensor", 0, GOOD),
    "inputs": unallocated("get_input_details"),
    "outputs": unallocated("get_output_details"),
    "tensors": unallocated("get_tensor_details"),
    "details of fixed shapes after resize": resize_fixed,
    "inputs after resize": after_resize("get_input_details"),
    "operator": unallocated("_get_op_details", 0),
    "operators": unallocated("_get_ops_details"),
    "signatures": unallocated("get_signature_list"),
    "full signatures": unallocated("_get_full_signature_list"),
    "signature inputs": lambda lite, path: (
        lite.Interpreter(path).get_signature_runner().get_input_details()
    ),
    "signature outputs": lambda lite, path: (
        lite.Interpreter(path).get_signature_runner().get_output_details()
    ),
    "subgraphs": unallocated("num_subgraphs"),
    "constant": unallocated("get_tensor", 3),
    "resolvers": lambda lite, path: [(t.name, t.value) for t in lite.OpResolverType],
    "view's flags": lambda lite, path: _flags(ready(lite, path).tensor(0)()),
}
"""Same result as LiteRT's."""


def _invoked(lite, path):
    interpreter = ready(lite, path)
    interpreter.invoke()
    return interpreter


def _flags(array):
    return array.shape, array.dtype, array.flags.writeable


def outcome(case, lite, path):
    """What a case did: type and words of the exception, or "" and the result."""
    try:
        return ["", repr(case(lite, path))]
    except (Exception, SystemError) as error:
        return [type(error).__name__, str(error)]


def main():
    lite = importlib.import_module(sys.argv[1])
    cases = {**SAME, **SAME_VALUE}
    print(json.dumps({name: outcome(cases[name], lite, sys.argv[2]) for name in sys.argv[3:]}))


if __name__ == "__main__":
    main()
