"""Quantized files quantized anew: other activations, the same weights."""

import numpy as np
import pytest
from recorded import rows
from running import answers, kinds

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, OpsSet, Optimize, TargetSpec, TFLiteConverter
from flatlite.schema.model import load, save

INT16X8 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
LINEAR = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


@pytest.fixture(scope="module")
def example(request):
    with np.load(request.config.rootpath / "models/digits/example.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def int8(request, example):
    """models/digits in int8."""
    folder = request.config.rootpath / "models/digits/saved_model"
    return quantized(TFLiteConverter.from_saved_model(folder), example["image"])


def quantized(converter, images, **settings):
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images[:100])
    for key, value in settings.items():
        setattr(converter, key, value)
    return converter.convert()


def again(content, images, **settings):
    return quantized(TFLiteConverter.from_tflite_model(content), images, **settings)


def probabilities(content, images):
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], images.shape)
    interpreter.allocate_tensors()
    return answers(interpreter, images)[0]


def weights(content):
    (subgraph,) = load(content).subgraphs
    return [subgraph.tensors[op.inputs[1]] for op in subgraph.operators if op.op in LINEAR]


def rms(content, example):
    return np.sqrt(
        np.mean((probabilities(content, example["image"]) - example["probabilities"]) ** 2)
    )


def test_int8_as_int16x8(int8, example, litert):
    """The weights stay to the last bit, and the error of the activations goes."""
    content = again(int8, example["image"], target_spec=TargetSpec({INT16X8}))
    assert kinds(content) == kinds(int8)
    for mine, before in zip(weights(content), weights(int8), strict=True):
        np.testing.assert_array_equal(mine.data, before.data)
        np.testing.assert_array_equal(mine.quantization.scales, before.quantization.scales)
    assert rms(content, example) < rms(int8, example) / 2
    image = example["image"][:1]
    ((by_litert,),) = litert.run(content, [[image]], "BUILTIN_REF")
    np.testing.assert_array_equal(probabilities(content, image), by_litert)


@pytest.mark.parametrize("end", [np.int8, np.uint8])
def test_integer_ends_become_float32(end, int8, example):
    ends = {"inference_input_type": end, "inference_output_type": end}
    first = again(int8, example["image"], **ends)
    second = again(first, example["image"], target_spec=TargetSpec({INT16X8}))
    interpreter = Interpreter(model_content=second)
    assert interpreter.get_input_details()[0]["dtype"] is np.float32
    assert rms(second, example) < rms(int8, example) / 2


def test_int16x8_as_int8(int8, example):
    """There and back, to the same integers for weights."""
    wide = again(int8, example["image"], target_spec=TargetSpec({INT16X8}))
    narrow = again(wide, example["image"])
    for mine, before in zip(weights(narrow), weights(int8), strict=True):
        np.testing.assert_array_equal(mine.data, before.data)
    assert rms(narrow, example) < 1.5 * rms(int8, example)


def test_files_of_tensorflow(corpus, litert):
    """One of the int8 files of the corpus."""
    row = next(row for row in rows() if row.get("variant") == "int8")
    theirs = (corpus / row["files"]["tflite"]).read_bytes()
    details = Interpreter(model_content=theirs).get_input_details()
    generator = np.random.default_rng(0)
    samples = [
        [generator.uniform(-1, 1, d["shape"]).astype(np.float32) for d in details] for _ in range(8)
    ]
    converter = TFLiteConverter.from_tflite_model(theirs)
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(samples)
    converter.target_spec = TargetSpec({INT16X8, OpsSet.TFLITE_BUILTINS})
    content = converter.convert()
    litert.run(content, [samples[0]])
    assert all(
        decibels > 30 for row in converter.signal_to_noise.values() for decibels in row.values()
    )


def test_without_samples_it_is_refused(int8):
    converter = TFLiteConverter.from_tflite_model(int8)
    converter.optimizations = [Optimize.DEFAULT]
    words = "or a representative_dataset that measures it anew, or the model it was made from"
    with pytest.raises(ConverterError, match=words):
        converter.convert()


def test_what_reads_integers_is_refused(int8, example):
    model = load(int8)
    operator = model.subgraphs[0].operators[4]
    operator.op, operator.custom_code = "CUSTOM", "Mine"
    operator.options = None
    with pytest.raises(
        ConverterError, match="quantized already: Mine reads the integers themselves"
    ):
        again(save(model), example["image"])
