"""Inputs and constants have the names, and the order, that TensorFlow's converter gives them."""

import json
from pathlib import Path

import pytest
import tensor_names

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("tensor_names.json").read_text())
N_CONSTANTS = {"convolution": 2, "products": 2, "images": 4}


@pytest.mark.filterwarnings("ignore:the model stays float")
@pytest.mark.parametrize("case", RECORDED)
def test_as_tensorflow(case):
    model, way = case.split()
    n = 1 + N_CONSTANTS[model]
    theirs = RECORDED[case][:n]
    ours = tensor_names.names_of(model, way, tf, tf.lite)[:n]
    if model == "images":  # the last weights are before their bias there, unless they are int8
        assert sorted(name for name, *_ in ours) == sorted(name for name, *_ in theirs)
    else:
        assert ours == theirs
