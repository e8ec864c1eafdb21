"""Converts what write_networks.py or write_packages.py has written, and compares the answers.

    python check_networks.py FOLDER [NAME...]

Needs an environment with flatlite and LiteRT, and no TensorFlow. Each form of each network is
converted; the file must give the answers that TensorFlow or ONNX Runtime recorded, at every size,
in flatlite and in LiteRT. A `.tflite` is run as it is, and must give LiteRT's answers. Prints a
line for each form and ends with an error when one differs or is refused.
"""

import json
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from ai_edge_litert import interpreter as litert

import flatlite.lite
from flatlite.errors import ConverterError

TOLERANCE = 1e-3  # of the largest value of an output
SMALLEST = 1e-3  # such a value: ONNX Runtime's own levels of optimization differ by 1e-7 there
FORMS = {
    "saved_model": flatlite.lite.TFLiteConverter.from_saved_model,
    "model.keras": flatlite.lite.TFLiteConverter.from_keras_model_file,
    "model.h5": flatlite.lite.TFLiteConverter.from_keras_model_file,
    "model.onnx": flatlite.lite.TFLiteConverter.from_onnx_model,
}
WITHOUT_XNNPACK = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
N_DRAWN = 3  # inputs of a .tflite

INTERPRETERS = {"flatlite": flatlite.lite.Interpreter, "LiteRT": litert.Interpreter}
REFUSED = {
    "other_layers/saved_model": "StatelessRandomUniformV2",
    "image_hue/saved_model": "AdjustHue",
    "image_centre/saved_model": "float64",
    "tensor_arrays/frozen.pb": "TensorArrayV3",
}
"""What TensorFlow 2.21 does not convert, and a word of why we do not."""
ROUNDED = {"captcha_int8": 2e-2}
"""Tolerances where activations become bytes as the model runs: ONNX Runtime's answers to
captcha_int8 move by 1.2e-2 when its input does by 1e-6."""
LITERT_REFUSES = {
    # it prepares the branch not taken, too, which does not fit the sound
    "silero/model.onnx": "IF) failed to prepare",
    # MediaPipe brings the operator
    "selfie_segmentation/model.tflite": "Convolution2DTransposeBias) failed to prepare",
    "selfie_segmentation_landscape/model.tflite": "Convolution2DTransposeBias) failed to prepare",
}
"""What LiteRT does not run, and a part of what it says."""


def converter_of(folder: Path, form: str):
    """The converter of one form of a network."""
    if form == "frozen.pb":
        inputs, outputs = json.loads((folder / "names.json").read_text())
        return flatlite.lite.TFLiteConverter.from_frozen_graph(folder / form, inputs, outputs)
    return FORMS[form](folder / form)


def recording(folder: Path):
    """Signature or None, inputs and outputs by name or position, of each recorded size."""
    for path in sorted(folder.glob("*.npz")):
        arrays = np.load(path)
        groups = {"in": {}, "out": {}}
        for key in arrays.files:
            group, name = key.split(":", 1)
            groups[group][int(name) if name.isdigit() else name] = arrays[key]
        yield path.stem.rpartition(".")[0] or None, groups["in"], groups["out"]


def by_signature(interpreter, signature, inputs):
    """Outputs of a signature by name."""
    runner = interpreter.get_signature_runner(signature)
    return runner(**{k: x.astype(object) if x.dtype.kind == "S" else x for k, x in inputs.items()})


def by_position(interpreter, inputs):
    """Outputs of the only subgraph by position."""
    details = interpreter.get_input_details()
    for i, array in inputs.items():
        interpreter.resize_tensor_input(details[i]["index"], array.shape)
    interpreter.allocate_tensors()
    for i, array in inputs.items():
        interpreter.set_tensor(details[i]["index"], array.astype(details[i]["dtype"]))
    interpreter.invoke()
    outputs = enumerate(interpreter.get_output_details())
    return {i: interpreter.get_tensor(detail["index"]) for i, detail in outputs}


def error_of(result, expected) -> float:
    """The largest difference as a share of the largest value, or of `SMALLEST`; infinite for other
    shapes.
    """
    result, expected = np.asarray(result), np.asarray(expected)
    if result.shape != expected.shape:
        return float("inf")
    if expected.dtype.kind in "SO":
        return float((result.astype("S") != expected).any())
    expected = expected.astype(np.float64)
    largest = max(np.abs(expected).max(initial=0), SMALLEST)
    return float(np.abs(result - expected).max(initial=0) / largest)


def largest_error(make, sizes) -> float | str:
    """The largest error at any of the sizes, or why the file did not run."""
    errors = [0.0]
    try:
        interpreter = make()  # variables go on from call to call
        for signature, inputs, outputs in sizes:
            if signature is None:
                results = by_position(interpreter, inputs)
            else:
                results = by_signature(interpreter, signature, inputs)
            errors += [error_of(results[key], value) for key, value in outputs.items()]
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"[:200].replace("\n", " ")
    return max(errors)


def check_file(folder: Path, form: str) -> bool:
    """Whether a .tflite gives the answers of LiteRT's own kernels on random inputs."""
    path, generator, worst = folder / form, np.random.default_rng(5), 0.0
    theirs = litert.Interpreter(str(path), experimental_op_resolver_type=WITHOUT_XNNPACK)
    details = theirs.get_input_details()
    for _ in range(N_DRAWN):
        inputs = {i: generator.random(d["shape"], np.float32) for i, d in enumerate(details)}
        ours = by_position(flatlite.lite.Interpreter(str(path)), inputs)
        try:
            expected = by_position(theirs, inputs)
        except RuntimeError as error:
            print(f"{folder.name}/{form}: runs, LiteRT {error}"[:200].replace("\n", " "))
            word = LITERT_REFUSES.get(f"{folder.name}/{form}")
            return word is not None and word in str(error)
        worst = max(worst, *(error_of(ours[i], x) for i, x in expected.items()))
    print(f"{folder.name}/{form}: {worst:.1e} from LiteRT", flush=True)
    return worst < TOLERANCE


def check(folder: Path, form: str) -> bool:
    """Whether one form of a network converts and gives the right answers."""
    if form == "model.tflite":
        return check_file(folder, form)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            content = converter_of(folder, form).convert()
        except Exception as error:  # whatever it is, it is the finding
            print(f"{folder.name}/{form}: {type(error).__name__}: {error}", flush=True)
            why = REFUSED.get(f"{folder.name}/{form}")
            return why is not None and isinstance(error, ConverterError) and why in str(error)
        sizes = [*recording(folder)]
        worst = {
            name: largest_error(partial(interpreter, model_content=content), sizes)
            for name, interpreter in INTERPRETERS.items()
        }
    taken = time.process_time() - start
    notes = {str(w.message).split("\n")[0][:100] for w in caught if w.category is UserWarning}
    shown = [f"{k} {x:.1e}" if isinstance(x, float) else f"{k} {x}" for k, x in worst.items()]
    words = f"{', '.join(shown)}, {len(sizes)} sizes, {len(content)} bytes, {taken:.1f} s"
    print(f"{folder.name}/{form}: {words}", *sorted(notes), sep="\n    ", flush=True)
    word = LITERT_REFUSES.get(f"{folder.name}/{form}")
    if word is not None and word in str(worst["LiteRT"]):
        del worst["LiteRT"]
    tolerance = ROUNDED.get(folder.name, TOLERANCE)
    return all(isinstance(x, float) and x < tolerance for x in worst.values())


def main() -> None:
    """Checks the networks that are named, or all that are there."""
    root = Path(sys.argv[1])
    names = sys.argv[2:] or sorted(path.name for path in root.iterdir() if path.is_dir())
    forms = [
        (root / name, form) for name in names for form in (*FORMS, "frozen.pb", "model.tflite")
    ]
    present = [(folder, form) for folder, form in forms if (folder / form).exists()]
    wrong = [f"{folder.name}/{form}" for folder, form in present if not check(folder, form)]
    if wrong:
        sys.exit(f"{len(wrong)} differ or are refused: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
