"""Recurrent operators against LiteRT, over several calls: their state lasts."""

from dataclasses import replace

import numpy as np
import pytest
from recurrent_draws import Draw, with_weights_of_uint8
from recurrent_models import SORTS, Sort, content

from flatlite.engine.families import recurrent
from flatlite.engine.plan import program
from flatlite.lite import Interpreter
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.model import Quantization, load, save

CALLS = 3


def feeds(model, sort):
    """Inputs for each call; where reals are rounded, the last one of zeros."""
    interpreter = Interpreter(model_content=model)
    random = np.random.default_rng(5)
    for call in range(CALLS):
        arrays = []
        for detail in interpreter.get_input_details():
            shape, dtype = detail["shape"], detail["dtype"]
            if dtype == np.float32:
                array = random.normal(0, 1, shape)
                if call == CALLS - 1 and sort.numbers == "hybrid":
                    array *= 0
            else:
                array = random.integers(0, 256, shape).astype(np.uint8).view(dtype)
            arrays.append(np.float32(array) if dtype == np.float32 else array)
        yield arrays


def answers(model, steps):
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for inputs in steps:
        for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        yield [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def compare(model, steps, theirs, rtol=2e-5, atol=2e-6):
    """Fails where results of a step are not LiteRT's."""
    for got, want in zip(answers(model, steps), theirs, strict=True):
        assert len(got) == len(want)
        for ours, expected in zip(got, want, strict=True):
            assert ours.dtype == expected.dtype
            if ours.dtype == np.float32:
                np.testing.assert_allclose(ours, expected, rtol=rtol, atol=atol)
            else:
                np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_litert(sort, litert):
    model = content(sort)
    steps = list(feeds(model, sort))
    theirs = litert.run(model, steps, "BUILTIN_REF")
    assert not isinstance(theirs, str), theirs
    compare(model, steps, theirs)
    varying = np.concatenate([np.ravel(x) for x in theirs[0]])
    assert len(np.unique(varying)) > 3


def drawn_as_litert(seeds, litert):
    """How many drawn models LiteRT runs; their results must be ours."""
    n_runs = 0
    for seed in seeds:
        draw = Draw(seed)
        sort = draw.sort()
        model = content(sort)
        if sort.numbers == "hybrid" and draw.flag():
            model = with_weights_of_uint8(model)
        steps = list(feeds(model, sort))
        theirs = litert.run(model, steps)
        if isinstance(theirs, str):  # of an empty batch, on which some kernels abort
            assert sort.sizes[0] == 0 or refusal(model), (seed, sort, theirs)
            continue
        n_runs += 1
        largest = max([np.abs(x).max(initial=0) for step in theirs for x in step])
        try:
            compare(model, steps, theirs, 1e-4, 1e-5 * max(largest, 1))
        except AssertionError as error:
            raise AssertionError(f"{seed} {sort}") from error
    return n_runs


def refusal(model):
    """The error of preparing a model, empty where there is none."""
    try:
        Interpreter(model_content=model).allocate_tensors()
    except RuntimeError as error:
        return str(error)
    return ""


def test_drawn_cells(litert):
    """Parts, options, sizes and types of all kinds, over several calls."""
    assert drawn_as_litert(range(60), litert) > 40


@pytest.mark.slow
def test_many_drawn_cells(litert):
    assert drawn_as_litert(range(1000, 2000), litert) > 800


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.name)
def test_a_long_sequence_is_several_rows(sort, monkeypatch):
    """So that it can be interrupted; the bytes do not depend on it."""
    model = content(sort)
    steps = list(feeds(model, sort))
    rows, call = [], program.Program.call
    monkeypatch.setattr(
        program.Program, "call", lambda self, *args, **kw: rows.append(1) or call(self, *args, **kw)
    )
    actual, counts = [], []
    for longest in (1 << 60, 6000, 1):  # whole sequences, a few steps in a row, each by itself
        rows.clear()
        monkeypatch.setattr(recurrent, "_MAX_PRODUCTS", longest)
        actual.append([[x.tobytes() for x in got] for got in answers(model, steps)])
        counts.append(len(rows))
    assert actual[1] == actual[0] and actual[2] == actual[0]
    assert counts[0] < counts[2] or "SEQUENCE" not in sort.op


def narrow(change):
    """The model of a narrow LSTM after `change(operator, tensors)`."""
    sort = next(sort for sort in SORTS if sort.narrow)
    read = load(content(sort))
    graph = read.subgraphs[0]
    change(graph.operators[0], graph.tensors)
    return save(read)


def without_norms(step, tensors):
    step.inputs[20:] = [-1] * 4


def without_projection_bias(step, tensors):
    step.inputs[17] = -1


def of_another_cell_scale(step, tensors):
    """TFLite computes with 2 ** -15, and leaves both limits out."""
    tensors[step.inputs[19]].quantization = Quantization([2.0**-11], [0])
    step.options.cell_clip, step.options.proj_clip = 0.05, 0.02


def of_a_cell_scale_that_is_no_power(step, tensors):
    tensors[step.inputs[19]].quantization = Quantization([0.3], [0])


def of_a_wide_cell(step, tensors):
    tensors[step.inputs[19]].dtype = "INT32"


def of_an_unknown_activation(step, tensors):
    step.options.fused_activation_function = 77


def of_a_float_cell(step, tensors):
    tensors[step.inputs[19]].dtype = "FLOAT32"


def of_a_sequence(step, tensors):
    step.op = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    step.options = options_class(step.op)()
    for index in (step.inputs[0], step.outputs[0]):
        tensors[index].shape = (2, 1, tensors[index].shape[-1])


def of_eleven(step, tensors):
    step.intermediates.pop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_eleven, "int8 needs 5 intermediate tensors with scales or 12, got 11"),
        (without_norms, "int8 with 12 intermediate tensors needs layer norm coefficients, and a"),
        (without_projection_bias, "projection with a bias"),
        (of_a_float_cell, "must be int16 or int32, got float32"),
        (of_a_sequence, "int8 needs 5 intermediate tensors with scales, got 12"),
    ],
)
def test_narrow_products_need_what_tflite_reads(change, message):
    interpreter = Interpreter(model_content=narrow(change))
    with pytest.raises(RuntimeError, match=message):
        interpreter.allocate_tensors()


@pytest.mark.parametrize(
    "change",
    [
        of_another_cell_scale,
        of_a_cell_scale_that_is_no_power,
        of_a_wide_cell,
        of_an_unknown_activation,
    ],
)
def test_narrow_products_take_what_tflite_does_not_look_at(change, litert):
    model, rng = narrow(change), np.random.default_rng(5)
    steps = [[rng.integers(-128, 128, (2, 7)).astype(np.int8)] for _ in range(3)]
    expected = litert.run(model, steps, "BUILTIN_REF")
    assert [[x.tolist() for x in step] for step in answers(model, steps)] == [
        [x.tolist() for x in step] for step in expected
    ]


@pytest.mark.parametrize("name", ["cell_clip", "proj_clip"])
@pytest.mark.parametrize("limit", [-1.0, np.nan])
@pytest.mark.parametrize(
    "sort",
    [
        *(Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", numbers) for numbers in ("float32", "int8")),
        Sort("LSTM"),
        Sort("BIDIRECTIONAL_SEQUENCE_LSTM"),
        next(sort for sort in SORTS if sort.narrow),
    ],
    ids=lambda sort: sort.name,
)
def test_limits_are_none_or_positive(sort, name, limit, litert):
    model = content(replace(sort, options=(("fused_activation_function", 4), (name, limit))))
    message = f"{name} must be 0 or more, got {limit}"
    with pytest.raises(RuntimeError, match=message):
        Interpreter(model_content=model).allocate_tensors()
    assert f"{name} >= 0 was not true" in litert.run(model)


def test_narrow_products_leave_the_input_gate_out(litert):
    """As in TFLite: what stands there changes nothing."""
    model = content(next(sort for sort in SORTS if sort.narrow and not sort.coupled))
    steps = list(feeds(model, SORTS[0]))

    def negated(step, tensors):
        tensors[step.inputs[1]].data = -np.asarray(tensors[step.inputs[1]].data)

    other = narrow(negated)
    assert other != model
    for got, want in zip(answers(other, steps), answers(model, steps), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(litert.run(other, steps), litert.run(model, steps))
