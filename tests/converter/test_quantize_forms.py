"""Forms and scales that integer kernels want: LiteRT runs the files, and they lose little."""

import building
import numpy as np
import pytest
from running import answers, kinds

from flatlite.lite import Interpreter, TFLiteConverter

GENERATOR = np.random.default_rng(11)


def model(add, shape=(4, 16)):
    """A float file of one input, of what `add` appends to it."""
    b = building.Builder()
    return building.save(b.outputs(add(b, b.input("x", shape))))


def softplus(b, x):
    shape = b.subgraph.tensors[x].shape
    exp, total, y = (b.tensor(name, shape) for name in ("exp", "total", "y"))
    b.op("EXP", [x], [exp])
    b.op("ADD", [exp, b.constant("one", np.float32(1))], [total])
    return b.op("LOG", [total], [y])


def quantized(content, scheme, feeds):
    converter = TFLiteConverter.from_tflite_model(content)
    converter.representative_dataset = lambda: ([x] for x in feeds)
    converter.quantization_recipe = {"scheme": scheme}
    return converter.convert()


@pytest.mark.parametrize(("scheme", "limit"), [("int8", 0.02), ("int16x8", 1e-3)])
def test_softplus_does_not_lose_what_exp_would(scheme, limit, litert):
    feeds = [GENERATOR.uniform(-6, 6, (4, 16)).astype(np.float32) for _ in range(4)]
    content = quantized(model(softplus), scheme, feeds)
    assert "EXP" not in kinds(content)
    (ours,) = answers(Interpreter(model_content=content), feeds[0])
    error = np.sqrt(np.mean(np.square(ours - np.logaddexp(feeds[0].astype(np.float64), 0))))
    assert error < limit
    np.testing.assert_array_equal(ours, litert.run(content, [feeds[:1]])[0][0])


def test_softplus_whose_parts_are_read_stays():
    def add(b, x):
        y = softplus(b, x)
        z = b.tensor("z", b.subgraph.tensors[x].shape)
        return b.op("MUL", [y, 1], [z], fused_activation_function=0)

    feeds = [GENERATOR.uniform(-2, 2, (4, 16)).astype(np.float32) for _ in range(4)]
    assert kinds(quantized(model(add), "int8", feeds)).count("EXP") == 1


@pytest.mark.parametrize("scheme", ["int8", "uint8"])
def test_the_scale_of_hard_swish_is_one_its_kernel_takes(scheme, litert):
    """All results were 0 in calibration."""

    def add(b, x):
        return b.op("HARD_SWISH", [x], [b.tensor("y", b.subgraph.tensors[x].shape)])

    feeds = [np.full((4, 16), -4, np.float32)]
    content = quantized(model(add), scheme, feeds)
    (ours,) = answers(Interpreter(model_content=content), feeds[0])
    np.testing.assert_array_equal(ours, litert.run(content, [feeds])[0][0])
    assert np.abs(ours).max() < 0.01
