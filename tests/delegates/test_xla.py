"""The XLA delegate, on whatever device JAX finds: the operators' cases and whole models."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
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

import flatlite
from flatlite.lite import Interpreter, TFLiteConverter, load_delegate

pytest.importorskip("jax", reason="the xla delegate needs JAX: pip install 'flatlite[xla]'")

from flatlite.delegates.xla.delegate import XlaDelegate
from flatlite.delegates.xla.lowerings import LOWERINGS

MODELS_FOLDER = Path(flatlite.__file__).parent / "models"
DELEGATE = XlaDelegate()
UNARY = {"CEIL", "COS", "FLOOR", "LOG", "ROUND", "SIGN", "SIN"}
CASES = claimed_cases(LOWERINGS.names())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    check_case(case, DELEGATE)


def test_every_lowering_has_a_case():
    for kind in set(LOWERINGS.names()) - VIEWS:
        assert any(check_case(case, DELEGATE) for case in CASES if case.op == kind), kind


MODELS = {
    "C/lenet_tfk/tflite_float": 1e-5,
    "C/lenet_k3/tflite_float": 1e-5,
    "C/mobilenet_v2_k3/tflite_float": 1e-5,
    "C/tf1_simple_save_cnn_cfv1/tflite_float": 1e-5,
    "D/basic_pitch/nmp": 1e-4,  # its logarithms of a spectrum make much of rounding
}


@pytest.mark.parametrize("row_id", MODELS)
def test_model(row_id):
    content = corpus_model(row_id)
    interpreter = prepared(content, [DELEGATE])
    assert_close(run_random(interpreter), run_random(prepared(content)), MODELS[row_id])
    report = interpreter.delegate_report()
    if row_id.startswith("C"):
        on_cpu = {row.reason for row in report.operators if row.part is None}
        assert on_cpu <= {"its result is known before the model runs"}
        assert len(report.parts) == 1
    else:
        assert report.parts


@pytest.mark.parametrize("batch", [1, 3])
def test_digits(batch):
    converter = TFLiteConverter.from_saved_model(MODELS_FOLDER / "digits" / "saved_model")
    converter.verify = False
    content = converter.convert()
    images = np.load(MODELS_FOLDER / "digits" / "example.npz")["image"][:batch]
    answers = []
    for delegates in ([DELEGATE], None):
        runner = Interpreter(
            model_content=content, experimental_delegates=delegates
        ).get_signature_runner()
        answers.append([*runner(image=images).values()])
    assert_close(*answers)


@pytest.mark.parametrize("form", ["int8", "dyn"])
def test_quantized_operators_are_declined(form):
    content = corpus_model(f"C/lenet_tfk/tflite_{form}")
    interpreter = prepared(content, [DELEGATE])
    if form == "int8":
        assert_same(run_random(interpreter), run_random(prepared(content)))
    else:
        assert_close(run_random(interpreter), run_random(prepared(content)))
    reasons = {r.reason for r in interpreter.delegate_report().operators if r.kind == "CONV_2D"}
    assert all("quantized int8, only float32 is taken" in reason for reason in reasons - {""})
    assert reasons != {""}


TEXT = "a: MUL x CONSTANT\nb: TANH a\nc: RELU b\nd: ADD c a"


def test_a_declined_operator_in_the_middle_gives_two_parts():
    class NoRelu(XlaDelegate):
        def reason_against(self, op):
            return "no RELU today" if op.kind == "RELU" else super().reason_against(op)

    content = network(TEXT, "d")
    interpreter = prepared(content, [NoRelu()])
    assert_close(run_random(interpreter), run_random(prepared(content)))
    report = interpreter.delegate_report()
    assert [row.part for row in report.operators] == [0, 0, None, 1]
    assert report.operators[2].reason == "xla: no RELU today"
    assert [(part.bytes_in, part.bytes_out) for part in report.parts] == [(24, 24), (24, 24)]


def test_programs_are_compiled_once_for_each_shape():
    delegate = XlaDelegate()
    interpreter = prepared(corpus_model("C/lenet_k3/tflite_float"), [delegate])
    tensor = interpreter.get_input_details()[0]["index"]
    for batch in (2, 1, 2):
        interpreter.resize_tensor_input(tensor, (batch, 28, 28, 1))
        interpreter.allocate_tensors()
        assert run_random(interpreter)[0].shape == (batch, 10)
    assert len(delegate._programs) == 2


def test_one_delegate_serves_several_threads():
    content = network(TEXT, "d")
    want = [run_random(prepared(content), seed) for seed in range(8)]

    def work(seed):
        interpreter = prepared(content, [DELEGATE])
        return [run_random(interpreter, seed) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for seed, answers in enumerate(pool.map(work, range(8))):
            for got in answers:
                assert_close(got, want[seed])


def test_an_operator_without_a_lowering_is_named():
    kind = min(UNARY - set(LOWERINGS.names()))
    interpreter = prepared(network(f"a: ADD x x\nb: {kind} a", "b"), [DELEGATE])
    reason = interpreter.delegate_report().operators[1].reason
    assert reason == f"xla: {kind} has no lowering to XLA"


def test_inputs_may_change_while_a_result_stays_on_the_device():
    """The memory of a is used again by c before part 1 reads what part 0 made of it."""

    class NoRelu(XlaDelegate):
        def reason_against(self, op):
            return "no" if op.kind == "RELU" else super().reason_against(op)

    content = network("a: RELU x\nb: VIEW a\nc: RELU x\nd: RELU c\ne: ADD d x\nf: MUL b b", "ef")
    interpreter, plain = prepared(content, [NoRelu()]), prepared(content)
    for seed in range(3):
        assert_close(run_random(interpreter, seed), run_random(plain, seed))


def test_options():
    delegate = load_delegate("xla", {"platform": "cpu", "minimum_size": 3})
    again = pickle.loads(pickle.dumps(delegate))
    assert again.minimum_size == 3
    assert again.device == delegate.device
    interpreter = prepared(network("a: ADD x x\nb: MUL a a", "b"), [delegate])
    (reason,) = {row.reason for row in interpreter.delegate_report().operators}
    assert reason == "xla: its partition would be smaller than minimum_size, 3 operators"
    for options, words in (
        ({"platform": "abacus"}, "JAX has no platform 'abacus'"),
        ({"device": 99}, "device must be in "),
        ({"speed": 1}, "speed"),
    ):
        with pytest.raises(ValueError, match=r"^Failed to load delegate from xla\n") as raised:
            load_delegate("xla", options)
        assert words in str(raised.value)
