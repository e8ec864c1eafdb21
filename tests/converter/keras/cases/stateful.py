"""Recurrent layers that keep their states from call to call."""

from .registry import case

BATCH = (2, 5, 4)


def of(k, kind, **settings):
    """A model of one stateful layer."""
    x = k.Input(batch_shape=BATCH)
    return k.Model(x, getattr(k.layers, kind)(3, stateful=True, **settings)(x))


@case("stateful")
def LSTM_last(k):
    return of(k, "LSTM")


@case("stateful")
def LSTM_all(k):
    return of(k, "LSTM", return_sequences=True, return_state=True)


@case("stateful")
def GRU_last(k):
    return of(k, "GRU")


@case("stateful")
def GRU_back(k):
    return of(k, "GRU", go_backwards=True, return_sequences=True)


@case("stateful")
def SimpleRNN(k):
    return of(k, "SimpleRNN", return_state=True)


@case("stateful")
def both(k):
    x = k.Input(batch_shape=BATCH)
    return k.Model(x, k.layers.Bidirectional(k.layers.GRU(2, stateful=True))(x))


@case("stateful")
def stack(k):
    x = k.Input(batch_shape=BATCH)
    cells = [k.layers.LSTMCell(3), k.layers.GRUCell(2)]
    return k.Model(x, k.layers.RNN(cells, stateful=True, return_sequences=True)(x))


@case("stateful")
def masked(k):
    x = k.Input(batch_shape=(2, 6), dtype="int32")
    y = k.layers.Embedding(9, 4, mask_zero=True)(x)
    y = k.layers.LSTM(3, stateful=True, return_sequences=True)(y)
    return k.Model(x, k.layers.GRU(3, stateful=True)(y))


@case("stateful")
def twice(k):
    x, y = k.Input(batch_shape=BATCH), k.Input(batch_shape=BATCH)
    shared = k.layers.SimpleRNN(3, stateful=True)
    first = shared(x)
    z = k.layers.Dense(4)(first)
    z = k.layers.Add()([y, k.layers.Reshape((1, 4))(z)])
    return k.Model([x, y], [first, shared(z)])


@case("stateful")
def passed(k):
    x, start = k.Input(batch_shape=BATCH), k.Input(batch_shape=(2, 3))
    return k.Model([x, start], k.layers.GRU(3, stateful=True)(x, initial_state=start))


@case("stateful")
def convolved(k):
    x = k.Input(batch_shape=(1, 3, 4, 5, 2))
    return k.Model(x, k.layers.ConvLSTM2D(2, 3, stateful=True, padding="same")(x))
