"""Samples may lack dimensions of 1 or have more of them, as TensorFlow's."""

import numpy as np
import pytest
from drafting import Draft

from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Optimize, TFLiteConverter

LENIENT = [
    ((1,), (1, 1), (1,)),
    ((1,), (), (1,)),
    ((), (1,), ()),
    ((), (1, 1), ()),
    ((1, 4), (4,), (1, 4)),
    ((1, 4), (1, 1, 4), (1, 4)),
    ((None, 4), (1, 2, 4), (2, 4)),
    ((1, 4, 4, 1), (4, 4), (1, 4, 4, 1)),
    ((1, 4, 4, 1), (1, 4, 4, 1, 1), (1, 4, 4, 1)),
    ((2, 3), (2, 3, 1), (2, 3)),
    ((None,), (1, 3), (3,)),
]
"""Shapes of an input, of samples that TensorFlow 2.21 takes for it, and what they stand for."""


@pytest.mark.parametrize(("shape", "sample", "meant"), LENIENT, ids=repr)
def test_samples_may_lack_dimensions_of_1(shape, sample, meant):
    array = np.arange(1, np.prod(meant, dtype=int) + 1, dtype=np.float32)
    draft = Draft()
    draft.op("Mul", draft.input("x", shape), np.float32(2))
    content = to_graph_def(draft.graph)
    files = []
    for sizes in (sample, meant):
        converter = TFLiteConverter(content, None, None, [("x", shape)], ["Mul"])
        converter.optimizations = [Optimize.DEFAULT]
        converter.representative_dataset = lambda sizes=sizes: [[array.reshape(sizes)]]
        files.append(converter.convert())
    assert files[0] == files[1]
