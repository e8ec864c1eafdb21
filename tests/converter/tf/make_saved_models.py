"""Writes tests/converter/tf/saved_models: SavedModels that TensorFlow wrote.

Run as `python tests/converter/tf/make_saved_models.py` in an environment that has TensorFlow. Each
folder also gets `cases.npz`: for each signature, inputs and TensorFlow's outputs, as
"<signature>/in/<key>" and "<signature>/out/<key>".
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
HERE = Path(__file__).parent / "saved_models"
FLOAT = tf.float32


def spec(shape, name, dtype=FLOAT):
    return tf.TensorSpec(shape, dtype, name=name)


class Orders(tf.Module):
    """Arguments and results whose order is not that of their names."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
        self.b = tf.Variable(np.float32([1, 2, 3]), name="b")
        self.unused = tf.Variable(np.zeros(100, np.float32), name="unused")
        self.captured = tf.constant(np.float32([5, 6, 7]))

    @tf.function
    def product(self, x):
        return tf.matmul(x, self.w)

    @tf.function(
        input_signature=[spec([None, 2], "zeta"), spec([None, 3], "alpha"), spec([], "mid")]
    )
    def serve(self, zeta, alpha, mid):
        y = self.product(zeta) + self.b
        return {"second": y + alpha, "first": y * mid - self.captured, "same": alpha}

    @tf.function(input_signature=[spec([2], "z"), spec([2], "a")])
    def many_results(self, z, a):
        return tuple([z - a] + [z * float(i) for i in range(1, 12)])

    @tf.function(input_signature=[spec([3], "skipped"), spec([3], "a")])
    def skips(self, skipped, a):
        return tf.gather(self.b, [2, 0]) + a[:2]

    @tf.function(input_signature=[{"z": spec([2], "z"), "a": [spec([2], "q"), spec([2], "p")]}])
    def nested(self, tree):
        return {"out": tree["z"] - tree["a"][0] * tree["a"][1]}


class Branches(tf.Module):
    """A loop and branches whose functions read variables."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.table = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2), name="table")

    @tf.function(input_signature=[spec([2], "x"), spec([], "n", tf.int32)])
    def serve(self, x, n):
        for i in tf.range(n):
            x = x * self.w + tf.nn.embedding_lookup(self.table, i)
        if n > 2:
            x = x + self.w
        return x


class Counts(tf.Module):
    """A variable that changes."""

    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0.0, name="count")

    @tf.function(input_signature=[spec([2], "x")])
    def serve(self, x):
        self.count.assign_add(1.0)
        return x + self.count


ONE = [spec([2], "x")]


class Effects(tf.Module):
    """What changes variables where nobody reads a result of it, and what changes other things."""

    def __init__(self):
        super().__init__()
        self.seen = tf.Variable([0.0, 0.0], name="seen")
        self.hidden = tf.Variable([0.0, 0.0], name="hidden")
        self.count = tf.Variable(np.zeros(3, np.int64), name="count")

    @tf.function(input_signature=ONE)
    def branch(self, x):
        if tf.reduce_mean(x) > 1:
            self.seen.assign_add([1.0, 1.0])
        return self.seen + x

    @tf.function(input_signature=ONE)
    def read_before(self, x):
        y = self.seen + x
        if tf.reduce_mean(x) > 1:
            self.seen.assign_add([1.0, 1.0])
        return y

    @tf.function(input_signature=ONE)
    def loop(self, x):
        for _ in tf.range(3):
            self.seen.assign_add([1.0, 1.0])
        return self.seen + x

    @tf.function(input_signature=ONE)
    def nested(self, x):
        for _ in tf.range(3):
            if tf.reduce_mean(x) > 1:
                self.seen.assign_add([1.0, 1.0])
        return self.seen + x

    @tf.function(input_signature=ONE)
    def called(self, x):
        self.inner(x)
        return self.seen + x

    @tf.function
    def inner(self, x):
        if tf.reduce_mean(x) > 1:
            self.seen.assign_add(x)

    @tf.function(input_signature=ONE, autograph=False)
    def case(self, x):
        index = tf.cast(tf.reduce_sum(x), tf.int32) % 2
        tf.switch_case(index, [lambda: self.seen.assign_add(x), lambda: self.seen.assign_sub(x)])
        return self.seen + x

    @tf.function(input_signature=ONE, autograph=False)
    def counter(self, x):
        tf.raw_ops.RngReadAndSkip(
            resource=self.count.handle, alg=1, delta=tf.constant(1, tf.uint64)
        )
        return x + tf.cast(self.count[0], tf.float32)

    @tf.function(input_signature=ONE)
    def quiet(self, x):
        if tf.reduce_mean(x) > 1:
            self.hidden.assign_add(x)
            tf.print("large")
        self.hidden.assign_sub(x)
        tf.debugging.assert_less(x, 100.0)
        return x * 2.0

    @tf.function(input_signature=ONE)
    def tells(self, x):
        return self.hidden + x

    @tf.function(input_signature=ONE, autograph=False)
    def file(self, x):
        tf.io.write_file("/dev/null", "x")
        return x

    @tf.function(input_signature=ONE, autograph=False)
    def python(self, x):
        tf.py_function(lambda a: None, [x], [])
        return x


SIGNATURES = [
    "branch",
    "read_before",
    "loop",
    "nested",
    "called",
    "case",
    "counter",
    "quiet",
    "tells",
]


def save_effects(folder):
    """What a model gives that changes variables: three runs, <key>/out/0 to <key>/out/2."""
    shutil.rmtree(folder, ignore_errors=True)
    module, cases = Effects(), {}
    keys = [*SIGNATURES, "file", "python"]
    functions = {key: getattr(module, key) for key in keys}
    tf.saved_model.save(module, str(folder), signatures=functions)
    x = np.float32([3, 5])
    for key in SIGNATURES:
        function = tf.saved_model.load(str(folder)).signatures[key]
        answers = [function(tf.constant(x))["output_0"].numpy() for _ in range(3)]
        record(cases, key, {"x": x}, {str(i): value for i, value in enumerate(answers)})
    np.savez_compressed(folder / "cases.npz", **cases)
    (folder / "fingerprint.pb").unlink()


def save_effects_1(folder):
    """As TensorFlow 1 does it: the same three runs, of what Switch, Merge and Enter are made of."""
    shutil.rmtree(folder, ignore_errors=True)
    v1.disable_control_flow_v2()
    x = np.float32([3, 5])
    with tf.Graph().as_default(), v1.Session() as sess:
        placeholder = v1.placeholder(FLOAT, [2], name="x")
        outputs, cases = {}, {}
        for kind, resource in (("resource", True), ("reference", False)):
            variables = [
                v1.get_variable(f"{kind}_{part}", initializer=np.zeros(2, np.float32),
                                use_resource=resource)
                for part in ("branch", "loop", "quiet")
            ]  # fmt: skip
            branch, loop, quiet = variables
            is_large = tf.reduce_mean(placeholder) > 1
            done = v1.cond(
                is_large, lambda v=branch: v1.assign_add(v, placeholder), lambda: placeholder
            )
            with tf.control_dependencies([done]):
                outputs[f"{kind}_branch"] = v1.identity(branch.read_value() + placeholder)

            def turn(i, v=loop):
                with tf.control_dependencies([v1.assign_add(v, placeholder)]):
                    return i + 1

            done = v1.while_loop(lambda i: i < 3, turn, [tf.constant(0)], parallel_iterations=1)
            with tf.control_dependencies([done]):
                outputs[f"{kind}_loop"] = v1.identity(loop.read_value() + placeholder)
            done = v1.cond(
                is_large, lambda v=quiet: v1.assign_add(v, placeholder), lambda: placeholder
            )
            with tf.control_dependencies([done]):
                outputs[f"{kind}_quiet"] = v1.identity(placeholder * 2.0)
        for key, output in outputs.items():
            sess.run(v1.global_variables_initializer())
            answers = [sess.run(output, {placeholder: x}) for _ in range(3)]
            record(cases, key, {"x": x}, {str(i): value for i, value in enumerate(answers)})
        sess.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder))
        definitions = {
            key: v1.saved_model.predict_signature_def({"x": placeholder}, {"output_0": output})
            for key, output in outputs.items()
        }
        builder.add_meta_graph_and_variables(sess, ["serve"], signature_def_map=definitions)
        builder.save()
    np.savez_compressed(folder / "cases.npz", **cases)


def save(name, module, signatures, inputs):
    """Saves a module, and what its signatures give for `inputs`, {signature: {key: array}}."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    tf.saved_model.save(module, str(folder), signatures=signatures)
    loaded = tf.saved_model.load(str(folder))
    cases = {}
    for key, feeds in inputs.items():
        outputs = loaded.signatures[key](**{k: tf.constant(v) for k, v in feeds.items()})
        record(cases, key, feeds, {k: v.numpy() for k, v in outputs.items()})
    np.savez_compressed(folder / "cases.npz", **cases)
    (folder / "fingerprint.pb").unlink()


def record(cases, key, inputs, outputs):
    cases.update({f"{key}/in/{name}": value for name, value in inputs.items()})
    cases.update({f"{key}/out/{name}": value for name, value in outputs.items()})


def save_modules():
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    orders = Orders()
    save(
        "orders",
        orders,
        {
            "serving_default": orders.serve,
            "many_results": orders.many_results,
            "skips": orders.skips,
            "nested": orders.nested,
        },
        {
            "serving_default": {"zeta": normal(4, 2), "alpha": normal(4, 3), "mid": normal()},
            "many_results": {"z": normal(2), "a": normal(2)},
            "skips": {"skipped": normal(3), "a": normal(3)},
            "nested": {"z": normal(2), "q": normal(2), "p": normal(2)},
        },
    )
    branches = Branches()
    save(
        "branches",
        branches,
        {"serving_default": branches.serve},
        {"serving_default": {"x": normal(2), "n": np.int32(3)}},
    )
    counts = Counts()
    save("counts", counts, {"serving_default": counts.serve}, {})
    second = tf.keras.Input((3,), name="second")
    first = tf.keras.Input((2,), name="first")
    dense = tf.keras.layers.Dense(2)
    outputs = [dense(second) * first, tf.keras.layers.Dense(1)(first)]
    model = tf.keras.Model([second, first], outputs)
    model.export(str(HERE / "keras"), verbose=False)
    feeds = {"second": normal(5, 3), "first": normal(5, 2)}
    cases = {}
    results = model([feeds["second"], feeds["first"]])
    record(
        cases,
        "serving_default",
        feeds,
        {f"output_{i}": value.numpy() for i, value in enumerate(results)},
    )
    np.savez_compressed(HERE / "keras" / "cases.npz", **cases)
    (HERE / "keras/fingerprint.pb").unlink()


def save_version_1(folder):
    """Reference, resource and partitioned variables on two devices; a branch; two tag sets."""
    shutil.rmtree(folder, ignore_errors=True)
    rng = np.random.default_rng(1)
    v1.disable_control_flow_v2()
    with tf.Graph().as_default():
        x = v1.placeholder(FLOAT, [None, 4], name="x")
        is_training = v1.placeholder_with_default(False, [], name="is_training")
        limit = v1.placeholder(FLOAT, [], name="limit")
        with tf.device("/cpu:0"):
            kernel = v1.get_variable(
                "kernel",
                [4, 6],
                partitioner=v1.fixed_size_partitioner(3, axis=1),
                initializer=v1.random_normal_initializer(seed=1),
                use_resource=False,
            )
            bias = v1.get_variable("bias", initializer=np.float32(range(6)), use_resource=False)
        with tf.device("/cpu:1"):
            table = v1.get_variable(
                "table",
                initializer=rng.standard_normal((6, 2)).astype(np.float32),
                use_resource=True,
            )
            v1.get_variable("step", initializer=np.int64(7), use_resource=True, trainable=False)
        hidden = tf.nn.relu(tf.matmul(x, kernel) + bias, name="hidden")
        dropped = v1.cond(is_training, lambda: tf.nn.dropout(hidden, 0.5), lambda: hidden)
        z = tf.matmul(dropped, table, name="z")
        total = tf.reduce_sum(z, name="total")
        branch = v1.cond(total > limit, lambda: total - bias[1], lambda: bias[0] * total)
        branch = tf.identity(branch, name="branch")
        v1.train.GradientDescentOptimizer(0.1).minimize(v1.losses.mean_squared_error(z, z + 1))
        builder = v1.saved_model.Builder(str(folder))
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as sess:
            sess.run(v1.global_variables_initializer())
            signatures = {
                "serving_default": ({"x": x}, {"z": z, "a": hidden}),
                "branch": ({"x": x, "limit": limit}, {"out": branch}),
            }
            definitions, cases = {}, {}
            for key, (inputs, outputs) in signatures.items():
                definitions[key] = v1.saved_model.predict_signature_def(inputs, outputs)
                feeds = {"x": rng.standard_normal((3, 4)).astype(np.float32)}
                if "limit" in inputs:
                    feeds["limit"] = np.float32(0.5)
                values = sess.run(outputs, {inputs[name]: feeds[name] for name in feeds})
                record(cases, key, feeds, values)
            saver = v1.train.Saver(sharded=True)
            builder.add_meta_graph_and_variables(
                sess, ["serve"], signature_def_map=definitions, saver=saver
            )
            training = {"training": definitions["serving_default"]}
            builder.add_meta_graph(["train", "gpu"], signature_def_map=training, saver=saver)
            builder.save()
    np.savez_compressed(folder / "cases.npz", **cases)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    save_modules()
    save_effects(HERE / "effects")
    save_effects_1(HERE / "effects_1")
    save_version_1(HERE / "version_1")
