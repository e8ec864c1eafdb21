"""Writes op_goldens*.npz: what TensorFlow gives for the cases of op_cases_*.py.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/graph/ops/make_goldens.py          # all
    python tests/graph/ops/make_goldens.py more     # op_goldens_more.npz of op_cases_more.py
    python tests/graph/ops/make_goldens.py images   # op_goldens_images.npz of op_cases_images.py
    python tests/graph/ops/make_goldens.py recurrent   # op_goldens_recurrent.npz, likewise
"""

import sys
from pathlib import Path

import numpy as np
import op_cases_array
import op_cases_images
import op_cases_math
import op_cases_more
import op_cases_nn
import op_cases_recurrent
import tensorflow.compat.v1 as tf
from op_cases import CASES
from tensorflow.python.framework import op_def_library, op_def_registry

HERE = Path(__file__).parent
CONFIG = tf.ConfigProto()  # the op itself, not what an optimizer makes of constants
CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True
CONFIG.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
TABLES = (op_cases_array, op_cases_math, op_cases_nn)


def default(attr):
    """The default of an attribute, as Python has it."""
    value = attr.default_value
    if attr.type.startswith("list("):
        return [item for field, items in value.list.ListFields() for item in items]
    return getattr(value, value.WhichOneof("value"))


def run(case):
    """The outputs of one case."""
    definition = op_def_registry.get(case.op)
    names = [argument.name for argument in definition.input_arg]
    defaults = {
        attr.name: default(attr)
        for attr in definition.attr
        if attr.HasField("default_value") and attr.type != "type"
    }
    with tf.Graph().as_default(), tf.Session(config=CONFIG) as session:
        tensors = [
            [tf.constant(item) for item in value] if isinstance(value, list) else tf.constant(value)
            for value in case.arrays()
        ]
        keywords = dict(zip(names, tensors, strict=True)) | defaults | case.attrs
        _, _, op, _ = op_def_library._apply_op_helper(case.op, **keywords)
        return session.run(list(op.outputs))


def main():
    tables = {
        "more": op_cases_more.MORE_CASES,
        "images": op_cases_images.IMAGE_CASES,
        "recurrent": op_cases_recurrent.RECURRENT_CASES,
    }
    names = sys.argv[1:] or ["", *tables]
    for name in names:
        apart = [case for cases in tables.values() for case in cases]
        cases = tables.get(name) or [case for case in CASES if case not in apart]
        record(f"op_goldens_{name}.npz" if name else "op_goldens.npz", cases)


def record(name, cases):
    """Writes what TensorFlow gives for some cases."""
    arrays = {}
    for case in cases:
        try:
            outputs = run(case)
        except (tf.errors.OpError, TypeError, ValueError) as error:
            sys.exit(f"{case.id}: {error}")
        arrays.update({f"{case.id}:{i}": out for i, out in enumerate(map(np.asarray, outputs))})
    for key, array in arrays.items():
        if array.dtype == object:
            arrays[key] = array.astype("S")
    np.savez_compressed(HERE / name, **arrays)
    sys.stdout.write(f"{len(cases)} cases, {(HERE / name).stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
