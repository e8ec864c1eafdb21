"""Crops, resizes and paddings of images of any size."""

from __future__ import annotations

from tf_models import IMAGE, IMAGES, N, model, weights

ONE_IMAGE = (1, N, N, 3)
ONES = ((1, 9, 7, 3), (1, 5, 8, 3), (1, 12, 31, 3), (1, 17, 4, 3))


def sides(tf, x):
    shape = tf.shape(x)
    return shape[1], shape[2]


@model(IMAGES, x=IMAGE)
def centre_crop_square(tf):
    def run(x):
        h, w = sides(tf, x)
        m = tf.minimum(h, w)
        top, left = (h - m) // 2, (w - m) // 2
        return tf.image.resize(x[:, top : top + m, left : left + m], [4, 4])

    return run


@model(IMAGES, x=IMAGE)
def resize_short_side(tf):
    def run(x):
        h, w = sides(tf, x)
        m = tf.minimum(h, w)
        return tf.image.resize(x, tf.stack([6 * h // m, 6 * w // m]))

    return run


@model(IMAGES, x=IMAGE)
def upright(tf):
    def run(x):
        h, w = sides(tf, x)
        return tf.cond(h > w, lambda: tf.transpose(x, [0, 2, 1, 3]), lambda: x)

    return run


@model(IMAGES, x=IMAGE)
def letterbox_square(tf):
    def run(x):
        h, w = sides(tf, x)
        m = tf.maximum(h, w)
        top, left = (m - h) // 2, (m - w) // 2
        return tf.pad(x, [[0, 0], [top, m - h - top], [left, m - w - left], [0, 0]])

    return run


@model(IMAGES, x=IMAGE)
def resize_with_pad(tf):
    return lambda x: tf.image.resize_with_pad(x, 6, 10)


@model(IMAGES, x=IMAGE)
def resize_with_crop_or_pad(tf):
    return lambda x: tf.image.resize_with_crop_or_pad(x, 8, 6)


@model(IMAGES, x=IMAGE)
def resize_half(tf):
    def run(x):
        h, w = sides(tf, x)
        return tf.image.resize(x, tf.stack([(h + 1) // 2, (w + 1) // 2]))

    return run


@model(IMAGES, x=IMAGE)
def resize_twice_nearest(tf):
    def run(x):
        h, w = sides(tf, x)
        return tf.image.resize(x, tf.stack([2 * h, 2 * w]), method="nearest")

    return run


@model(
    (
        ((1, 9, 7, 3), (1, 5, 4, 3)),
        ((2, 5, 8, 3), (2, 11, 2, 3)),
        ((1, 12, 31, 3), (1, 1, 3, 3)),
        ((3, 17, 4, 3), (3, 6, 6, 3)),
    ),
    x=IMAGE,
    y=IMAGE,
)
def pyramid_sum(tf):
    return lambda x, y: x + tf.image.resize(y, tf.shape(x)[1:3])


@model(
    (
        ((1, 9, 7, 3), (1, 5, 4, 3)),
        ((2, 11, 8, 3), (2, 11, 2, 3)),
        ((1, 12, 31, 3), (1, 1, 3, 3)),
        ((3, 17, 6, 3), (3, 6, 5, 3)),
    ),
    x=IMAGE,
    y=IMAGE,
)
def crop_to_other(tf):
    def run(x, y):
        h, w = sides(tf, y)
        top, left = (tf.shape(x)[1] - h) // 2, (tf.shape(x)[2] - w) // 2
        return tf.concat([x[:, top : top + h, left : left + w], y], axis=3)

    return run


@model(((1, 9, 7, 3), (2, 4, 8, 3), (1, 12, 31, 3), (3, 17, 4, 3)), x=IMAGE)
def centre_crop_fixed(tf):
    def run(x):
        h, w = sides(tf, x)
        top, left = (h - 4) // 2, (w - 4) // 2
        return tf.reshape(x[:, top : top + 4, left : left + 4], [-1, 48])

    return run


@model(IMAGES, x=IMAGE)
def pad_to_multiple(tf):
    def run(x):
        h, w = sides(tf, x)
        return tf.pad(x, [[0, 0], [0, (-h) % 4], [0, (-w) % 4], [0, 0]])

    return run


@model(IMAGES, x=IMAGE)
def windows(tf):
    """The partition of a Swin transformer, and back."""

    def run(x):
        h, w = sides(tf, x)
        x = tf.pad(x, [[0, 0], [0, (-h) % 4], [0, (-w) % 4], [0, 0]])
        rows, columns = (h + 3) // 4, (w + 3) // 4
        y = tf.reshape(x, tf.stack([-1, rows, 4, columns, 4, 3]))
        y = tf.transpose(y, [0, 1, 3, 2, 4, 5])
        y = tf.nn.softmax(tf.reshape(y, [-1, 16, 3]), axis=1)
        y = tf.transpose(tf.reshape(y, tf.stack([-1, rows, columns, 4, 4, 3])), [0, 1, 3, 2, 4, 5])
        return tf.reshape(y, tf.stack([-1, 4 * rows, 4 * columns, 3]))[:, :h, :w]

    return run


@model(IMAGES, x=IMAGE)
def standardize(tf):
    return tf.image.per_image_standardization


@model(((1, 8, 6, 3), (2, 2, 8, 3), (1, 12, 30, 3), (3, 18, 4, 3)), x=IMAGE)
def space_to_depth(tf):
    return lambda x: tf.nn.depth_to_space(tf.nn.relu(tf.nn.space_to_depth(x, 2)) + 1.0, 2)


@model(IMAGES, x=IMAGE)
def mean_by_count(tf):
    def run(x):
        h, w = sides(tf, x)
        count = tf.cast(h * w, tf.float32)
        return tf.reduce_sum(x, [1, 2]) / count

    return run


@model(IMAGES, x=IMAGE)
def context(tf):
    """The mean of an image, laid beside each of its pixels."""

    def run(x):
        h, w = sides(tf, x)
        mean = tf.reduce_mean(x, [1, 2], keepdims=True)
        return tf.concat([x, tf.tile(mean, tf.stack([1, h, w, 1]))], axis=3)

    return run


@model(IMAGES, x=IMAGE)
def pixel_attention(tf):
    def run(x):
        shape = tf.shape(x)
        flat = tf.reshape(x, tf.stack([shape[0], shape[1] * shape[2], 3]))
        scores = tf.nn.softmax(tf.matmul(flat, flat, transpose_b=True))
        return tf.reshape(tf.matmul(scores, flat), shape)

    return run


@model(IMAGES, x=IMAGE)
def coordinates(tf):
    """Rows and columns as channels, from 0 to 1."""

    def run(x):
        h, w = sides(tf, x)
        rows = tf.cast(tf.range(h), tf.float32) / tf.cast(h, tf.float32)
        columns = tf.cast(tf.range(w), tf.float32) / tf.cast(w, tf.float32)
        return x + rows[tf.newaxis, :, tf.newaxis, tf.newaxis] * columns[:, tf.newaxis]

    return run


@model(IMAGES, x=IMAGE)
def flip_if_tall(tf):
    def run(x):
        h, w = sides(tf, x)
        return tf.cond(h * 2 > w * 3, lambda: tf.reverse(x, [1]), lambda: x * 2.0)

    return run


@model(ONES, x=ONE_IMAGE)
def one_image_crop(tf):
    def run(x):
        h, w = sides(tf, x)
        y = x[0, h // 4 : h - h // 4, w // 4 : w - w // 4]
        return tf.reduce_max(y, axis=[0, 1])

    return run


@model(IMAGES, x=IMAGE)
def group_norm(tf):
    scale = weights(4)

    def run(x):
        x = tf.concat([x, x[..., :1]], axis=3)
        shape = tf.shape(x)
        y = tf.reshape(x, tf.stack([shape[0], shape[1], shape[2], 2, 2]))
        mean, variance = tf.nn.moments(y, [1, 2, 4], keepdims=True)
        return tf.reshape((y - mean) * tf.math.rsqrt(variance + 1e-3), shape) * scale

    return run


@model(IMAGES, x=IMAGE)
def tiles_of_four(tf):
    """Whole tiles only: what is over is cut off."""

    def run(x):
        h, w = sides(tf, x)
        rows, columns = h // 2, w // 2
        y = x[:, : rows * 2, : columns * 2]
        y = tf.reshape(y, tf.stack([-1, rows, 2, columns, 6]))
        return tf.reduce_max(y, axis=2)

    return run


@model(IMAGES, x=IMAGE)
def patches(tf):
    """Windows that lie side by side, with a border and without, and such that overlap."""

    def run(x):
        def cut(size, stride, rate, padding):
            square = ([1, n, n, 1] for n in (size, stride, rate))
            return tf.reshape(tf.image.extract_patches(x, *square, padding), [-1])

        apart = cut(2, 2, 1, "VALID"), cut(3, 3, 1, "SAME")
        return tf.concat([*apart, cut(2, 3, 2, "SAME"), cut(3, 1, 1, "VALID")], axis=0)

    return run


@model(IMAGES, x=IMAGE)
def morphology(tf):
    filters = weights(3, 2, 3)

    def run(x):
        return tf.nn.dilation2d(x, filters, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1])

    return run
