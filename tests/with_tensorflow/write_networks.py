"""Writes networks that people convert, and what TensorFlow computes with them.

    python write_networks.py FOLDER [NAME...]

Needs an environment with TensorFlow, and nothing of flatlite's; check_networks.py converts what
this has written. FOLDER/NAME gets saved_model/, model.keras and model.h5 (Keras models), or
frozen.pb (graphs of TensorFlow 1), and a file of inputs and outputs for each size. Weights are
random, and the statistics of normalisations are, so that no layer is an identity.
"""

import json
import os
import sys
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

applications = keras.applications
SEED = 11


def application(name, size, **options):
    """A network of keras.applications for images of one size, or of any."""
    return lambda: getattr(applications, name)(input_shape=(size, size, 3), weights=None, **options)


def text_lstm():
    """Words through a bidirectional LSTM and another one."""
    x = keras.Input((None,), dtype="int32", name="words")
    y = layers.Embedding(500, 32, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(24, return_sequences=True))(y)
    return keras.Model(x, layers.Dense(5, "softmax")(layers.LSTM(16)(y)))


def gru():
    """Two GRUs, one with reset before, over rows of any number."""
    x = keras.Input((None, 12))
    y = layers.GRU(20, return_sequences=True, reset_after=False)(x)
    return keras.Model(x, layers.Dense(3)(layers.GRU(16)(y)))


def conv1d():
    """Convolutions in one dimension: causal, dilated, separable, transposed."""
    x = keras.Input((None, 8))
    y = layers.Conv1D(16, 3, padding="causal", dilation_rate=2, activation="elu")(x)
    y = layers.SeparableConv1D(16, 5, padding="same", activation="relu")(y)
    y = layers.DepthwiseConv1D(3, padding="same")(y)
    y = layers.Conv1DTranspose(8, 4, strides=2, padding="same")(y)
    y = layers.MaxPooling1D(2)(layers.BatchNormalization()(y))
    y = layers.Conv1D(8, 1, activation="sigmoid")(y)
    return keras.Model(x, layers.Dense(4, "softmax")(layers.GlobalAveragePooling1D()(y)))


def vision_transformer(size=64, patch=8, width=48, depth=3):
    """Patches, attention with learned positions, a class token."""
    x = keras.Input((size, size, 3))
    y = layers.Conv2D(width, patch, strides=patch)(layers.Rescaling(1 / 127.5, -1.0)(x))
    n = (size // patch) ** 2
    y = layers.Reshape((n, width))(y)
    y = y + layers.Embedding(n, width)(ops.arange(n))
    for _ in range(depth):
        z = layers.LayerNormalization(epsilon=1e-6)(y)
        y = layers.Add()([y, layers.MultiHeadAttention(4, width // 4)(z, z)])
        z = layers.LayerNormalization(epsilon=1e-6)(y)
        z = layers.Dense(width)(layers.Dense(4 * width, "gelu")(z))
        y = layers.Add()([y, z])
    y = layers.LayerNormalization()(y)[:, 0]
    return keras.Model(x, layers.Dense(10)(y))


def other_layers():
    """Layers that are met less often."""
    x = keras.Input((40, 48, 3))
    y = layers.RandomFlip(seed=1)(x)
    y = layers.CenterCrop(36, 40)(layers.Resizing(44, 44)(y))
    y = layers.ZeroPadding2D(((1, 2), (3, 0)))(y)
    y = layers.Conv2D(16, 3, use_bias=False)(y)
    y = layers.PReLU(shared_axes=[1, 2])(layers.GroupNormalization(4)(y))
    y = layers.LeakyReLU()(layers.DepthwiseConv2D(3, depth_multiplier=2)(y))
    y = layers.UpSampling2D(2, interpolation="bilinear")(layers.AveragePooling2D(2)(y))
    y = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="swish")(y)
    y = layers.Cropping2D(2)(layers.SpatialDropout2D(0.1)(y))
    y = layers.UnitNormalization()(layers.GlobalMaxPooling2D()(y))
    return keras.Model(x, layers.Dense(6, "softplus")(y))


def video():
    """3-D convolutions, a ConvLSTM and a layer over time."""
    x = keras.Input((6, 16, 16, 2))
    y = layers.MaxPooling3D((1, 2, 2))(layers.Conv3D(6, 3, padding="same", activation="relu")(x))
    y = layers.ConvLSTM2D(5, 3, padding="same", return_sequences=True)(y)
    y = layers.TimeDistributed(layers.Conv2D(4, 3, activation="tanh"))(y)
    y = layers.GlobalAveragePooling3D()(layers.AveragePooling3D(2)(y))
    return keras.Model(x, layers.Dense(3)(y))


def sensor_network():
    """A normalisation, dilated convolutions and a SimpleRNN."""
    x = keras.Input((32, 4))
    normalization = layers.Normalization()
    normalization.adapt(np.random.default_rng(3).normal(2, 3, (64, 32, 4)))
    y = normalization(x)
    for dilation in (1, 2, 4):
        z = layers.Conv1D(12, 3, padding="causal", dilation_rate=dilation, activation="relu")(y)
        y = z if dilation == 1 else layers.Add()([y, layers.LayerNormalization()(z)])
    return keras.Model(x, layers.Dense(2, "sigmoid")(layers.SimpleRNN(8)(y)))


def bert(width=32, depth=2):
    """Words with a mask of their own lengths through two layers of attention."""
    words = keras.Input((None,), dtype="int32", name="words")
    mask = keras.Input((None,), dtype="int32", name="mask")
    positions = ops.cumsum(ops.ones_like(words), axis=1) - 1
    y = layers.Embedding(300, width)(words) + layers.Embedding(64, width)(positions)
    y = layers.LayerNormalization()(y)
    allowed = ops.cast(ops.expand_dims(mask, 1), "bool")
    for _ in range(depth):
        z = layers.MultiHeadAttention(2, width // 2)(y, y, attention_mask=allowed)
        y = layers.LayerNormalization()(y + z)
        z = layers.Dense(width)(layers.Dense(4 * width, "gelu")(y))
        y = layers.LayerNormalization()(y + z)
    pooled = layers.Dense(width, "tanh")(y[:, 0])
    return keras.Model([words, mask], [y, layers.Dense(2)(pooled)])


def unet():
    """A U-Net for images of any size that 4 divides."""
    x = keras.Input((None, None, 3))
    y, skips = x, []
    for n in (8, 16):
        y = layers.Conv2D(n, 3, padding="same", activation="relu")(y)
        skips.append(layers.BatchNormalization()(y))
        y = layers.MaxPooling2D()(skips[-1])
    y = layers.Conv2D(32, 3, padding="same", activation="relu")(y)
    for n, skip in zip((16, 8), reversed(skips), strict=True):
        y = layers.Conv2DTranspose(n, 2, strides=2, padding="same")(y)
        y = layers.Conv2D(n, 3, padding="same", activation="relu")(layers.Concatenate()([y, skip]))
    return keras.Model(x, layers.Conv2D(1, 1, activation="sigmoid")(layers.UpSampling2D(2)(y)))


def encoder_decoder():
    """Attention between two sequences of their own lengths."""
    source = keras.Input((None, 16), name="source")
    target = keras.Input((None, 16), name="target")
    memory = layers.LayerNormalization()(layers.Dense(24, "relu")(source))
    y = layers.Dense(24)(target)
    y = y + layers.MultiHeadAttention(3, 8)(y, y, use_causal_mask=True)
    y = y + layers.MultiHeadAttention(3, 8)(y, memory)
    return keras.Model([source, target], layers.Dense(7)(layers.LayerNormalization()(y)))


def splice_sites(width=16):
    """Residual blocks of dilated convolutions over a sequence of any length, cropped at the end."""
    x = keras.Input((None, 4))
    y = skip = layers.Conv1D(width, 1)(x)
    for kernel, dilation in ((11, 1), (11, 4), (21, 10)):
        z = layers.Activation("relu")(layers.BatchNormalization()(y))
        z = layers.Conv1D(width, kernel, dilation_rate=dilation, padding="same")(z)
        z = layers.Activation("relu")(layers.BatchNormalization()(z))
        z = layers.Conv1D(width, kernel, dilation_rate=dilation, padding="same")(z)
        y = layers.Add()([y, z])
        skip = layers.Add()([skip, layers.Conv1D(width, 1)(y)])
    return keras.Model(x, layers.Conv1D(3, 1, activation="softmax")(layers.Cropping1D(20)(skip)))


def batches(*shape, dtype="float32", counts=(1, 2, 3)):
    """Inputs of these shapes in batches of so many."""
    return [[((n, *shape), dtype)] for n in counts]


def any_size(*shapes, dtype="float32"):
    """Inputs of one array each, of these shapes."""
    return [[(shape, dtype)] for shape in shapes]


IMAGES = [(1, 96, 64, 3), (2, 75, 101, 3), (1, 130, 128, 3)]
ROWS = [(1, 7), (2, 31), (3, 16)]
KERAS = {
    "efficientnet_v2_b0": (application("EfficientNetV2B0", 128), batches(128, 128, 3)),
    "convnext_tiny": (application("ConvNeXtTiny", 96), batches(96, 96, 3)),
    "densenet121": (application("DenseNet121", 128), batches(128, 128, 3)),
    "nasnet_mobile": (application("NASNetMobile", 96), batches(96, 96, 3)),
    "xception": (application("Xception", 96), batches(96, 96, 3)),
    "inception_v3": (application("InceptionV3", 128), batches(128, 128, 3)),
    "mobilenet_v3_large": (application("MobileNetV3Large", 128), batches(128, 128, 3)),
    "resnet50_v2_any_size": (
        application("ResNet50V2", None, include_top=False, pooling="avg"),
        any_size(*IMAGES),
    ),
    "inception_resnet_v2": (application("InceptionResNetV2", 96), batches(96, 96, 3)),
    "vgg16": (application("VGG16", 64), batches(64, 64, 3)),
    "text_lstm": (text_lstm, any_size(*ROWS, dtype="int32")),
    "gru": (gru, any_size(*[(*n, 12) for n in ROWS])),
    "conv1d": (conv1d, any_size(*[(*n, 8) for n in ROWS])),
    "vision_transformer": (vision_transformer, batches(64, 64, 3)),
    "other_layers": (other_layers, batches(40, 48, 3)),
    "video": (video, batches(6, 16, 16, 2)),
    "sensor_network": (sensor_network, batches(32, 4)),
    "bert": (bert, [[(n, "int32"), (n, "mask")] for n in ROWS]),
    "unet": (unet, any_size((1, 16, 24, 3), (2, 32, 20, 3), (1, 4, 8, 3))),
    "encoder_decoder": (
        encoder_decoder,
        [[((b, n, 16), "float32"), ((b, m, 16), "float32")] for b, n, m in ((1, 5, 9), (2, 11, 3))]
        + [[((1, 1, 16), "float32"), ((1, 4, 16), "float32")]],
    ),
    "splice_sites": (splice_sites, any_size((1, 101, 4), (2, 64, 4), (1, 513, 4))),
}


def function(*specs, **options):
    """`tf.function` with a signature."""
    return tf.function(input_signature=[tf.TensorSpec(*spec) for spec in specs], **options)


class Signatures(tf.Module):
    """Two halves of a network and a counter, a signature each."""

    def __init__(self):
        super().__init__()
        generator = tf.random.Generator.from_seed(SEED)
        self.w = tf.Variable(generator.normal([6, 4]))
        self.n = tf.Variable(0.0)

    @function(([None, 6], tf.float32, "x"))
    def encode(self, x):
        return {"code": tf.tanh(x @ self.w)}

    @function(([None, 4], tf.float32, "code"))
    def decode(self, code):
        return {"x": tf.matmul(code, self.w, transpose_b=True)}

    @function(([], tf.float32, "by"))
    def count(self, by):
        return {"n": self.n.assign_add(by)}


class Function(tf.Module):
    """A module with one function."""

    def __init__(self, run, *specs):
        super().__init__()
        self.run = function(*specs)(run)


def image_colours(x):
    """Colours as tf.image changes them."""
    y = tf.image.adjust_contrast(tf.image.adjust_brightness(x, 0.05), 1.3)
    hsv = tf.image.rgb_to_hsv(x)
    return {"y": y, "hsv": hsv, "grey": tf.image.rgb_to_grayscale(x)}


def image_hue(x):
    """Another hue, which TensorFlow 2.21 does not convert either."""
    return {"y": tf.image.adjust_hue(tf.image.adjust_saturation(x, 0.7), 0.1)}


def image_centre(x):
    """A part of any image: sizes in float64, which TensorFlow 2.21 does not convert either."""
    return {"y": tf.image.central_crop(x, 0.5)}


def image_sizes(x):
    """Sizes as tf.image changes them."""
    return {
        "pad": tf.image.resize_with_pad(x, 40, 40),
        "crop": tf.image.resize_with_crop_or_pad(x, 50, 30),
        "flip": tf.image.flip_left_right(tf.image.rot90(x)),
        "bilinear": tf.image.resize(x, [24, 36]),
    }


def boxes(corners, scores):
    """Boxes that overlap less than half."""
    selected, best = tf.image.non_max_suppression_with_scores(
        corners, scores, 5, iou_threshold=0.5, score_threshold=0.1
    )
    return {"boxes": tf.gather(corners, selected), "scores": best, "indices": selected}


def spectrum(x):
    """A mel spectrogram."""
    power = tf.abs(tf.signal.stft(x, 256, 128, fft_length=256))
    mel = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000)
    return {"mel": tf.math.log(tf.tensordot(power, mel, 1) + 1e-6)}


def mathematics(x):
    """Sums over named axes, orders and buckets."""
    y = tf.einsum("bij,bkj->bik", x, x)
    top = tf.math.top_k(tf.reduce_sum(x, -1), 2)
    return {
        "einsum": y,
        "sorted": tf.sort(x, axis=-1, direction="DESCENDING"),
        "order": tf.argsort(tf.reduce_sum(x, -1)),
        "top": top.values,
        "buckets": tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5]),
        "cumulative": tf.cumsum(x, 1, exclusive=True),
        "segment": tf.math.unsorted_segment_sum(x[0], tf.constant([0, 1, 0, 2]), 3),
    }


class Words(tf.Module):
    """Words looked up in a table."""

    def __init__(self):
        super().__init__()
        keys = tf.constant(["a", "bc", "d e"])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.constant([3, 1, 2], tf.int64))
        self.table = tf.lookup.StaticHashTable(initializer, -1)

    @function(([None], tf.string, "words"))
    def run(self, words):
        return {"ids": self.table.lookup(words)}


FUNCTIONS = {
    "signatures": (
        Signatures,
        {
            "encode": [{"x": ((n, 6), "float32")} for n in (1, 2, 5)],
            "decode": [{"code": ((n, 4), "float32")} for n in (1, 2, 5)],
            "count": [{"by": ((), "float32")}],
        },
    ),
    "image_colours": (
        lambda: Function(image_colours, ([1, None, None, 3], tf.float32, "x")),
        {"run": [{"x": ((1, h, w, 3), "unit")} for h, w in ((8, 12), (13, 7), (1, 1))]},
    ),
    "image_hue": (
        lambda: Function(image_hue, ([1, None, None, 3], tf.float32, "x")),
        {"run": [{"x": ((1, 8, 12, 3), "unit")}]},
    ),
    "image_centre": (
        lambda: Function(image_centre, ([1, None, None, 3], tf.float32, "x")),
        {"run": [{"x": ((1, 8, 12, 3), "unit")}]},
    ),
    "image_sizes": (
        lambda: Function(image_sizes, ([1, None, None, 3], tf.float32, "x")),
        {"run": [{"x": ((1, h, w, 3), "unit")} for h, w in ((48, 64), (90, 70), (31, 31))]},
    ),
    "boxes": (
        lambda: Function(boxes, ([None, 4], tf.float32, "corners"), ([None], tf.float32, "scores")),
        {"run": [{"corners": ((n, 4), "corners"), "scores": ((n,), "unit")} for n in (8, 3, 20)]},
    ),
    "spectrum": (
        lambda: Function(spectrum, ([1, 2048], tf.float32, "x")),
        {"run": [{"x": ((1, 2048), "float32")}]},
    ),
    "mathematics": (
        lambda: Function(mathematics, ([None, 4, None], tf.float32, "x")),
        {"run": [{"x": ((b, 4, n), "float32")} for b, n in ((1, 3), (2, 5), (3, 1))]},
    ),
    "words": (Words, {"run": [{"words": ((n,), "words")} for n in (1, 3, 5)]}),
}


def while_loop(graph_inputs):
    """A loop of TensorFlow 1 over rows."""
    v1 = tf.compat.v1
    w = v1.constant(np.random.default_rng(1).normal(0, 0.4, (8, 8)).astype(np.float32))
    (x,) = graph_inputs
    _, y = v1.while_loop(
        lambda i, _: i < 5, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w) + x)), [0, x]
    )
    return [tf.identity(y, "y")]


def dynamic_rnn(graph_inputs):
    """An LSTM in a loop over TensorArrays, as dynamic_rnn writes it, of any length."""
    v1 = tf.compat.v1
    (x,) = graph_inputs
    draw = np.random.default_rng(2).normal
    w = v1.constant(draw(0, 0.3, (12 + 6, 24)).astype(np.float32))
    n_steps, n = tf.shape(x)[0], tf.shape(x)[1]
    rows = tf.TensorArray(tf.float32, n_steps).unstack(x)
    results = tf.TensorArray(tf.float32, n_steps)

    def step(t, h, c, results):
        gates = tf.matmul(tf.concat([rows.read(t), h], 1), w)
        i, j, f, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return t + 1, h, c, results.write(t, h)

    zeros = tf.zeros(tf.stack([n, 6]))
    shapes = [tf.TensorShape([])] + [tf.TensorShape([None, 6])] * 2 + [tf.TensorShape(None)]
    _, _, _, results = v1.while_loop(
        lambda t, *_: t < n_steps, step, [0, zeros, zeros, results], shape_invariants=shapes
    )
    return [tf.identity(results.stack(), "y")]


def wide_and_deep(graph_inputs):
    """Embeddings of a list of numbers beside dense features, as tf.estimator writes them."""
    ids, dense = graph_inputs
    draw = np.random.default_rng(4).normal
    table = tf.constant(draw(0, 1, (50, 6)).astype(np.float32))
    hashed = tf.math.floormod(ids * 7 + 3, 50)
    deep = tf.reduce_mean(tf.gather(table, hashed), 1)
    x = tf.concat([deep, dense], 1)
    w = tf.constant(draw(0, 0.5, (9, 4)).astype(np.float32))
    return [tf.nn.softmax(tf.nn.relu(x @ w), name="y")]


STEPS = [[((t, n, 12), "float32")] for t, n in ((4, 1), (9, 2), (1, 3))]
OF_FUNCTIONS = ("dynamic_rnn",)
"""Graphs whose loops are functions, as those of TensorFlow 2; the others have frames."""
FROZEN = {
    "while_loop": (
        while_loop,
        [("x", tf.float32, [None, 8])],
        [[((n, 8), "float32")] for n in (1, 2, 5)],
    ),
    "tensor_arrays": (dynamic_rnn, [("x", tf.float32, [None, None, 12])], STEPS),
    "dynamic_rnn": (dynamic_rnn, [("x", tf.float32, [None, None, 12])], STEPS),
    "wide_and_deep": (
        wide_and_deep,
        [("ids", tf.int32, [None, None]), ("dense", tf.float32, [None, 3])],
        [[((b, n), "int32"), ((b, 3), "float32")] for b, n in ((1, 4), (3, 1), (2, 9))],
    ),
}


def drawn(shape, kind, generator):
    """An input of a kind: a dtype, or what its numbers stand for."""
    if kind == "int32":
        return generator.integers(1, 40, shape).astype(np.int32)
    if kind == "mask":
        lengths = generator.integers(1, shape[1] + 1, (shape[0], 1))
        return (np.arange(shape[1]) < lengths).astype(np.int32)
    if kind == "unit":
        return generator.random(shape, np.float32)
    if kind == "corners":
        first = generator.random((shape[0], 2), np.float32)
        return np.concatenate([first, first + generator.random((shape[0], 2), np.float32)], 1)
    if kind == "words":
        return np.array(["a", "bc", "d e", "zz", "bc"], object)[: shape[0]]
    return generator.normal(0, 1, shape).astype(np.float32)


def store(path, inputs, outputs):
    """Inputs and outputs by their names, or by position."""
    named = {f"in:{k}": v for k, v in inputs.items()} | {f"out:{k}": v for k, v in outputs.items()}
    named = {k: np.asarray(v) for k, v in named.items()}
    np.savez(path, **{k: v.astype("S") if v.dtype == object else v for k, v in named.items()})


def write_keras(folder, name):
    """A Keras model in its three forms."""
    keras.utils.set_random_seed(SEED)
    build, sizes = KERAS[name]
    model, generator = build(), np.random.default_rng(SEED)
    for weight in model.weights:
        label = weight.path.rpartition("/")[2]
        if label == "moving_variance":
            weight.assign(generator.uniform(0.5, 1.5, weight.shape))
        elif label in ("moving_mean", "beta", "bias") and "float" in str(weight.dtype):
            weight.assign(generator.normal(0, 0.1, weight.shape))
    model.save(folder / "model.keras")
    model.save(folder / "model.h5")
    model.export(folder / "saved_model", verbose=False)
    for i, size in enumerate(sizes):
        arrays = [drawn(shape, kind, generator) for shape, kind in size]
        outputs = model(arrays if len(arrays) > 1 else arrays[0], training=False)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        store(folder / f"{i}.npz", dict(enumerate(arrays)), dict(enumerate(outputs)))


def write_functions(folder, name):
    """A SavedModel of functions."""
    make, rows = FUNCTIONS[name]
    module, generator = make(), np.random.default_rng(SEED)
    functions = {key: getattr(module, key) for key in rows}
    single = len(functions) == 1
    signatures = {"serving_default" if single else k: f for k, f in functions.items()}
    tf.saved_model.save(module, str(folder / "saved_model"), signatures=signatures)
    for key, sizes in rows.items():
        for i, size in enumerate(sizes):
            inputs = {k: drawn(shape, kind, generator) for k, (shape, kind) in size.items()}
            outputs = functions[key](**{k: tf.constant(v) for k, v in inputs.items()})
            signature = "serving_default" if single else key
            store(folder / f"{signature}.{i}.npz", inputs, outputs)


def write_frozen(folder, name):
    """A frozen graph of TensorFlow 1."""
    v1 = tf.compat.v1
    build, specs, sizes = FROZEN[name]
    generator = np.random.default_rng(SEED)
    (v1.enable_control_flow_v2 if name in OF_FUNCTIONS else v1.disable_control_flow_v2)()
    with tf.Graph().as_default(), v1.Session() as session:
        inputs = [v1.placeholder(dtype, shape, label) for label, dtype, shape in specs]
        outputs = build(inputs)
        frozen = v1.graph_util.convert_variables_to_constants(
            session, session.graph_def, [x.op.name for x in outputs]
        )
        (folder / "frozen.pb").write_bytes(frozen.SerializeToString())
        for i, size in enumerate(sizes):
            arrays = [drawn(shape, kind, generator) for shape, kind in size]
            results = session.run(outputs, dict(zip(inputs, arrays, strict=True)))
            store(folder / f"{i}.npz", dict(enumerate(arrays)), dict(enumerate(results)))
    names = [[x.op.name for x in inputs], [x.op.name for x in outputs]]
    (folder / "names.json").write_text(json.dumps(names))


def main():
    """Writes the networks that are named, or all."""
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or [*KERAS, *FUNCTIONS, *FROZEN]:
        (folder / name).mkdir(parents=True, exist_ok=True)
        write = (
            write_keras if name in KERAS else write_functions if name in FUNCTIONS else write_frozen
        )
        write(folder / name, name)
        print(name, flush=True)


if __name__ == "__main__":
    main()
