"""Layers and models that several layers wrap, and stacks of cells with masks."""

from __future__ import annotations

from .registry import TWO, case

STEPS = (5, 3)


def inner(k):
    """A model of one step."""
    x = k.Input((3,))
    y = k.layers.BatchNormalization()(k.layers.Dense(4, activation="relu")(x))
    return k.Model(x, k.layers.Dense(2)(y))


@case("shared")
def wrapped_twice(k):
    model, layer, (x, y) = inner(k), k.layers.Dense(3), (k.Input(STEPS), k.Input((4, 3)))
    wrap = k.layers.TimeDistributed
    return k.Model([x, y], [wrap(model)(x), wrap(model)(y), wrap(layer)(x), wrap(layer)(y)])


@case("shared")
def wrapped_and_called(k):
    model, x, y = inner(k), k.Input(STEPS), k.Input((3,))
    return k.Model([x, y], [k.layers.TimeDistributed(model)(x), model(y)])


@case("shared")
def called_and_wrapped(k):
    model, x, y = inner(k), k.Input(STEPS), k.Input((3,))
    result = model(y)
    return k.Model([x, y], [result, k.layers.TimeDistributed(model)(x)])


@case("shared")
def wrapped_within(k):
    model, x, y = inner(k), k.Input(STEPS), k.Input(STEPS)
    outer = k.Model(x, k.layers.TimeDistributed(model)(x))
    return k.Model(y, [outer(y), k.layers.TimeDistributed(model)(y)])


@case("shared")
def wrapped_sequence(k):
    layers, x, y = k.layers, k.Input(STEPS), k.Input((4, 3))
    model = k.Sequential([layers.Dense(4), layers.LayerNormalization()])
    return k.Model([x, y], [layers.TimeDistributed(model)(x), layers.TimeDistributed(model)(y)])


@case("shared")
def masked_stacks(k):
    layers, x = k.layers, k.Input((6,), dtype="int32")
    stack = layers.StackedRNNCells
    y = layers.Embedding(7, 3, mask_zero=True)(x)
    cells = stack([layers.LSTMCell(3), layers.GRUCell(2)])
    both = layers.Bidirectional(layers.RNN(cells, return_sequences=True))(y)
    inner_cells = [layers.GRUCell(2, reset_after=False), layers.LSTMCell(3)]
    deep = stack([stack(inner_cells), layers.SimpleRNNCell(2)])
    all_steps = layers.RNN(deep, return_sequences=True)(y)
    zeros = [layers.SimpleRNNCell(3), layers.LSTMCell(2)]
    zeros = layers.RNN(zeros, return_sequences=True, zero_output_for_mask=True)(y)
    backwards = layers.RNN([layers.GRUCell(2), layers.GRUCell(3)], go_backwards=True)(y)
    return k.Model(x, [both, all_steps, zeros, backwards])


@case("shared")
def nested_dicts(k):
    layers, x, y = k.layers, k.Input((3,), name="x"), k.Input((3,), name="y")
    a, b = layers.Dense(2)(x), layers.Dense(4)(layers.Concatenate()([x, y]))
    model = k.Model({"y": y, "x": x}, {"b": b, "a": a, "c": {"z": x, "d": b}}, name="of_dicts")
    results = model({"x": x, "y": layers.Rescaling(2.0)(y)})
    more = [layers.Softmax()(results["b"]), results["c"]["z"], results["c"]["d"]]
    return k.Model([y, x], [results["a"], *more])


@case("shared")
def masks_of_parts(k):
    """Words as lists of letters, whose masks have three dimensions."""
    layers, x = k.layers, k.Input((4, 5), dtype="int32")
    wrap = layers.TimeDistributed
    y = layers.Embedding(7, 3, mask_zero=True)(x)
    every = wrap(layers.GRU(2, return_sequences=True))(y)
    return k.Model(x, [wrap(layers.LSTM(3))(y), wrap(layers.SimpleRNN(2))(every)])


@case("shared", TWO)
def masks_of_steps(k):
    """Masks that Keras 2 makes within each step and hands on."""
    layers, x = k.layers, k.Input((4, 5), dtype="int32")
    wrap = layers.TimeDistributed
    y = wrap(layers.Embedding(7, 3, mask_zero=True))(x)
    words = wrap(layers.LSTM(3))(y)
    return k.Model(x, [layers.GRU(2)(words), wrap(layers.GRU(2))(y)])


@case("shared")
def structured_results(k):
    """Results in dicts and lists within a dict."""
    layers, x = k.layers, k.Input((3,), name="x")
    a, b = layers.Dense(2, name="a")(x), layers.Dense(4, name="b")(x)
    many = [layers.Dense(n, name=f"n{n}")(x) for n in (5, 3)]
    return k.Model(x, {"z": a, "more": {"y": b, "many": many}})
