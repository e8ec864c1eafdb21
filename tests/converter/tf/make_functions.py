"""Records what TensorFlow gives for the cases of tests/tf_functions.py in tf_functions.npz.

    PYTHONPATH=tests/support python tests/converter/tf/make_functions.py

needs TensorFlow; run with 2.21.
"""

from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from tf_functions import CASES


def answers(name):
    function, inputs_of = CASES[name]
    inputs = inputs_of(name)
    with tf.Graph().as_default(), tf.Session() as session:
        operands = [tf.placeholder(x.dtype, x.shape) for x in inputs]
        results = function(tf, *operands)
        results = results if isinstance(results, list | tuple) else [results]
        return session.run(list(results), dict(zip(operands, inputs, strict=True)))


recorded = {f"{name} {i}": x for name in CASES for i, x in enumerate(answers(name))}
np.savez_compressed(Path(__file__).with_name("functions.npz"), **recorded)
