"""Quantizes a small trained classifier and shows what that costs: python examples/quantize.py

The model is models/digits. 100 of its images calibrate, the 260 others measure the accuracy.
"""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from flatlite.lite import Interpreter, OpsSet, Optimize, RepresentativeDataset, TFLiteConverter

DIGITS = Path(__file__).parents[1] / "models/digits"
EXAMPLE = np.load(DIGITS / "example.npz")
N_CALIBRATION = 100
RUNS = 20


def samples():
    """Inputs as the model will see them: one list of arrays for each inference."""
    for image in EXAMPLE["image"][:N_CALIBRATION]:
        yield [image[np.newaxis]]


def new_converter() -> TFLiteConverter:
    return TFLiteConverter.from_saved_model(DIGITS / "saved_model")


def dynamic_range() -> TFLiteConverter:
    """Weights in 8 bits."""
    converter = new_converter()
    converter.optimizations = [Optimize.DEFAULT]
    return converter


def int8() -> TFLiteConverter:
    """Everything in 8 bits; inputs and outputs stay float32."""
    converter = dynamic_range()
    converter.representative_dataset = RepresentativeDataset(samples)
    return converter


def int8_only() -> TFLiteConverter:
    """As a microcontroller wants it: no float anywhere."""
    converter = int8()
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    converter.inference_input_type = np.int8
    converter.inference_output_type = np.int8
    return converter


def accuracy(interpreter: Interpreter) -> float:
    """The share of images recognised, an int8 input stored as the model asks."""
    classify = interpreter.get_signature_runner()
    detail = classify.get_input_details()["image"]
    images = EXAMPLE["image"][N_CALIBRATION:]
    if detail["dtype"] == np.int8:
        scale, zero_point = detail["quantization"]
        images = np.clip(np.rint(images / scale) + zero_point, -128, 127).astype(np.int8)
    (answers,) = classify(image=images).values()
    return float(np.mean(answers.argmax(1) == EXAMPLE["label"][N_CALIBRATION:]))


def milliseconds(interpreter: Interpreter) -> float:
    """The median time of an inference."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        interpreter.invoke()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    table = Table("file", "bytes", "accuracy", "signal to noise", "260 images")
    forms = {
        "float": new_converter(),
        "dynamic_range": dynamic_range(),
        "int8": int8(),
        "int8_only": int8_only(),
    }
    for name, converter in forms.items():
        content = converter.convert()
        path = out / f"digits_{name}.tflite"
        path.write_bytes(content)
        interpreter = Interpreter(model_path=path)
        noise = [f"{x:.1f} dB" for one in converter.signal_to_noise.values() for x in one.values()]
        table.add_row(
            path.name,
            f"{len(content):,}",
            f"{accuracy(interpreter):.1%}",
            ", ".join(noise),
            f"{milliseconds(interpreter):.2f} ms",
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
