"""Recurrent layers, with masks, states and both directions."""

from .registry import case, single

SEQUENCE = (5, 4)
for _kind in ("LSTM", "GRU", "SimpleRNN"):
    for _name, _settings in {
        "last": {},
        "all": {"return_sequences": True},
        "back": {"return_sequences": True, "go_backwards": True, "use_bias": False},
        "relu": {"activation": "relu", "return_state": True},
    }.items():
        single(
            *("recurrent", f"{_kind}_{_name}"),
            lambda layers, k=_kind, s=_settings: getattr(layers, k)(3, **s),
            SEQUENCE,
        )
single("recurrent", "GRU_before", lambda layers: layers.GRU(3, reset_after=False), SEQUENCE)
single("recurrent", "GRU_unrolled", lambda layers: layers.GRU(3, unroll=True), SEQUENCE)
single("recurrent", "any_length", lambda layers: layers.LSTM(3, return_sequences=True), (None, 4))
for _mode in ("sum", "mul", "ave", "concat", None):
    single(
        *("recurrent", f"both_{_mode}"),
        lambda layers, m=_mode: layers.Bidirectional(
            layers.GRU(2, return_sequences=True), merge_mode=m
        ),
        SEQUENCE,
    )
single("recurrent", "both_last", lambda layers: layers.Bidirectional(layers.LSTM(2)), SEQUENCE)
single(
    *("recurrent", "both_other"),
    lambda layers: layers.Bidirectional(
        layers.LSTM(2, return_state=True),
        backward_layer=layers.LSTM(3, activation="elu", go_backwards=True, return_state=True),
    ),
    SEQUENCE,
)


@case("recurrent")
def both_masked(k):
    x = k.Input((6,), dtype="int32")
    y = k.layers.Embedding(9, 4, mask_zero=True)(x)
    y = k.layers.Bidirectional(k.layers.GRU(3, return_sequences=True))(y)
    return k.Model(x, [y, k.layers.Bidirectional(k.layers.LSTM(3))(y)])


@case("recurrent")
def masked(k):
    layers = k.layers
    x = k.Input((6,), dtype="int32")
    y = layers.Embedding(9, 4, mask_zero=True)(x)
    y = layers.Dropout(0.5)(layers.LSTM(3, return_sequences=True)(y))
    y = layers.GRU(3, return_sequences=True, return_state=True)(y)[0]
    y = layers.TimeDistributed(layers.Dense(4))(y)
    return k.Model(x, [layers.SimpleRNN(3)(y), layers.GlobalAveragePooling1D()(y)])


@case("recurrent")
def masked_chain(k):
    layers = k.layers
    chain = [k.Input((6, 4)), layers.Masking(0.5), layers.LSTM(3, return_sequences=True)]
    return k.Sequential([*chain, layers.BatchNormalization(), layers.LSTM(2), layers.Dense(2)])


@case("recurrent")
def states(k):
    layers = k.layers
    x, start = k.Input(SEQUENCE), k.Input((3,))
    y, h, c = layers.LSTM(3, return_state=True)(x, initial_state=[start, start])
    z = layers.LSTM(3, return_sequences=True)(x, initial_state=[h, c])
    both = layers.Bidirectional(layers.GRU(3, return_state=True))(x, initial_state=[h, c])
    return k.Model([x, start], [y, z, *both])


@case("recurrent")
def stacks(k):
    layers = k.layers
    x = k.Input(SEQUENCE)
    cells = [layers.LSTMCell(3), layers.GRUCell(2), layers.LSTMCell(4)]
    y = layers.RNN(cells, return_sequences=True, return_state=True)(x)
    return k.Model(x, [*y, layers.RNN(layers.SimpleRNNCell(3))(y[0])])


for _n, _shape in ((1, (4, 6, 2)), (2, (3, 5, 4, 2)), (3, (2, 3, 4, 3, 2))):
    single(
        *("recurrent", f"ConvLSTM{_n}D"),
        lambda layers, n=_n: getattr(layers, f"ConvLSTM{n}D")(
            2, 3, padding="same", return_sequences=True
        ),
        _shape,
    )
single(
    *("recurrent", "ConvLSTM2D_valid"),
    lambda layers: layers.ConvLSTM2D(2, 3, strides=2, recurrent_activation="hard_sigmoid"),
    (3, 7, 8, 2),
)
single(
    "recurrent",
    "timed_conv",
    lambda layers: layers.TimeDistributed(layers.Conv2D(2, 3)),
    (3, 5, 4, 2),
)


@case("recurrent")
def timed_model(k):
    inner = k.Sequential([k.Input((4, 2)), k.layers.Flatten(), k.layers.Dense(3)])
    x = k.Input((3, 4, 2))
    return k.Model(x, k.layers.TimeDistributed(inner)(x))
