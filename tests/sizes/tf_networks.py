"""Networks of layers with unknown batches, lengths and sizes of images."""

from __future__ import annotations

from tf_models import IMAGE, IMAGES, SEQUENCE, SEQUENCES, N, model, weights

SQUARES = ((1, 8, 8, 3), (3, 8, 8, 3), (2, 8, 8, 3), (5, 8, 8, 3))


@model(((1, 31, 4), (2, 7, 4), (3, 60, 4), (1, 101, 4)), x=(N, N, 4))
def causal_conv(tf):
    """Conv1D(causal, dilation 2) as Keras calls it."""
    w = weights(3, 4, 5)

    def run(x):
        return tf.nn.convolution(tf.pad(x, [[0, 0], [4, 0], [0, 0]]), w, dilations=2)

    return run


@model(((1, 101, 4), (2, 7, 4), (1, 60, 4), (1, 33, 4)), x=(N, N, 4))
def dilated_residuals(tf):
    """The blocks of SpliceAI: convolutions of growing dilation, both paddings, sums, a crop."""

    def run(x):
        x = tf.nn.conv1d(x, weights(1, 4, 6), 1, "SAME")
        for i, dilation in enumerate((1, 4, 10)):
            y = tf.nn.relu(x * weights(6) + 0.1)
            y = tf.nn.convolution(y, weights(3, 6, 6) * (i + 1), padding="SAME", dilations=dilation)
            x = x + y
        n = tf.shape(x)[1]
        return tf.nn.softmax(x[:, 2 : n - 2])

    return run


@model(((1, 101, 4), (2, 9, 4), (1, 60, 4), (1, 33, 4)), x=(N, N, 4))
def keras_causal_stack(tf):
    """Conv1D layers of tf_keras: causal, dilated, with free length."""
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    return tf_keras.Sequential(
        [
            layers.Input((None, 4)),
            *[layers.Conv1D(5, 2, padding="causal", dilation_rate=d, activation="relu")
              for d in (1, 2, 4)],
            layers.Conv1D(3, 3, padding="same", dilation_rate=3),
            layers.GlobalAveragePooling1D(),
        ]
    )  # fmt: skip


@model(IMAGES, x=IMAGE)
def atrous(tf):
    w = weights(3, 3, 3, 4)
    return lambda x: tf.nn.atrous_conv2d(x, w, 2, "SAME")


@model(((1, 9, 7, 3), (2, 6, 8, 3), (1, 12, 31, 3), (3, 17, 5, 3)), x=IMAGE)
def atrous_valid(tf):
    w = weights(3, 3, 3, 4)
    return lambda x: tf.nn.convolution(x, w, padding="VALID", dilations=[2, 2])


@model(IMAGES, x=IMAGE)
def conv_block(tf):
    w, d = weights(3, 3, 3, 6), weights(3, 3, 6, 1)

    def run(x):
        x = tf.nn.relu6(tf.nn.conv2d(x, w, 2, "SAME") * weights(6) + 0.2)
        x = tf.nn.relu6(tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME") + 0.1)
        return tf.nn.max_pool2d(x, 2, 2, "SAME")

    return run


@model(IMAGES, x=IMAGE)
def global_pooling(tf):
    w = weights(6, 4)

    def run(x):
        pooled = tf.concat([tf.reduce_mean(x, [1, 2]), tf.reduce_max(x, [1, 2])], axis=1)
        return tf.nn.softmax(tf.matmul(pooled, w))

    return run


@model(IMAGES, x=IMAGE)
def squeeze_and_excite(tf):
    w, v = weights(3, 2), weights(2, 3)

    def run(x):
        gate = tf.reduce_mean(x, [1, 2], keepdims=True)
        gate = tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(gate, w[None, None], 1, "SAME")),
                            v[None, None], 1, "SAME")  # fmt: skip
        return x * tf.sigmoid(gate)

    return run


@model(IMAGES, x=IMAGE)
def average_pool(tf):
    return lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME")


def unet(tf, x, upsample):
    x = first = tf.nn.relu(tf.nn.conv2d(x, weights(3, 3, 3, 4), 1, "SAME"))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = second = tf.nn.relu(tf.nn.conv2d(x, weights(3, 3, 4, 6), 1, "SAME"))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.nn.relu(tf.nn.conv2d(x, weights(3, 3, 6, 6), 1, "SAME"))
    x = tf.concat([upsample(x, 6), second], axis=3)
    x = tf.nn.relu(tf.nn.conv2d(x, weights(3, 3, 12, 6), 1, "SAME"))
    x = tf.concat([upsample(x, 4), first], axis=3)
    return tf.nn.conv2d(x, weights(1, 1, 8, 2), 1, "SAME")


def transposed(tf):
    def upsample(x, n):
        shape = tf.shape(x)
        sizes = tf.stack([shape[0], 2 * shape[1], 2 * shape[2], n])
        return tf.nn.conv2d_transpose(x, weights(2, 2, n, 6), sizes, 2, "SAME")

    return upsample


@model(SQUARES, x=(N, 8, 8, 3))
def unet_batch(tf):
    """U-Net of a fixed size with TRANSPOSE_CONV and unknown batch."""
    return lambda x: unet(tf, x, transposed(tf))


@model(((1, 8, 12, 3), (2, 4, 8, 3), (1, 16, 20, 3), (3, 12, 4, 3)), x=IMAGE)
def unet_free(tf):
    """U-Net of any size that 4 divides."""
    return lambda x: unet(tf, x, transposed(tf))


@model(((1, 8, 12, 3), (2, 4, 8, 3), (1, 16, 20, 3), (3, 12, 4, 3)), x=IMAGE)
def unet_resize(tf):
    """U-Net that doubles by the nearest pixel."""

    def upsample(x, n):
        y = tf.image.resize(x, 2 * tf.shape(x)[1:3], method="nearest")
        return tf.nn.conv2d(y, weights(1, 1, 6, n), 1, "SAME")

    return lambda x: unet(tf, x, upsample)


@model(SQUARES, x=(N, 8, 8, 3))
def keras_unet(tf):
    """U-Net of tf_keras layers: Conv2DTranspose, unknown batch."""
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    x = inputs = layers.Input((8, 8, 3))
    x = first = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(4, 3, 2, "same", activation="relu")(x)
    x = layers.Concatenate()([x, first])
    return tf_keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def block(tf, x, n_heads=2):
    """One block of a transformer with 8 features."""

    def norm(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6) * weights(8)

    def split(x, i):
        y = tf.tensordot(norm(x), weights(8, 8) + 0.05 * i, 1)
        shape = tf.shape(y)
        y = tf.reshape(y, tf.stack([shape[0], shape[1], n_heads, 8 // n_heads]))
        return tf.transpose(y, [0, 2, 1, 3])

    scores = tf.nn.softmax(tf.matmul(split(x, 0), split(x, 1), transpose_b=True) * 0.5)
    y = tf.transpose(tf.matmul(scores, split(x, 2)), [0, 2, 1, 3])
    x = x + tf.reshape(y, tf.shape(x))
    y = tf.nn.gelu(tf.tensordot(norm(x), weights(8, 16), 1) + weights(16))
    return x + tf.tensordot(y, weights(16, 8), 1)


@model(SEQUENCES, x=SEQUENCE)
def transformer(tf):
    """A block with free batch and length."""
    return lambda x: tf.reduce_mean(block(tf, x), axis=1)


@model(((1, 6, 8), (3, 6, 8), (2, 6, 8), (5, 6, 8)), x=(N, 6, 8))
def transformer_batch(tf):
    """A block of six steps with unknown batch."""
    return lambda x: tf.reduce_mean(block(tf, x), axis=1)


@model(((1, 5), (3, 5), (2, 5), (7, 5)), ids=((N, 5), "int32", 11))
def keras_attention(tf):
    """Embedding and MultiHeadAttention of tf_keras, unknown batch."""
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    inputs = layers.Input((5,), dtype="int32")
    x = layers.Embedding(11, 8)(inputs)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    return tf_keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


@model(((1, 32, 4), (3, 32, 4), (2, 32, 4), (5, 32, 4)), x=(N, 32, 4))
def conv1d_net(tf):
    """Conv1D layers of tf_keras with a fixed length and unknown batch."""
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    return tf_keras.Sequential(
        [
            layers.Input((32, 4)),
            layers.Conv1D(6, 5, padding="same", activation="relu"),
            layers.MaxPooling1D(2),
            layers.Conv1D(6, 3, dilation_rate=2, padding="same", activation="relu"),
            layers.Conv1D(4, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ]
    )


@model(((1, 6, 4), (3, 6, 4), (2, 6, 4), (5, 6, 4)), x=(N, 6, 4))
def unrolled_lstm(tf):
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    return tf_keras.Sequential([layers.Input((6, 4)), layers.LSTM(5, unroll=True)])


@model(((1, 6, 4), (3, 9, 4), (2, 1, 4), (1, 30, 4)), x=(N, N, 4))
def unet_1d(tf):
    """Padded to a multiple of 4, pooled, doubled and cut back."""

    def run(x):
        n = tf.shape(x)[1]
        x = tf.concat([x, tf.zeros(tf.stack([tf.shape(x)[0], (-n) % 4, 4]))], 1)
        first = tf.nn.relu(tf.nn.conv1d(x, weights(3, 4, 4), 1, "SAME"))
        y = tf.nn.conv1d(first, weights(2, 4, 4), 2, "VALID")
        y = tf.nn.conv1d(tf.nn.relu(y), weights(2, 4, 4) * 0.5, 2, "VALID")
        y = tf.repeat(y, 4, axis=1)
        return (y + first)[:, :n]

    return run


@model(((1, 6, 4), (3, 9, 4), (2, 2, 4), (1, 30, 4)), x=(N, N, 4))
def strided_conv1d(tf):
    w = weights(3, 4, 5)
    return lambda x: tf.nn.conv1d(x, w, 2, "SAME")


@model(((1, 6, 4), (3, 9, 4), (2, 1, 4), (1, 30, 4)), x=(N, N, 4))
def transposed_conv1d(tf):
    w = weights(4, 3, 4)

    def run(x):
        shape = tf.shape(x)
        return tf.nn.conv1d_transpose(x, w, tf.stack([shape[0], 2 * shape[1], 3]), 2, "SAME")

    return run


@model(((1, 28, 28, 1), (3, 28, 28, 1), (2, 28, 28, 1), (7, 28, 28, 1)), x=(N, 28, 28, 1))
def lenet(tf):
    def run(x):
        x = tf.nn.max_pool2d(
            tf.nn.relu(tf.nn.conv2d(x, weights(5, 5, 1, 2), 1, "SAME")), 2, 2, "VALID"
        )
        x = tf.nn.max_pool2d(
            tf.nn.relu(tf.nn.conv2d(x, weights(5, 5, 2, 3), 1, "VALID")), 4, 4, "VALID"
        )
        x = tf.reshape(x, tf.stack([tf.shape(x)[0], 12]))
        return tf.matmul(x, weights(12, 10)) + weights(10)

    return run
