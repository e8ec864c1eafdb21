"""The CUDA delegate: on a GPU where there is one, in numba's simulator otherwise.

The simulator has to be chosen before numba is imported: test_simulator.py runs this file again in
a process of its own.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest
from building import Builder, save
from delegated import (
    VIEWS,
    assert_close,
    assert_same,
    check_case,
    claimed_cases,
    corpus_model,
    network,
    prepared,
    run_random,
)
from numba import cuda

import flatlite
from flatlite.delegates.cuda import launches
from flatlite.delegates.cuda.delegate import SIMULATED, CudaDelegate
from flatlite.lite import TFLiteConverter, load_delegate

if not cuda.is_available():
    pytest.skip("no CUDA device; test_simulator.py runs this file", allow_module_level=True)

# numpy's scalars, which the simulator computes with, warn of what is no error on a GPU
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:.* encountered in scalar:RuntimeWarning"),
]
MOST_ELEMENTS = 600  # of a case in the simulator
SLOW = "too large for the simulator"
MODELS = Path(flatlite.__file__).parent / "models"
DELEGATE = CudaDelegate()
CASES = claimed_cases(launches.LAUNCHES.names())


def work(case):
    """About as many steps as the kernel takes."""
    return sum(array.size for array in case.inputs if array is not None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    if SIMULATED and work(case) > MOST_ELEMENTS:
        pytest.skip(SLOW)
    check_case(case, DELEGATE)


def test_every_kernel_has_a_small_case():
    for kind in set(launches.LAUNCHES.names()) - VIEWS:
        few = sorted((case for case in CASES if case.op == kind), key=work)
        assert any(check_case(case, DELEGATE) for case in few), kind


@pytest.mark.parametrize("name", ["lenet_tfk", "lenet_k3", "tf1_simple_save_cnn_cfv1"])
def test_model(name):
    content = corpus_model(f"C/{name}/tflite_float")
    interpreter = prepared(content, [DELEGATE])
    assert_close(run_random(interpreter), run_random(prepared(content)))
    reasons = {row.reason for row in interpreter.delegate_report().operators}
    assert reasons <= {"", "its result is known before the model runs"}


@pytest.mark.skipif(SIMULATED, reason=SLOW)
def test_mobilenet():
    content = corpus_model("C/mobilenet_v2_k3/tflite_float")
    interpreter = prepared(content, [DELEGATE])
    assert_close(run_random(interpreter), run_random(prepared(content)))
    assert len(interpreter.delegate_report().parts) == 1


def block():
    """An inverted residual of MobileNetV2 between its first and last layers, all of it small."""
    b, random = Builder(), np.random.default_rng(0)

    def weights(name, *shape):
        return b.constant(name, random.standard_normal(shape).astype(np.float32) / 3)

    def layer(kind, x, shape, filters, **options):
        out = b.tensor(f"{kind}{len(b.subgraph.tensors)}", shape)
        n = shape[-1]
        operands = [x, weights(f"w{out}", *filters), weights(f"b{out}", n)]
        return b.op(kind, operands, [out], **options)

    once = {"stride_h": 1, "stride_w": 1}
    twice = {"stride_h": 2, "stride_w": 2}
    relu6 = {"fused_activation_function": 3}
    x = b.input("x", (1, 9, 9, 3))
    x = layer("CONV_2D", x, (1, 5, 5, 4), (4, 3, 3, 3), **twice, **relu6)
    y = layer("CONV_2D", x, (1, 5, 5, 12), (12, 1, 1, 4), **once, **relu6)
    y = layer("DEPTHWISE_CONV_2D", y, (1, 5, 5, 12), (1, 3, 3, 12), **once, **relu6)
    y = layer("CONV_2D", y, (1, 5, 5, 4), (4, 1, 1, 12), **once)
    z = b.op("ADD", [x, y], [b.tensor("sum", (1, 5, 5, 4))])
    axes = b.constant("axes", np.array([1, 2], np.int32))
    z = b.op("MEAN", [z, axes], [b.tensor("mean", (1, 4))])
    z = layer("FULLY_CONNECTED", z, (1, 5), (5, 4))
    z = b.op("SOFTMAX", [z], [b.tensor("y", (1, 5))], beta=1.0)
    return save(b.outputs(z))


def test_an_inverted_residual():
    content = block()
    interpreter = prepared(content, [DELEGATE])
    for seed in range(2):
        assert_close(run_random(interpreter, seed), run_random(prepared(content), seed))
    assert len(interpreter.delegate_report().parts) == 1


def test_digits():
    converter = TFLiteConverter.from_saved_model(MODELS / "digits" / "saved_model")
    converter.verify = False
    content = converter.convert()
    interpreter = prepared(content, [DELEGATE])
    assert_close(run_random(interpreter), run_random(prepared(content)))
    assert len(interpreter.delegate_report().parts) == 1


def test_a_declined_operator_in_the_middle_gives_two_parts():
    class NoRelu(CudaDelegate):
        def reason_against(self, op):
            return "no RELU today" if op.kind == "RELU" else super().reason_against(op)

    text = "a: MUL x CONSTANT\nb: TANH a\ne: VIEW b\nc: RELU e\nf: VIEW c\nd: ADD f b"
    content = network(text, "da")
    interpreter = prepared(content, [NoRelu()])
    plain = prepared(content)
    for seed in range(2):
        assert_close(run_random(interpreter, seed), run_random(plain, seed))
    report = interpreter.delegate_report()
    assert [row.part for row in report.operators] == [0, 0, 0, None, 1, 1]
    assert [(part.bytes_in, part.bytes_out) for part in report.parts] == [(24, 48), (24, 24)]


def test_weights_are_sent_once():
    sent = []

    class Counting(CudaDelegate):
        def _to_device(self, array):
            sent.append(array.size)
            return super()._to_device(array)

    interpreter = prepared(corpus_model("C/lenet_k3/tflite_float"), [Counting()])
    before = list(sent)
    tensor = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(tensor, (2, 28, 28, 1))
    interpreter.allocate_tensors()
    assert len(before) == 10  # weights and bias of five operators
    assert sent == before


def test_memory_is_used_again(monkeypatch):
    sizes = []
    original = cuda.device_array
    monkeypatch.setattr(
        cuda, "device_array", lambda n, dtype: sizes.append(n) or original(n, dtype)
    )
    text = "a: TANH x\nb: MUL a a\nc: TANH b\nd: MUL c c\ne: TANH d"
    prepared(network(text, "e"), [DELEGATE])
    prepared(network(text, "abcde"), [DELEGATE])
    assert 5 * sizes[0] <= 2 * sizes[1]


def test_quantized_and_unknown_operators_are_declined():
    content = corpus_model("C/lenet_tfk/tflite_int8")
    interpreter = prepared(content, [DELEGATE])
    reasons = {r.reason for r in interpreter.delegate_report().operators if r.kind == "CONV_2D"}
    assert all("quantized int8, only float32 is taken" in reason for reason in reasons)
    assert_same(run_random(interpreter), run_random(prepared(content)))
    interpreter = prepared(network("a: ADD x x\nb: ABS a", "b"), [DELEGATE])
    reason = interpreter.delegate_report().operators[1].reason
    assert reason == "cuda: ABS has no CUDA kernel"


def test_options():
    delegate = load_delegate("cuda", {"minimum_size": 3})
    again = pickle.loads(pickle.dumps(delegate))
    assert (again.minimum_size, again.device) == (3, 0)
    with pytest.raises(ValueError, match=r"device must be in \[0, \d+\), got 99"):
        load_delegate("cuda", {"device": 99, "fallback": False})
    with pytest.warns(RuntimeWarning, match="got 99; the CPU runs everything"):
        delegate = load_delegate("cuda", {"device": 99})
    interpreter = prepared(network("a: ADD x x", "a"), [delegate])
    assert interpreter.delegate_report().parts == []
