"""Trains a LeNet on handwritten digits, saves it, and makes a .tflite file of it.

    python examples/train_digits.py [FOLDER]

1437 images of 8x8 pixels to train on, 360 to test on; half a minute on two cores. Afterwards FOLDER
(out/digits) has the checkpoint, which TensorFlow can restore, and lenet.tflite.
"""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import flatlite.compat.v1 as tf

DATA = Path(__file__).parent.parent / "models" / "digits" / "digits.npz"
N_TEST = 360
BATCH = 32
EPOCHS = 20


def load():
    """(images, labels) to train on, and (images, labels) to test on."""
    data = np.load(DATA)
    images = (data["image"] / 16).astype(np.float32)[..., np.newaxis]
    labels = data["label"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:N_TEST], order[N_TEST:]
    return (images[train], labels[train]), (images[test], labels[test])


def convolution(x, name, n_filters):
    """3x3 filters, ReLU, and the largest of each 2x2 pixels."""
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [3, 3, int(x.shape[-1]), n_filters])
        bias = tf.get_variable("bias", [n_filters], initializer=tf.zeros_initializer())
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias))
        return tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


def dense(x, name, n_units):
    """A layer that sees all of the one before."""
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [int(x.shape[-1]), n_units])
        bias = tf.get_variable("bias", [n_units], initializer=tf.zeros_initializer())
        return tf.matmul(x, kernel) + bias


def lenet(images):
    """The score of each of the ten digits."""
    x = convolution(images, "conv1", 16)
    x = convolution(x, "conv2", 32)
    x = tf.reshape(x, [-1, 2 * 2 * 32])
    x = tf.nn.relu(dense(x, "fc1", 64))
    return dense(x, "fc2", 10)


class Model:
    """The graph: what is fed, what is computed, and the step that trains it."""

    def __init__(self):
        tf.set_random_seed(1)
        self.images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
        self.labels = tf.placeholder(tf.int64, [None], name="labels")
        logits = lenet(self.images)
        self.probabilities = tf.nn.softmax(logits, name="probabilities")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=logits)
        self.loss = tf.reduce_mean(losses)
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(2e-3, step, decay_steps=300, decay_rate=0.7)
        self.train = tf.train.AdamOptimizer(rate).minimize(self.loss, global_step=step)


def accuracy(probabilities, labels) -> float:
    """The part of the digits that is recognised."""
    return float(np.mean(probabilities.argmax(1) == labels))


def train(session, model, images, labels, epochs=EPOCHS, console=None):
    """Runs through the training data `epochs` times, each time in another order."""
    columns = (TextColumn("training"), BarColumn(), TextColumn("loss {task.fields[loss]:.4f}"))
    generator = np.random.default_rng(0)
    loss = np.inf
    with Progress(*columns, TimeElapsedColumn(), console=console or Console(stderr=True)) as bar:
        task = bar.add_task("", total=epochs, loss=loss)
        for _ in range(epochs):
            order = generator.permutation(len(images))
            losses = []
            for first in range(0, len(images) - BATCH + 1, BATCH):
                rows = order[first : first + BATCH]
                feeds = {model.images: images[rows], model.labels: labels[rows]}
                losses.append(session.run([model.train, model.loss], feeds)[1])
            loss = float(np.mean(losses))
            bar.update(task, advance=1, loss=loss)
    return loss


def interpreted(content, images):
    """What the .tflite file answers, image by image, and the median milliseconds of an answer."""
    interpreter = tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    source = interpreter.get_input_details()[0]["index"]
    target = interpreter.get_output_details()[0]["index"]
    answers, times = [], []
    for image in images:
        interpreter.set_tensor(source, image[np.newaxis])
        start = time.perf_counter()
        interpreter.invoke()
        times.append(1e3 * (time.perf_counter() - start))
        answers.append(interpreter.get_tensor(target)[0])
    return np.array(answers), float(np.median(times))


def main(out: str = "out/digits") -> None:
    """Trains, saves, converts, compares."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (images, labels), (test_images, test_labels) = load()
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model()
        session.run(tf.global_variables_initializer())
        loss = train(session, model, images, labels)
        trained = session.run(model.probabilities, {model.images: test_images})
        checkpoint = tf.train.Saver().save(session, folder / "lenet", tf.train.get_global_step())
        converter = tf.lite.TFLiteConverter.from_session(
            session, [model.images], [model.probabilities]
        )
        content = converter.convert()
    path = folder / "lenet.tflite"
    path.write_bytes(content)
    answers, milliseconds = interpreted(content, test_images)
    print(f"loss at the end      {loss:.4f}")
    print(f"in the session       {accuracy(trained, test_labels):.1%} of {len(test_labels)} digits")
    print(f"in the .tflite file  {accuracy(answers, test_labels):.1%}")
    print(f"largest difference   {np.abs(answers - trained).max():.1e}")
    print(f"checkpoint           {checkpoint}")
    print(f"file                 {path}, {len(content):,} bytes, {milliseconds:.3f} ms for a digit")


if __name__ == "__main__":
    main(*sys.argv[1:2])
