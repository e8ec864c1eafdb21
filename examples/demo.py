"""The main job: real SavedModels in, flatbuffers out, the original framework's answers.

Converts every model of models/, runs the file on the recorded inputs and compares with what the
original framework answered. Run it with `make demo`, or `python examples/demo.py [FOLDER]`.
"""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import flatlite.lite

MODELS = Path(__file__).parent.parent / "models"
RUNS = 20


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def answer(interpreter, inputs: dict) -> tuple[dict, float]:
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
    outputs, milliseconds = answer(interpreter, {name: example[name] for name in names})
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


def main(out: str = "out") -> None:
    """Prints the table."""
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
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    main(*sys.argv[1:2])
