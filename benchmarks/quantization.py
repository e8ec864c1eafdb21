"""What the algorithms of quantization are worth: two small networks, trained here, over five seeds.

    python benchmarks/quantization.py [--seeds 5] [--steps 1200] [--json FILE]

The task is harder than single digits: two of scikit-learn's digits (models/digits/digits.npz) at
random places of an image of 16x16 pixels, under noise, and exposed by a factor of 0.01 (for the
CNN; 0.02 for the transformer) to 1; the answer is one of 100 numbers. The networks are a CNN of
depthwise and pointwise convolutions with batch normalisation, as mobile ones have, and a
transformer over 16 patches. Nothing in them is scaled by hand: what int8 loses is what training
made of them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console

import flatlite.compat.v1 as tf
from flatlite.experimental import AccuracyBudget
from flatlite.lite import Interpreter, TFLiteConverter

DIGITS = Path(__file__).parents[1] / "models/digits/digits.npz"
SIZE, CLASSES, BATCH = 16, 100, 64
N_TEST, N_CALIBRATION = 2000, 256
EPSILON = 1e-3
FAINTEST = {"CNN": -2.0, "transformer": -1.7}  # exposure, as a power of 10
NOISE = 0.1
TOLERANCE = 0.5  # points that the mixed model may lose on its validation set


class Pairs:
    """Images of two digits; those of the last 300 digits are for tests.

    Args:
        is_shifted: whether the digits lie anywhere in their halves of the image.
        faintest: the least exposure, as a power of 10.
    """

    def __init__(self, is_shifted, faintest):
        data = np.load(DIGITS)
        order = np.random.default_rng(0).permutation(len(data["label"]))
        self._images = (data["image"][order] / 16).astype(np.float32)
        self._labels = data["label"][order].astype(np.int64)
        self._is_shifted, self._faintest = is_shifted, faintest
        self.train, self.test = range(len(order) - 300), range(len(order) - 300, len(order))

    def batch(self, generator, digits, n):
        """(n images [n, 16, 16, 1], n labels)"""
        images = np.zeros((n, SIZE, SIZE, 1), np.float32)
        pairs = generator.integers(digits.start, digits.stop, (n, 2))
        tops = (
            generator.integers(0, SIZE - 8 + 1, (n, 2)) if self._is_shifted else np.full((n, 2), 4)
        )
        for i in range(n):
            for k, left in enumerate((0, 8)):
                top = tops[i, k]
                images[i, top : top + 8, left : left + 8, 0] = self._images[pairs[i, k]]
        exposure = 10 ** generator.uniform(self._faintest, 0.0, (n, 1, 1, 1))
        noise = generator.normal(0, NOISE, images.shape)
        images = ((images + noise) * exposure).astype(np.float32)
        return images, self._labels[pairs[:, 0]] * 10 + self._labels[pairs[:, 1]]


class Layers:
    """The layers of a network; batch normalisation by the batch, or by what was collected.

    Attributes:
        moments: the moments of each batch normalisation.
    """

    def __init__(self, statistics=None):
        self.moments = []
        self._statistics = None if statistics is None else iter(statistics)

    def norm(self, x, name):
        """Batch normalisation."""
        with tf.variable_scope(name):
            n = int(x.shape[-1])
            scale = tf.get_variable("scale", [n], initializer=tf.ones_initializer())
            offset = tf.get_variable("offset", [n], initializer=tf.zeros_initializer())
        if self._statistics is None:
            mean, variance = tf.nn.moments(x, [0, 1, 2])
            self.moments += [mean, variance]
        else:
            mean, variance = (tf.constant(next(self._statistics)) for _ in range(2))
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, EPSILON)

    def layer_norm(self, x, name):
        """Layer normalisation."""
        with tf.variable_scope(name):
            n = int(x.shape[-1])
            scale = tf.get_variable("scale", [n], initializer=tf.ones_initializer())
            offset = tf.get_variable("offset", [n], initializer=tf.zeros_initializer())
        centered = x - tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
        return centered * tf.rsqrt(variance + EPSILON) * scale + offset

    def dense(self, x, name, units, bias=True):
        """A product over the last dimension."""
        n = int(x.shape[-1])
        with tf.variable_scope(name):
            y = tf.matmul(tf.reshape(x, [-1, n]), tf.get_variable("kernel", [n, units]))
            if bias:
                y += tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.reshape(y, [-1, *map(int, x.shape[1:-1]), units])

    def separable(self, x, name, channels, stride):
        """Depthwise and pointwise convolution, each with batch normalisation and ReLU."""
        with tf.variable_scope(name):
            n, strides = int(x.shape[-1]), [1, stride, stride, 1]
            filters = tf.get_variable("depthwise", [3, 3, n, 1])
            x = tf.nn.depthwise_conv2d(x, filters, strides, "SAME")
            x = tf.nn.relu(self.norm(x, "depthwise_norm"))
            x = tf.nn.conv2d(x, tf.get_variable("kernel", [1, 1, n, channels]), [1] * 4, "SAME")
            return tf.nn.relu(self.norm(x, "norm"))


def cnn(images, layers):
    """Scores of 100 classes."""
    with tf.variable_scope("stem"):
        kernel = tf.get_variable("kernel", [3, 3, 1, 24])
        x = tf.nn.relu(layers.norm(tf.nn.conv2d(images, kernel, [1] * 4, "SAME"), "norm"))
    for i, (channels, stride) in enumerate(((32, 2), (48, 1), (64, 2), (64, 1))):
        x = layers.separable(x, f"block{i}", channels, stride)
    return layers.dense(tf.reshape(x, [-1, 4 * 4 * 64]), "head", CLASSES)


def transformer(images, layers, width=48, depth=3):
    """Scores of 100 classes; patches of 4x4 pixels, one head of attention in each block."""
    x = tf.reshape(images, [-1, 4, 4, 4, 4])
    x = tf.reshape(tf.transpose(x, [0, 1, 3, 2, 4]), [-1, 16, 16])
    x = layers.dense(x, "embedding", width)
    x += tf.get_variable("positions", [1, 16, width])
    for i in range(depth):
        with tf.variable_scope(f"block{i}"):
            y = layers.layer_norm(x, "norm1")
            q, k, v = (layers.dense(y, name, width, bias=False) for name in ("q", "k", "v"))
            scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / width**0.5)
            x += layers.dense(tf.matmul(scores, v), "o", width)
            normed = layers.layer_norm(x, "norm2")
            gate = tf.nn.relu(layers.dense(normed, "gate", 2 * width))
            x += layers.dense(layers.dense(normed, "up", 2 * width) * gate, "down", width)
    x = layers.layer_norm(x, "norm")
    return layers.dense(tf.reduce_mean(x, 1), "head", CLASSES)


NETWORKS = {"CNN": cnn, "transformer": transformer}


def trained(network, pairs, seed, steps):
    """A converter of a trained network."""
    generator = np.random.default_rng(seed)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(seed)
        images = tf.placeholder(tf.float32, [None, SIZE, SIZE, 1], name="images")
        labels = tf.placeholder(tf.int64, [None])
        layers = Layers()
        with tf.variable_scope("net"):
            logits = network(images, layers)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        step = tf.train.get_or_create_global_step()
        warm = tf.minimum(1.0, tf.cast(step, tf.float32) / 100)
        rate = 3e-3 * warm * tf.train.cosine_decay(1.0, step, steps)
        train = tf.train.AdamOptimizer(rate).minimize(tf.reduce_mean(losses), global_step=step)
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            x, y = pairs.batch(generator, pairs.train, BATCH)
            session.run(train, {images: x, labels: y})
        statistics = None
        if layers.moments:
            batches = [pairs.batch(generator, pairs.train, 256)[0] for _ in range(8)]
            rows = [session.run(layers.moments, {images: x}) for x in batches]
            statistics = [np.mean(column, 0) for column in zip(*rows, strict=True)]
        with tf.variable_scope("net", reuse=True):
            scores = tf.identity(network(images, Layers(statistics)), "scores")
        return TFLiteConverter.from_session(session, [images], [scores])


def accuracy(content, images, labels):
    """The share of images that a file recognises, in percent."""
    interpreter = Interpreter(model_content=content)
    detail = interpreter.get_input_details()[0]
    interpreter.resize_tensor_input(detail["index"], images.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], images)
    interpreter.invoke()
    answers = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return 100 * float(np.mean(answers.argmax(1) == labels))


METHODS = {
    "plain minmax": {},
    "equalization": {"algorithms": ["equalization"]},
    "SmoothQuant": {"algorithms": [{"name": "smooth_quant", "linear": 1}]},
    "Hadamard rotation": {"algorithms": ["hadamard"]},
    "bias correction": {"algorithms": ["bias_correction"]},
    "GPTQ": {"algorithms": ["gptq"]},
    "AdaRound": {"algorithms": ["adaround"]},
    "mixed with int16x8": {"wider": "int16x8"},
    "mixed with float": {"wider": "float"},
}
SCHEMES = ("int8", "int8_int4")


def quantized(converter, samples, scheme, method, validation):
    """The file of a method, and the part of its work in wider layers, in percent."""
    converter.representative_dataset = lambda: ([x[np.newaxis]] for x in samples)
    converter.quantization_recipe = {"scheme": scheme, "algorithms": method.get("algorithms", [])}
    converter.accuracy_budget = None
    if "wider" in method:
        converter.accuracy_budget = AccuracyBudget(
            lambda content: accuracy(content, *validation), TOLERANCE, method["wider"]
        )
    converter.verify = False
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(has nothing that|are int8|only integer operators)")
        content = converter.convert()
    if "wider" not in method:
        return content, 0.0
    front = converter.pareto_front
    chosen = next(row for row in front.candidates if row.metric >= front.limit)
    return content, 100 * chosen.share


def figures(network, seed, steps, console):
    """What a trained network loses: {scheme: {method: (points, % of its work that is wider)}}."""
    pairs = Pairs(network == "CNN", FAINTEST[network])
    generator = np.random.default_rng(1000 + seed)
    start = time.process_time()
    converter = trained(NETWORKS[network], pairs, seed, steps)
    test, validation = (pairs.batch(generator, pairs.test, N_TEST) for _ in range(2))
    samples, _ = pairs.batch(generator, pairs.train, N_CALIBRATION)
    plain = accuracy(converter.convert(), *test)
    seconds = time.process_time() - start
    console.print(f"{network} seed {seed}: float {plain:.2f}%, {seconds:.0f} s of CPU")
    losses = {}
    for scheme in SCHEMES:
        for name, method in METHODS.items():
            start = time.process_time()
            content, share = quantized(converter, samples, scheme, method, validation)
            losses.setdefault(scheme, {})[name] = plain - accuracy(content, *test), share
            seconds = time.process_time() - start
            points = losses[scheme][name][0]
            console.print(f"  {scheme}, {name}: {points:.2f} points, {seconds:.0f} s of CPU")
    return {"network": network, "seed": seed, "float": plain, "losses": losses}


def markdown(rows):
    """The table of all that was measured: mean and spread over the seeds."""
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        chosen = [row for row in rows if row["network"] == network]
        floats = [row["float"] for row in chosen]
        mean, spread = np.mean(floats), np.std(floats)
        seeds = f"{len(chosen)} seeds"
        lines += [f"**{network}**, float {mean:.1f}% +- {spread:.1f}, {seeds}", ""]
        lines += [f"| points lost | {' | '.join(SCHEMES)} |", f"|---|{'---|' * len(SCHEMES)}"]
        for method in METHODS:
            cells = []
            for scheme in SCHEMES:
                losses, shares = np.array([row["losses"][scheme][method] for row in chosen]).T
                plain = np.array([row["losses"][scheme][next(iter(METHODS))][0] for row in chosen])
                cell = f"{losses.mean():.2f} +- {losses.std():.2f}"
                if method != next(iter(METHODS)):
                    cell += f" (better on {int((losses < plain).sum())} of {len(plain)})"
                if shares.any():
                    cell += f", {shares.mean():.0f}% of the work wider"
                cells.append(cell)
            lines.append(f"| {method} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main():
    """Trains, quantizes, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--network", choices=[*NETWORKS], action="append")
    parser.add_argument("--json", type=Path, default=Path("build/quantization.json"))
    arguments = parser.parse_args()
    rows, console = [], Console()
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.seeds):
        for network in arguments.network or NETWORKS:
            rows.append(figures(network, seed, arguments.steps, console))
            arguments.json.write_text(json.dumps(rows, indent=1))
    print(markdown(rows))


if __name__ == "__main__":
    main()
