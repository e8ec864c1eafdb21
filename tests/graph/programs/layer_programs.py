"""Layers as programs: what is recorded of each are variables, results, losses and updates."""

import numpy as np

RANDOM = np.random.RandomState(8)
LINE = RANDOM.randn(2, 7, 3).astype("f4")
IMAGE = RANDOM.randn(2, 6, 5, 3).astype("f4")
VOLUME = RANDOM.randn(2, 4, 5, 3, 2).astype("f4")
K = "kernel_initializer=ramp"
S = "depthwise_initializer=ramp, pointwise_initializer=ramp"
PROGRAMS = {
    "dense": f"tf.layers.dense(IMAGE[:, 0, 0], 4, tf.nn.relu, {K})",
    "dense named": f"tf.layers.dense(IMAGE, 4, use_bias=False, name='out', {K})",
    "dense options": (
        f"tf.layers.dense(LINE, 2, tf.tanh, {K}, bias_initializer=ramp, kernel_regularizer=l2,"
        " bias_regularizer=l2, activity_regularizer=l2)"
    ),
    "dense in scopes": f"in_scopes(lambda: tf.layers.dense(LINE[0], 2, {K}))",
    "dense scope defaults": "with_defaults(lambda: tf.layers.dense(LINE[0], 2))",
    "dense twice": f"[tf.layers.dense(LINE[0], 2, {K}), tf.layers.dense(LINE[1], 2, {K})]",
    "dense reused": (
        f"[tf.layers.dense(LINE[0], 2, name='d', {K}, kernel_regularizer=l2),"
        f" tf.layers.dense(LINE[1], 2, name='d', reuse=True, {K}, kernel_regularizer=l2)]"
    ),
    "dense object": f"twice(tf.layers.Dense(3, {K}), LINE[0], LINE[1])",
    "dense object named": f"twice(tf.layers.Dense(3, name='mine', {K}), LINE[0], LINE[1])",
    "dense object scope": f"tf.layers.Dense(3, {K})(LINE[0], scope='here')",
    "dense not trained": f"tf.layers.Dense(3, trainable=False, {K})(LINE[0])",
    "dense of double": f"tf.layers.dense(LINE[0].astype('f8'), 3, {K})",
    "dense by word": f"tf.layers.Dense(3, activation='relu', {K})(LINE[0])",
    "dense by words": (
        f"[tf.layers.dense(LINE[0], 2, word, {K}) for word in ('gelu', 'hard_sigmoid',"
        " 'leaky_relu', 'linear', 'log_softmax', 'mish', 'silu')]"
    ),
    "initializers by words": (
        "tf.set_random_seed(3) or [tf.layers.dense(LINE[0], 2, kernel_initializer=word) for word in"
        " ('constant', 'glorot_normal', 'he_normal', 'he_uniform', 'identity', 'lecun_uniform',"
        " 'normal', 'one', 'orthogonal', 'RandomUniform', 'truncated_normal', 'VarianceScaling',"
        " 'zeros')]"
    ),
    "regularizers by words": (
        f"[tf.layers.dense(LINE[0], 2, kernel_regularizer=word, {K}) for word in ('l1', 'l1_l2',"
        " 'l2')]"
    ),
    "constraints by words": (
        f"[tf.layers.dense(LINE[0], 2, kernel_constraint=word, {K}) is not None and tf.identity("
        "tf.trainable_variables()[-2].constraint(LINE[0]), word) for word in ('max_norm',"
        " 'min_max_norm', 'non_neg', 'unit_norm')]"
    ),
    "cells by words": (
        "tf.set_random_seed(3) or [tf.nn.rnn_cell.GRUCell(2, 'relu', bias_initializer='ones',"
        " kernel_initializer='glorot_uniform')(LINE[0], tf.ones([7, 2]))[0],"
        " tf.nn.rnn_cell.LSTMCell(2, initializer='he_normal', activation='softsign')(LINE[1],"
        " (tf.ones([7, 2]), tf.ones([7, 2])))[0]]"
    ),
    "conv1d": f"tf.layers.conv1d(LINE, 4, 3, 2, 'same', {K})",
    "conv1d dilated": f"tf.layers.conv1d(LINE, 4, 3, dilation_rate=2, {K})",
    "conv1d causal": f"tf.layers.Conv1D(4, 3, padding='causal', dilation_rate=2, {K})(LINE)",
    "conv2d": f"tf.layers.conv2d(IMAGE, 4, [3, 2], 2, 'same', activation=tf.nn.relu, {K})",
    "conv2d dilated": f"tf.layers.conv2d(IMAGE, 4, 2, dilation_rate=(2, 1), {K})",
    "conv2d twice": f"twice(tf.layers.Conv2D(2, 3, {K}), IMAGE, IMAGE * 2)",
    "conv2d regularized": f"tf.layers.conv2d(IMAGE, 4, 2, {K}, kernel_regularizer=l2)",
    "conv3d": f"tf.layers.conv3d(VOLUME, 3, 2, (2, 1, 1), 'same', {K})",
    "conv1d grouped": f"tf.layers.Conv1D(4, 3, groups=2, {K})(IMAGE[:, 0, :, :2])",
    "conv2d grouped": f"tf.layers.Conv2D(6, 2, 2, 'same', groups=3, {K})(IMAGE)",
    "conv2d grouped dilated": f"tf.layers.Conv2D(6, 2, groups=3, dilation_rate=2, {K})(IMAGE)",
    "conv2d transpose padded": (
        f"tf.layers.Conv2DTranspose(4, 3, 2, output_padding=(1, 0), {K})(IMAGE)"
    ),
    "conv2d transpose padded same": (
        f"tf.layers.Conv2DTranspose(4, (3, 4), (2, 3), 'same', output_padding=1, {K})(IMAGE)"
    ),
    "conv2d transpose dilated": f"tf.layers.Conv2DTranspose(4, 3, dilation_rate=2, {K})(IMAGE)",
    "conv3d transpose padded": (
        f"tf.layers.Conv3DTranspose(3, 2, 2, output_padding=1, {K})(VOLUME)"
    ),
    "weights of a layer": f"weights_of(tf.layers.Dense(2, {K}), LINE[0])",
    "conv2d transpose": f"tf.layers.conv2d_transpose(IMAGE, 4, 3, 2, {K})",
    "conv2d transpose same": f"tf.layers.conv2d_transpose(IMAGE, 4, 3, (1, 2), 'same', {K})",
    "conv2d transpose open": (
        f"tf.layers.conv2d_transpose(tf.placeholder_with_default(IMAGE, [None, None, 5, 3]), 2, 3,"
        f" 2, {K})"
    ),
    "conv3d transpose": f"tf.layers.conv3d_transpose(VOLUME, 3, 2, 2, 'same', {K})",
    "separable conv1d": f"tf.layers.separable_conv1d(LINE, 4, 3, 2, depth_multiplier=2, {S})",
    "separable conv2d": f"tf.layers.separable_conv2d(IMAGE, 4, (3, 2), 1, 'same', {S})",
    "separable dilated": f"tf.layers.SeparableConv2D(4, 2, dilation_rate=2, {S})(IMAGE)",
    "max pools": (
        "[tf.layers.max_pooling1d(LINE, 2, 2), tf.layers.max_pooling2d(IMAGE, [3, 2], 2, 'same'),"
        " tf.layers.max_pooling3d(VOLUME, 2, (2, 1, 1))]"
    ),
    "average pools": (
        "[tf.layers.average_pooling1d(LINE, 3, 1, 'same'),"
        " tf.layers.average_pooling2d(IMAGE, 2, 2),"
        " tf.layers.average_pooling3d(VOLUME, 2, 2, 'same')]"
    ),
    "pool object": "tf.layers.MaxPooling2D(2, 1)(IMAGE)",
    "channels first pool": (
        "tf.layers.MaxPooling1D(2, 2, data_format='channels_first').compute_output_shape([2, 3, 7])"
    ),
    "flatten": "[tf.layers.flatten(IMAGE), tf.layers.Flatten()(VOLUME)]",
    "flatten first": "tf.layers.Flatten('channels_first')(IMAGE)",
    "dropout off": "[tf.layers.dropout(IMAGE), tf.layers.Dropout(.3)(LINE, training=False)]",
    "batch norm": "twice(tf.layers.BatchNormalization(), IMAGE, IMAGE, training=True)",
    "own layer": "twice(own_layer(), LINE[0], LINE[1])",
    "shapes": (
        "[tf.layers.Dense(4).compute_output_shape([None, 3]),"
        " tf.layers.Conv2D(4, 3, 2, 'same').compute_output_shape([None, 7, None, 3]),"
        " tf.layers.Conv2DTranspose(4, 3, 2).compute_output_shape([1, 7, None, 3]),"
        " tf.layers.AveragePooling3D(2, 2, 'same').compute_output_shape([1, 7, 7, 7, 3]),"
        " tf.layers.Flatten().compute_output_shape([None, 7, 3])]"
    ),
    "attributes": f"attributes(tf.layers.Dense(4, name='d', {K}), LINE[0])",
    "counted": f"count(tf.layers.Conv2D(4, 3, {K}), IMAGE)",
}
REFUSALS = {
    "rank of dense": "tf.layers.dense(tf.zeros([3]), 2)",
    "depth of dense": "tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)",
    "rank of conv": "tf.layers.conv2d(LINE, 2, 2)",
    "rank of pool": "tf.layers.max_pooling2d(LINE, 2, 2)",
    "other depth": "twice(tf.layers.Dense(2), LINE[0], IMAGE[0, :, :, :2])",
    "layout": "tf.layers.conv2d(IMAGE, 2, 2, data_format='NHWC')",
    "padding": "tf.layers.conv2d(IMAGE, 2, 2, padding='some')",
    "causal images": "tf.layers.conv2d(IMAGE, 2, 2, padding='causal')",
    "kernel size": "tf.layers.conv2d(IMAGE, 2, (1, 2, 3))",
    "strides": "tf.layers.conv2d(IMAGE, 2, 2, None)",
    "strides and dilation": "tf.layers.conv2d(IMAGE, 2, 2, 2, dilation_rate=2)",
    "groups of filters": "tf.layers.Conv2D(5, 2, groups=3)(IMAGE)",
    "groups of channels": "tf.layers.Conv2D(4, 2, groups=2)(IMAGE)",
    "output padding": "tf.layers.Conv2DTranspose(4, 3, 2, output_padding=2)(IMAGE)",
    "number of weights": "weights_of(tf.layers.Dense(2), LINE[0], 1)",
    "shape of weights": "weights_of(tf.layers.Dense(3), LINE[0])",
    "too small": "tf.layers.conv2d(IMAGE, 2, 9)",
    "no filters": "tf.layers.conv2d(IMAGE, 0, 1)",
    "there already": "[tf.layers.dense(LINE[0], 2, name=n) for n in 'aa']",
    "not there": "tf.layers.dense(LINE[0], 2, name='a', reuse=True)",
    "scope name": "tf.layers.Dense(2).scope_name",
    "not built": "tf.layers.Dense(2).count_params()",
    "units": "tf.layers.Dense(-1)",
}


def names_for(tf) -> dict:
    """What the expressions may use."""

    def ramp(shape, dtype=None, partition_info=None):
        size = int(np.prod(list(shape)))
        values = np.sin(np.arange(size) * 0.7).reshape([int(n) for n in shape])
        return tf.constant(values, dtype or tf.float32)

    def l2(weights):
        return 0.1 * tf.reduce_sum(tf.square(weights))

    def in_scopes(make):
        with tf.name_scope("outer"), tf.variable_scope("scope"):
            return make()

    def with_defaults(make):
        with tf.variable_scope("s", initializer=ramp, regularizer=l2):
            return make()

    def twice(layer, *inputs, **options):
        return [layer(tf.constant(x), **options) for x in inputs]

    def own_layer():
        class Scaled(tf.layers.Layer):
            def build(self, input_shape):
                self.factor = self.add_weight(
                    "factor", [int(input_shape[-1])], initializer=ramp, regularizer=l2
                )
                self.calls = self.add_variable(
                    "calls", [], initializer=tf.zeros_initializer(), trainable=False
                )
                super().build(input_shape)

            def call(self, inputs):
                self.add_update(tf.assign_add(self.calls, 1.0))
                return inputs * self.factor

        return Scaled()

    def attributes(layer, x):
        before = layer.built, layer.name, len(layer.variables)
        layer(tf.constant(x))
        after = layer.built, layer.name, layer.scope_name, [v.name for v in layer.weights]
        lists = len(layer.losses), len(layer.updates), len(layer.non_trainable_variables)
        return [repr(item) for item in (before, after, lists, layer.dtype == tf.float32)]

    def count(layer, x):
        layer(tf.constant(x))
        return [str(layer.count_params())]

    def weights_of(layer, x, n=2):
        """What a layer gives and holds before and after its weights are set."""
        weights = [np.arange(6.0).reshape(3, 2), np.array([5.0, 7.0])][:n]
        before = layer.get_weights()
        result = layer(tf.constant(x))
        with tf.Session() as session:
            first = layer.get_weights()
            layer.set_weights(weights)
            rows = [before, first, layer.get_weights(), session.run(result)]
        return [str([np.asarray(x).round(4).tolist() for x in row]) for row in rows]

    functions = (ramp, l2, in_scopes, with_defaults, twice, own_layer, attributes, count)
    functions += (weights_of,)
    return {**globals(), "tf": tf, **{function.__name__: function for function in functions}}


def run(tf, expression: str) -> dict:
    """Variables, results, losses and updates of a program."""
    with tf.Graph().as_default(), tf.Session() as session:
        results = eval(expression, names_for(tf))
        results = results if isinstance(results, list) else [results]
        texts = [str(x) for x in results if isinstance(x, str) or hasattr(x, "as_list")]
        tensors = [x for x in results if not isinstance(x, str) and not hasattr(x, "as_list")]
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        session.run(tf.global_variables_initializer())
        values = session.run([*tensors, *losses])
        session.run(updates)
        trained = {v.name for v in tf.trainable_variables()}
        return {
            "variables": [
                [v.name, v.get_shape().as_list(), v.dtype.base_dtype.name, v.name in trained]
                for v in tf.global_variables()
            ],
            "shapes": [tensor.get_shape().as_list() for tensor in tensors],
            "scopes": [tensor.op.name.partition("/")[0] for tensor in tensors],
            "losses": [loss.op.name.rpartition("/")[0] for loss in losses],
            "updates": len(updates),
            "texts": texts,
            "values": values,
            "after": session.run(tf.global_variables()),
        }


def refusal(tf, expression: str) -> list[str]:
    """Type and words of what an expression raises."""
    try:
        with tf.Graph().as_default():
            eval(expression, names_for(tf))
    except Exception as error:
        return [type(error).__name__, str(error).strip()]
    return ["", ""]
