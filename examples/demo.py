"""The main job: real SavedModels in, flatbuffers out, the original framework's answers.

Converts every model of models/, runs the file on the recorded inputs and compares with what the
original framework answered. Then trains a LeNet (examples/train_digits.py) and makes files of it.
Run it with `make demo`, or `python examples/demo.py [FOLDER]`.
"""

import runpy
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import flatlite.lite

HERE = Path(__file__).parent
MODELS = HERE.parent / "models"
RUNS = 20


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run_model(interpreter, inputs: dict) -> tuple[dict, float]:
    """The outputs by signature name, and the median milliseconds of an inference."""
    runner = interpreter.get_signature_runner()
    outputs = runner(**inputs)
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        interpreter.invoke()
        times.append(1e3 * (time.perf_counter() - start))
    return outputs, float(np.median(times))


def row(folder: Path, out: Path) -> list[str]:
    """Converts, runs and compares one model; its line of the table."""
    source = folder / "saved_model"
    converter = flatlite.lite.TFLiteConverter.from_saved_model(source)
    started = time.perf_counter()
    content = converter.convert()
    seconds = time.perf_counter() - started
    path = out / f"{folder.name}.tflite"
    path.write_bytes(content)

    example = np.load(folder / "example.npz")
    interpreter = flatlite.lite.Interpreter(model_path=path)
    names = interpreter.get_signature_runner().get_input_details()
    outputs, milliseconds = run_model(interpreter, {name: example[name] for name in names})
    recorded = {name: example[name] for name in outputs if name in example}
    if not recorded:  # a single output, recorded under the layer's own name
        (want,) = (example[k] for k in example.files if k not in names and k != "label")
        recorded = dict.fromkeys(outputs, want)
    gap = max(float(np.abs(outputs[name] - want).max()) for name, want in recorded.items())
    batch = example[next(iter(names))].shape[0]
    return [
        f"{folder.name} (SavedModel)",
        str(len(interpreter._get_ops_details())),
        f"{size(source):,}",
        f"{len(content):,}",
        f"{seconds:.2f} s",
        f"{gap:.1e}",
        f"{milliseconds / batch:.3f} ms",
        str(path),
    ]


def lenet(out: Path) -> Table:
    """Trains the LeNet; a line for each file made of it."""
    import flatlite.compat.v1 as tf

    example = runpy.run_path(str(HERE / "train_digits.py"))
    (images, labels), (test_images, test_labels) = example["load"]()
    table = Table(title="trained here: 1437 digits to learn from, 360 others to tell apart")
    for heading in ("LeNet", "right", ".tflite bytes", "inference", "file"):
        numeric = heading not in ("LeNet", "file")
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    with tf.Graph().as_default(), tf.Session() as session:
        model = example["Model"]()
        session.run(tf.global_variables_initializer())
        example["train"](session, model, images, labels)
        answers = session.run(model.probabilities, {model.images: test_images})
        table.add_row("in the session", f"{example['accuracy'](answers, test_labels):.1%}")
        for name, settings in FORMS.items():
            converter = tf.lite.TFLiteConverter.from_session(
                session, [model.images], [model.probabilities]
            )
            for attribute, value in settings(images).items():
                setattr(converter, attribute, value)
            path = out / f"lenet_{name}.tflite"
            path.write_bytes(converter.convert())
            answers, milliseconds = example["interpreted"](path.read_bytes(), test_images)
            table.add_row(
                name,
                f"{example['accuracy'](answers, test_labels):.1%}",
                f"{path.stat().st_size:,}",
                f"{milliseconds:.3f} ms",
                str(path),
            )
    return table


def int8(images) -> dict:
    """Settings of a converter that make an int8 file, calibrated on some images."""
    import flatlite.lite as lite

    return {
        "optimizations": [lite.Optimize.DEFAULT],
        "representative_dataset": lambda: ([image[np.newaxis]] for image in images[:200]),
        "target_spec": lite.TargetSpec(supported_ops=[lite.OpsSet.TFLITE_BUILTINS_INT8]),
    }


FORMS = {"float": lambda images: {}, "int8": int8}
"""The files made of the LeNet: attributes of the converter, given images to calibrate on."""


def main(out: str = "out") -> None:
    """Prints the tables."""
    folder = Path(out)
    folder.mkdir(exist_ok=True)
    table = Table(title="flatlite: SavedModel in, flatbuffer out, the same answers")
    for heading in (
        "source",
        "ops",
        "source bytes",
        ".tflite bytes",
        "converted in",
        "largest difference",
        "inference",
        "file",
    ):
        numeric = heading not in ("source", "file")
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    models = sorted(path.parent for path in MODELS.glob("*/saved_model"))
    with Progress(console=Console(stderr=True), transient=True) as bar:
        for model in bar.track(models, description="converting"):
            table.add_row(*row(model, folder))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    console.print(lenet(folder))


if __name__ == "__main__":
    main(*sys.argv[1:2])
