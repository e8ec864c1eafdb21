"""Batches other than the one that a model's constants were written for."""

import re

import numpy as np
import pytest
from building import Builder, doubling, save

from flatlite import edit
from flatlite.lite import Interpreter
from flatlite.tools.edit import shapes

ITEM = (2, 6)
SEED = 7


def ints(*values):
    return np.array(values, np.int32)


def weights(*shape):
    return np.random.default_rng(SEED).standard_normal(shape).astype(np.float32)


def reshape(b, x, *shape):
    y = b.tensor(f"reshaped{x}", shape)
    return b.op("RESHAPE", [x, b.constant(f"shape{x}", ints(*shape))], [y], new_shape=ints(*shape))


def total(b, x, axis, *shape):
    axes = b.constant("axes", ints(axis))
    return b.op("SUM", [x, axes], [b.tensor("total", shape)], keep_dims=False)


def split_rows(b, x, n):
    """RESHAPE to rows of all items, and back."""
    rows = reshape(b, x, n * 2, 6)
    inputs = [rows, b.constant("w", weights(4, 6)), b.constant("bias", weights(4))]
    return reshape(b, b.op("FULLY_CONNECTED", inputs, [b.tensor("fc", (n * 2, 4))]), n, 8)


def rows_first(b, x, n):
    """A transposition, which one item does not need."""
    if n == 1:
        return total(b, reshape(b, x, 2, 1, 6), 0, 1, 6)
    order = b.constant("order", ints(1, 0, 2))
    return total(b, b.op("TRANSPOSE", [x, order], [b.tensor("t", (2, n, 6))]), 0, n, 6)


def heads_first(b, x, n):
    """Rows of items between those of heads, and an addition that takes one item of any rank."""
    if n > 1:
        return split_rows(b, x, n)
    heads = reshape(b, reshape(b, x, 2, 1, 6), 2, 1, 3, 2)
    rows = reshape(b, heads, 2, 6)
    inputs = [rows, b.constant("w", weights(6, 6)), b.constant("bias", weights(6))]
    product = b.op("FULLY_CONNECTED", inputs, [b.tensor("fc", (2, 6))])
    return b.op("ADD", [x, product], [b.tensor("y", (1, 2, 6))])


def slices(b, x, n):
    begin, size = b.constant("begin", ints(0, 1, 0)), b.constant("size", ints(n, 1, -1))
    return b.op("SLICE", [x, begin, size], [b.tensor("y", (n, 1, 6))])


def strided(b, x, n):
    bounds = [ints(0, 0, 1), ints(n, 2, 5), ints(1, 1, 2)]
    inputs = [x, *(b.constant(f"bound{i}", bound) for i, bound in enumerate(bounds))]
    return b.op("STRIDED_SLICE", inputs, [b.tensor("y", (n, 2, 2))])


def broadcast(b, x, n):
    shape = b.constant("shape", ints(3, n, 2, 6))
    copies = b.op("BROADCAST_TO", [x, shape], [b.tensor("copies", (3, n, 2, 6))])
    b.subgraph.operators[-1].version = 2
    return total(b, copies, 0, n, 2, 6)


def deconvolution(b, x, n):
    shape, filters = b.constant("shape", ints(n, 4, 6, 3)), b.constant("w", weights(3, 2, 2, 2))
    inputs, y = [shape, filters, reshape(b, x, n, 2, 3, 2)], b.tensor("y", (n, 4, 6, 3))
    return b.op("TRANSPOSE_CONV", inputs, [y], padding=0, stride_w=2, stride_h=2)


def deconvolution_3d(b, x, n):
    shape = b.constant("shape", ints(n, 2, 4, 6, 3))
    filters = b.constant("w", weights(2, 2, 2, 3, 2))
    inputs, y = [shape, filters, reshape(b, x, n, 1, 2, 3, 2)], b.tensor("y", (n, 2, 4, 6, 3))
    strides = {"stride_d": 2, "stride_w": 2, "stride_h": 2}
    return b.op("CONV_3D_TRANSPOSE", inputs, [y], padding=0, **strides)


def concatenation(b, x, n):
    token = b.constant("token", np.repeat(weights(1, 1, 6), n, 0))
    return b.op("CONCATENATION", [token, x], [b.tensor("y", (n, 3, 6))], axis=1)


def pack(b, x, n):
    other = b.constant("other", np.repeat(weights(1, *ITEM), n, 0))
    y = b.tensor("y", (n, 2, 2, 6))
    return b.op("PACK", [x, other], [y], values_count=2, axis=1)


def cache(b, x, n):
    zeros, start = b.constant("zeros", np.zeros((n, 4, 6), np.float32)), ints(0, 1, 0)
    inputs = [zeros, x, b.constant("start", start)]
    return b.op("DYNAMIC_UPDATE_SLICE", inputs, [b.tensor("y", (n, 4, 6))])


def addition(b, x, n):
    other = b.constant("other", np.repeat(weights(1, 1, 6), n, 0))
    return b.op("ADD", [x, other], [b.tensor("y", (n, 2, 6))])


def noise(b, x, n):
    shape = b.constant("shape", ints(n, 2, 6))
    noise = b.op("RANDOM_UNIFORM", [shape], [b.tensor("noise", (n, 2, 6))])
    none = b.op("MUL", [noise, b.constant("zero", np.float32(0))], [b.tensor("none", (n, 2, 6))])
    return b.op("ADD", [x, none], [b.tensor("y", (n, 2, 6))])


def recurrent(b, x, n):
    return rnn(b, x, b.tensor("state", (n, 4), is_variable=True), n)


def first_state(b, x, n):
    """A state that each run begins with, as the operator before gives it."""
    states = [b.tensor(f"state{i}", (n, 4), is_variable=True) for i in range(2)]
    both, axis = b.constant("both", np.repeat(weights(1, 8), n, 0)), b.constant("axis", ints(1))
    b.op("SPLIT", [axis, both], states, num_splits=2)
    return rnn(b, x, states[0], n)


def rnn(b, x, state, n):
    matrices = [b.constant(f"w{k}", weights(4, k)) for k in (6, 4)]
    inputs = [x, *matrices, b.constant("bias", weights(4)), state]
    y = b.tensor("y", (n, 2, 4))
    return b.op("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [y], fused_activation_function=4)


STATEFUL = (recurrent, first_state)
OPERATORS = (
    *(split_rows, rows_first, heads_first, slices, strided, broadcast, deconvolution),
    *(deconvolution_3d, concatenation, pack, cache, addition, noise, *STATEFUL),
)


def written(function, n):
    b = Builder()
    x = b.input("x", (n, *ITEM))
    return save(b.outputs(function(b, x, n)))


def run(content, x):
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize(("before", "batch"), [(1, 4), (1, None), (2, 3), (2, None)])
@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators_that_hold_the_batch(function, before, batch, litert):
    """What LiteRT gives for each batch of the file before is what both give for all at once."""
    model = edit.load(written(function, before))
    if function in STATEFUL and batch is None:
        message = f"the batch must be known: variable 'state.*' keeps a state of each of {before} "
        with pytest.raises(ValueError, match=message):
            edit.set_batch(model, batch)
        return
    content = edit.save(edit.set_batch(model, batch))
    x = weights(batch or 6, *ITEM)
    items = np.concatenate([x, x]) if len(x) % before else x
    alone = [items[i : i + before] for i in range(0, len(items), before)]
    original = edit.save(model)
    want = np.concatenate([litert.run(original, [[a]])[0][0] for a in alone])[: len(x)]
    for result in (run(content, x), litert.run(content, [[x]])[0][0]):
        np.testing.assert_allclose(result, want, rtol=0, atol=1e-5)


def image(size):
    b = Builder()
    x = b.input("x", (1, *size, 2))
    shape = b.constant("shape", ints(1, size[0] * 2 + 1, size[1] * 2 + 1, 3))
    y = b.tensor("y", (1, size[0] * 2 + 1, size[1] * 2 + 1, 3))
    inputs = [shape, b.constant("w", weights(3, 3, 3, 2)), x]
    b.op("TRANSPOSE_CONV", inputs, [y], padding=1, stride_w=2, stride_h=2)
    return edit.load(save(b.outputs(y)))


@pytest.mark.parametrize("sizes", [(1, 5, 7, 2), (1, None, None, 2)])
def test_images_of_other_sizes(sizes, litert):
    content = edit.save(edit.set_input_shapes(image((3, 4)), {"x": sizes}))
    x = weights(1, 5, 7, 2)
    want = litert.run(edit.save(image((5, 7))), [[x]])[0][0]
    for result in (run(content, x), litert.run(content, [[x]])[0][0]):
        np.testing.assert_allclose(result, want, rtol=0, atol=1e-5)


def test_a_constant_of_another_item_each_is_refused():
    b = Builder()
    x = b.input("x", (2, *ITEM))
    inputs = [x, b.constant("other", weights(2, *ITEM))]
    model = edit.load(save(b.outputs(b.op("ADD", inputs, [b.tensor("y", (2, *ITEM))]))))
    message = "ADD 'y': shapes (6, 2, 6) and (2, 2, 6) do not broadcast"
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.set_batch(model, 6)


def test_a_model_that_runs_too_long_is_not_compared(monkeypatch):
    monkeypatch.setattr(shapes, "SECONDS", 0.1)
    with pytest.warns(UserWarning, match="the results for 3 items were not compared"):
        edited = edit.set_batch(edit.load(doubling(30)), None)
    assert edited.subgraphs[0].tensors[0].shape_signature == (-1, 2)
    assert len(edit.merge(edited, edited).subgraphs) > 31
