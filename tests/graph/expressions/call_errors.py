"""Calls with arguments of wrong shapes, types and values, and how an error is compared.

call_errors.json has them, each with the name of TensorFlow's error and its leading words. A call
that only fails when it runs is not there: those are expressions of function_errors.
"""

from __future__ import annotations

import re

import numpy as np

LENGTH = 80
"""How much of the words is compared."""
OPERANDS = {
    "a": [[1.0, 2.0], [3.0, 4.0]],
    "i": [1, 2],
    "v": [1.0, 2.0],
    "s": 3.0,
    "p": None,
}
"""Constants of these names, and a vector of unknown size, are there for every call."""


def refused(tf, call: str) -> list[str]:
    """The type of the error that a call raises, and its words but for addresses and the node."""
    with tf.Graph().as_default():
        operands = {
            name: tf.placeholder(tf.float32, [None]) if value is None else tf.constant(value)
            for name, value in OPERANDS.items()
        }
        try:
            eval(call, {"tf": tf, "np": np, **operands})
        except Exception as error:  # which one it is, is the answer
            # Python 3.10 does not say what it got instead of bytes
            varying = r" at 0x\w+|Symbolic(?=Tensor)|(?<=bytes-like object), got '\w+'"
            words = re.sub(varying, "", str(error))
            words = re.split(r" for '\{\{node|\n|\. See https", words)[0]
            return [type(error).__name__, " ".join(words.split())[:LENGTH]]
    return ["", "no error"]
