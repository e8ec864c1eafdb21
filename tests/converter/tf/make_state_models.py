"""Writes tests/converter/tf/state_models: variables that are written, and tables.

Run as `python tests/converter/tf/make_state_models.py` in an environment that has TensorFlow. Each
folder gets `cases.npz`: calls of signatures, one after the other, as
"<number>/<signature>/in/<key>" and ".../out/<key>".
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
HERE = Path(__file__).parent / "state_models"
VOCABULARY = HERE / "vocabulary.txt"


def spec(shape, name, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype, name=name)


class Loop(tf.Module):
    """Variables written in loops, in branches, and in part."""

    def __init__(self):
        super().__init__()
        self.n = tf.Variable(1, name="n")
        self.v = tf.Variable(np.float32([1, 2]), name="v")
        self.rows = tf.Variable(np.zeros((4, 2), np.float32), name="rows")

    @tf.function(input_signature=[spec([], "k", tf.int32)])
    def step(self, k):
        for i in tf.range(k):
            self.n.assign_add(i)
            self.v.assign(self.v * 2.0)
        if k > 2:
            self.v.assign_sub([1.0, 1.0])
        else:
            self.n.assign(self.n * 3)
        self.rows.scatter_nd_update([[k % 4]], [self.v])
        self.rows[0].assign(self.v)
        return {"n": self.n.read_value(), "v": self.v.read_value(), "rows": self.rows.read_value()}


class Blocks(tf.Module):
    """Blocks of variables whose places are computed."""

    def __init__(self):
        super().__init__()
        self.ring = tf.Variable(np.zeros((4, 3), np.float32), name="ring")
        self.cube = tf.Variable(np.zeros((2, 4, 3), np.int32), name="cube")
        self.half = tf.Variable(np.zeros((4, 3), np.float16), name="half")

    @tf.function(input_signature=[spec([], "k", tf.int32), spec([2, 3], "x")])
    def step(self, k, x):
        self.ring[k % 4].assign(x[0])
        self.ring[k % 2 - 4 : k % 2 - 2].assign(x)
        self.cube[..., k % 4, :].assign(tf.cast(x * 9.0, tf.int32))
        self.cube[:, 1, ..., -1 - k % 3].assign(tf.cast(x[0, :2], tf.int32))
        self.half[:, 1:].assign(tf.cast(self.ring[:, :2], tf.float16))
        self.half[:].assign(self.half * 2)
        return {"ring": self.ring + 0.0, "cube": self.cube + 0, "half": self.half * 1}


OPTIMIZERS = {
    "ResourceApplyRMSProp": (
        ("var", "ms", "mom"), {"lr": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}),
    "ResourceApplyCenteredRMSProp": (
        ("var", "mg", "ms", "mom"), {"lr": 0.1, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-2}),
    "ResourceApplyAdagrad": (("var", "accum"), {"lr": 0.1}),
    "ResourceApplyAdagradV2": (("var", "accum"), {"lr": 0.1, "epsilon": 1e-3}),
    "ResourceApplyAdadelta": (
        ("var", "accum", "accum_update"), {"lr": 0.9, "rho": 0.7, "epsilon": 1e-2}),
    "ResourceApplyProximalGradientDescent": (("var",), {"alpha": 0.2, "l1": 0.3, "l2": 0.1}),
    "ResourceApplyFtrl": (
        ("var", "accum", "linear"), {"lr": 0.2, "l1": 0.1, "l2": 0.05, "lr_power": -0.5}),
}  # fmt: skip
"""Operations: the variables that they write, and their numbers."""


class Optimizers(tf.Module):
    """One variable for each way to train it."""

    def __init__(self):
        super().__init__()
        start = {"accum": 0.5}
        self.rows = {
            op: [tf.Variable(np.full(4, start.get(n, 0.0), np.float32), name=n) for n in names]
            for op, (names, _) in OPTIMIZERS.items()
        }
        for row in self.rows.values():
            row[0].assign([1.0, -2.0, 0.1, 3.0])

    @tf.function(input_signature=[spec([4], "grad")])
    def step(self, grad):
        results = {}
        for op, (names, numbers) in OPTIMIZERS.items():
            row = self.rows[op]
            handles = {name: one.handle for name, one in zip(names, row, strict=True)}
            key = "delta" if "alpha" in numbers else "grad"
            getattr(tf.raw_ops, op)(**handles, **numbers, **{key: grad})
            for name, one in zip(names, row, strict=True):
                results[f"{op}_{name}"] = one.read_value()
        return results


class Train(tf.Module):
    """A layer that is trained, saved and restored on the device."""

    def __init__(self):
        super().__init__()
        random = np.random.RandomState(0)
        self.w = tf.Variable(random.randn(4, 3).astype(np.float32), name="w")
        self.b = tf.Variable(np.zeros(3, np.float32), name="b")
        self.slots = [tf.Variable(np.zeros((4, 3), np.float32), name=name) for name in "mv"]
        self.steps = tf.Variable(0.0, name="steps")

    def logits(self, x):
        return tf.nn.relu(x @ self.w) + self.b

    @tf.function(input_signature=[spec([None, 4], "x"), spec([None], "y", tf.int32)])
    def train(self, x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=self.logits(x))
            loss = tf.reduce_mean(losses)
        w_gradient, b_gradient = tape.gradient(loss, [self.w, self.b])
        self.steps.assign_add(1.0)
        tf.raw_ops.ResourceApplyAdam(
            var=self.w.handle, m=self.slots[0].handle, v=self.slots[1].handle,
            beta1_power=0.9**self.steps, beta2_power=0.999**self.steps, lr=0.01, beta1=0.9,
            beta2=0.999, epsilon=1e-7, grad=w_gradient,
        )  # fmt: skip
        tf.raw_ops.ResourceApplyGradientDescent(var=self.b.handle, alpha=0.1, delta=b_gradient)
        return {"loss": loss}

    @tf.function(input_signature=[spec([None, 4], "x")])
    def infer(self, x):
        return {"p": tf.nn.softmax(self.logits(x))}

    @tf.function(input_signature=[spec([4, 3], "w"), spec([3], "b")])
    def restore(self, w, b):
        self.w.assign(w)
        self.b.assign(b)
        return {"done": tf.constant(1)}

    @tf.function(input_signature=[])
    def save(self):
        return {"w": self.w.read_value(), "b": self.b.read_value()}


class Tables(tf.Module):
    """Tables of a file of the model, of constants, and of words with a bucket for others."""

    def __init__(self):
        super().__init__()
        lookup = tf.lookup
        self.words = lookup.StaticHashTable(self.lines(), -1)
        self.numbers = self.table([1, 5, 7], [0.5, 2.0, 3.0], -1.0)
        self.names = self.table([0, 1, 2], ["alpha", "beta", "gamma"], "?")
        self.opposites = self.table(["up", "left"], ["down", "right"], "none")
        self.weights = self.table(["up", "left"], [1.5, -2.5], 0.0)
        self.vocabulary = lookup.StaticVocabularyTable(self.lines(), 1)

    @staticmethod
    def lines():
        index = tf.lookup.TextFileIndex
        return tf.lookup.TextFileInitializer(
            str(VOCABULARY), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )

    @staticmethod
    def table(keys, values, default):
        keys = tf.constant(keys, tf.string if isinstance(keys[0], str) else tf.int64)
        initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.constant(values))
        return tf.lookup.StaticHashTable(initializer, default)

    @tf.function(input_signature=[spec([None], "s", tf.string), spec([None], "i", tf.int64)])
    def find(self, s, i):
        return {
            "words": self.words.lookup(s),
            "numbers": self.numbers.lookup(i),
            "names": self.names.lookup(i),
            "opposites": self.opposites.lookup(s),
            "weights": self.weights.lookup(s),
            "vocabulary": self.vocabulary.lookup(s),
            "size": self.words.size(),
        }


class Filled(tf.Module):
    """Tables that could change, of which a checkpoint has the contents."""

    def __init__(self):
        super().__init__()
        lookup, numbers = tf.lookup.experimental, tf.constant([5, 6], tf.int64)
        self.words = lookup.MutableHashTable(tf.string, tf.int64, -1)
        self.words.insert(tf.constant(["up", "beta"]), numbers)
        self.weights = lookup.DenseHashTable(
            tf.int64, tf.float32, 0.5, empty_key=-1, deleted_key=-2, initial_num_buckets=8
        )
        self.weights.insert(numbers - 5, tf.constant([2.0, 3.0]))

    @tf.function(input_signature=[spec([None], "s", tf.string), spec([None], "i", tf.int64)])
    def find(self, s, i):
        return {"words": self.words.lookup(s), "weights": self.weights.lookup(i)}

    @tf.function(input_signature=[spec([None], "s", tf.string)])
    def add(self, s):
        self.words.insert(s, tf.cast(tf.range(tf.size(s)), tf.int64))
        return {"words": self.words.lookup(s)}


class Lists(tf.Module):
    """Lists that grow, in loops and outside."""

    @tf.function(input_signature=[spec([None, 3], "x")])
    def grow(self, x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])
        for i in tf.range(tf.shape(x)[0]):
            array = array.write(i, x[i] * 2.0)
        return {"y": array.stack()}

    @tf.function(input_signature=[spec([4, 3], "x")])
    def outside(self, x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(0, x[0])
        array = array.write(2, x[2] * 3.0)
        elements = tf.TensorArray(tf.float32, 4).unstack(x).scatter([3, 1], x[:2])
        return {"y": array.stack(), "n": array.size(), "z": elements.read(3) + elements.read(1)}

    @tf.function(input_signature=[spec([None, 3], "x")])
    def push(self, x):
        ops, item = tf.raw_ops, {"element_shape": [3], "element_dtype": tf.float32}
        items = ops.EmptyTensorList(max_num_elements=-1, **item)

        def body(i, items):
            return i + 1, ops.TensorListPushBack(input_handle=items, tensor=x[i] + 1.0)

        _, items = tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, [0, items])
        items, last = ops.TensorListPopBack(input_handle=items, **item)
        return {"y": ops.TensorListStack(input_handle=items, **item), "last": last}


class UnevenLists(tf.Module):
    """Lists whose elements are of unequal lengths."""

    @tf.function(input_signature=[spec([None, 3], "x")])
    def grow(self, x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
        for i in tf.range(tf.shape(x)[0]):
            array = array.write(i, x[: i + 1] * 2.0)
        return {"y": array.concat()}

    @tf.function(input_signature=[spec([None, None, 2], "x"), spec([], "k", tf.int32)])
    def several(self, x, k):
        n = tf.shape(x)[0]
        shape = [None, None, 2]
        first = tf.TensorArray(tf.float32, n, infer_shape=False, element_shape=shape)
        second = tf.TensorArray(tf.int64, n, infer_shape=False, element_shape=[None])
        i = tf.constant(0)
        while i < n:
            first = first.write(i, x[i : i + k])
            second = second.write(i, tf.range(tf.cast(i + k, tf.int64)))
            i += 1
        return {"y": first.concat(), "z": second.concat(), "n": second.size()}

    @tf.function(input_signature=[spec([None], "i", tf.int64)])
    def ragged(self, i):
        kind = tf.RaggedTensorSpec([None], tf.int64)
        rows = tf.map_fn(lambda n: tf.range(n) * n, i, fn_output_signature=kind)
        return {"values": rows.values, "splits": rows.row_splits, "padded": rows.to_tensor(-1)}

    @tf.function(input_signature=[spec([None, 3], "x")])
    def chosen(self, x):
        kind = tf.RaggedTensorSpec([None, 2], tf.float32, ragged_rank=0)

        def rows_of(row):
            return tf.boolean_mask(tf.stack([row, -row], 1), row > 0.0)

        rows = tf.map_fn(rows_of, x, fn_output_signature=kind)
        return {"values": rows.values, "lengths": rows.row_lengths()}

    @tf.function(input_signature=[spec([None, 3], "x")])
    def lengths(self, x):
        ops = tf.raw_ops
        items = ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)

        def body(i, items):
            return i + 1, ops.TensorListPushBack(input_handle=items, tensor=x[i:])

        _, items = tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, [0, items])
        joined, lengths = ops.TensorListConcatV2(
            input_handle=items, element_dtype=tf.float32, element_shape=[-1, 3], leading_dims=[]
        )
        return {"y": joined, "lengths": lengths}


UNEVEN = ["grow", "several", "ragged", "chosen", "lengths"]


def drawn(key, tensor_spec, k):
    """The k-th value of an input."""
    random = np.random.RandomState(k)
    shape = [5 - k if n is None else n for n in tensor_spec.shape]
    if key == "k":
        return np.int32([3, 2, 5][k])
    if tensor_spec.dtype == tf.string:
        return np.array([b"beta", b"up", b"", b"gamma", b"left"], object)[k:]
    if tensor_spec.dtype.is_integer:
        return np.asarray(random.randint(0, 3, shape), tensor_spec.dtype.as_numpy_dtype)
    return np.asarray(random.randn(*shape), np.float32)


def saved(module, name, keys, unrecorded=()):
    """Saves a module, and what its signatures give one after the other, three times."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    tf.saved_model.save(
        module, str(folder), {key: getattr(module, key) for key in (*keys, *unrecorded)}
    )
    (folder / "fingerprint.pb").unlink()
    signatures = tf.saved_model.load(str(folder)).signatures
    record(folder, [(k, key, signatures[key]) for k in range(3) for key in keys])


def record(folder, calls):
    """Writes cases.npz of calls of functions."""
    cases = {}
    for k, key, function in calls:
        specs = function.structured_input_signature[1]
        fed = {name: drawn(name, one, k) for name, one in specs.items()}
        results = function(**{name: tf.constant(value) for name, value in fed.items()})
        for side, values in (("in", fed), ("out", {n: t.numpy() for n, t in results.items()})):
            for name, value in values.items():
                is_text = np.asarray(value).dtype == object
                value = np.asarray(value).astype("S") if is_text else value
                cases[f"{k}/{key}/{side}/{name}"] = value
    np.savez_compressed(folder / "cases.npz", **cases)


def saved_v1(name):
    """A model of TensorFlow 1: variables as references, a table that an init op fills."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.disable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        total = v1.get_variable("total", initializer=np.float32([1, -1]))
        count = v1.get_variable("count", initializer=np.int32(0))
        with tf.control_dependencies([v1.assign_add(count, 1)]):
            step = v1.assign(total, total * 0.5 + tf.reduce_sum(x, 0))
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.int64([3, 4]))
        table = v1.lookup.StaticHashTable(initializer, 7)
        word = table.lookup(tf.fill([1], "b"))
        with tf.control_dependencies([step]):
            y = x + total
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        v1.saved_model.simple_save(
            session, str(folder), {"x": x}, {"y": y, "n": count + 0, "word": word},
            legacy_init_op=v1.tables_initializer(),
        )  # fmt: skip
    function = tf.saved_model.load(str(folder)).signatures["serving_default"]
    record(folder, [(k, "serving_default", function) for k in range(3)])


def main():
    HERE.mkdir(exist_ok=True)
    VOCABULARY.write_text("alpha\nbeta\ngamma\n")
    saved(Loop(), "loop", ["step"])
    saved(Blocks(), "blocks", ["step"])
    saved(Train(), "train", ["train", "infer", "restore", "save"])
    saved(Optimizers(), "optimizers", ["step"])
    saved(Tables(), "tables", ["find"])
    saved(Filled(), "filled", ["find"], ["add"])
    saved(Lists(), "lists", ["grow", "outside", "push"])
    saved(UnevenLists(), "uneven_lists", UNEVEN)
    saved_v1("version_1")
    VOCABULARY.unlink()


if __name__ == "__main__":
    main()
