"""Writes types.npz: what TensorFlow gives for the cases of typed_operations, and converts.

Run as `python tests/converter/tf/record_types.py OP ...` in an environment with TensorFlow 2.21, OP
those that `PYTHONPATH=tests/support python tests/converter/tf/test_types.py` prints where flatlite
is. A child process converts, as some operations abort it.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
import numpy as np
import typed_operations

ANSWERS = Path(__file__).with_name("types.npz")
TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "object"),
)


def definition(case):
    """TensorFlow's OpDef of a case."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(case.op)


def variants(case):
    """(attribute, type, positions of the operands that it types) of one case."""
    import tensorflow as tf

    for attr in definition(case).attr:
        if attr.type != "type":
            continue
        allowed = {
            np.dtype(tf.as_dtype(one).as_numpy_dtype).name
            for one in attr.allowed_values.list.type
            if tf.as_dtype(one).name in (*TYPES, "string")
        }
        for dtype in TYPES:
            if not allowed or dtype in allowed:
                arguments = definition(case).input_arg
                yield (
                    attr.name,
                    dtype,
                    [i for i, a in enumerate(arguments) if a.type_attr == attr.name],
                )


def built(case, attr, dtype, positions):
    """The operation in TensorFlow's default graph: placeholders, arrays to feed, outputs."""
    import tensorflow.compat.v1 as tf
    from make_goldens import default
    from tensorflow.python.framework import op_def_library

    feeds = {}

    def tensor(value, is_constant):
        if isinstance(value, list):
            return [tensor(one, is_constant) for one in value]
        if is_constant:
            return tf.constant(value)
        one = tf.placeholder(tf.as_dtype(value.dtype), value.shape)
        feeds[one] = value
        return one

    operands = typed_operations.operands(case, dict.fromkeys(positions, dtype))
    defaults = {
        one.name: default(one)
        for one in definition(case).attr
        if one.HasField("default_value") and one.type != "type"
    }
    names = [argument.name for argument in definition(case).input_arg]
    tensors = dict(zip(names, (tensor(*one) for one in operands), strict=True))
    attrs = case.attrs if positions else case.attrs | {attr: np.dtype(dtype).type}
    op = op_def_library._apply_op_helper(case.op, **(tensors | defaults | attrs))[2]
    return feeds, list(op.outputs)


def answers(name, attr, dtype, positions):
    """What TensorFlow computes, None when it has no kernel or refuses the operands."""
    import tensorflow.compat.v1 as tf
    from make_goldens import CONFIG

    case = typed_operations.chosen()[name]
    with tf.Graph().as_default(), tf.Session(config=CONFIG) as session:
        try:
            feeds, outputs = built(case, attr, dtype, positions)
            return [np.asarray(one) for one in session.run(outputs, feeds)]
        except (tf.errors.OpError, TypeError, ValueError):
            return None


def converts(name, attr, dtype, positions):
    """Whether TensorFlow converts the operation to a file that LiteRT runs."""
    import tensorflow.compat.v1 as tf

    case = typed_operations.chosen()[name]
    with tf.Graph().as_default(), tf.Session() as session:
        feeds, outputs = built(case, attr, dtype, positions)
        try:
            content = tf.lite.TFLiteConverter.from_session(session, list(feeds), outputs).convert()
            interpreter = tf.lite.Interpreter(model_content=content)
            interpreter.allocate_tensors()
            for detail in interpreter.get_input_details():
                value = next(v for t, v in feeds.items() if t.op.name == detail["name"])
                interpreter.set_tensor(detail["index"], value)
            interpreter.invoke()
        except Exception:  # whatever it is, TensorFlow or LiteRT does not take the operation
            return False
    return True


class Child:
    """A process that may die."""

    def __init__(self):
        self.pool = None

    def run(self, *job):
        if self.pool is None:
            self.pool = ProcessPoolExecutor(1, get_context("spawn"))
        try:
            return self.pool.submit(*job).result()
        except BrokenProcessPool:
            self.pool = None
            return None


def main():
    child, recorded, converted = Child(), {}, []
    for name, case in typed_operations.chosen().items():
        if case.op not in sys.argv:
            continue
        for attr, dtype, positions in variants(case):
            actual = child.run(answers, name, attr, dtype, positions)
            if actual is None:
                continue
            key = f"{name} {attr}={dtype}"
            recorded |= {f"{key}:{i}": out.astype("S") if out.dtype == object else out
                       for i, out in enumerate(actual)}  # fmt: skip
            if child.run(converts, name, attr, dtype, positions):
                converted.append(key)
        print(name, len(recorded), len(converted), file=sys.stderr, flush=True)
    np.savez_compressed(ANSWERS, converted=np.array(converted), **recorded)


if __name__ == "__main__":
    main()
