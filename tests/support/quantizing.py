"""Rows of the corpus that TensorFlow quantized, quantized by us from the same samples."""

import re
import warnings

import numpy as np
from recorded import folder, load, rows
from running import answers

import flatlite.lite

KINDS = {
    "dyn": "dynamic",
    "dynamic": "dynamic",
    "int8": "int8",
    "int8_pt": "int8",  # weights with one scale
    "uint8io": "int8",
    "int16x8": "int16x8",
    "fp16": "float16",
}
"""Variants of the corpus -> the command line's word for them."""
IO_TYPES = {"int8": np.int8, "int16x8": np.int16}
"""Types of inputs and outputs of whole models."""
SAME_VALUES = 0.05  # share of its size by which the same tensor of two files may differ
INT16X8_OPS = flatlite.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8


def variant_of(row: dict) -> str | None:
    """How TensorFlow quantized the row's file: a key of KINDS, None for another way."""
    variant = row.get("variant") or row.get("quant")
    if row["kind"] == "model_tflite":
        variant = re.sub(r".*/tflite_(b1_)?", "", row["id"])
    return variant if variant in KINDS else None


def quantized_rows():
    """Rows with a source, the file TensorFlow made of it, and samples where it used some."""
    for row in rows():
        files = row.get("files", {})
        variant = variant_of(row)
        if row["kind"] not in ("op_test", "tflite_case", "model_tflite") or variant is None:
            continue
        if "tflite" not in files or not ({"graphdef", "saved_model", "keras"} & set(files)):
            continue
        if variant in ("int8", "int16x8") and not any(
            key.startswith("cal:") for key in source_arrays(row)
        ):
            continue
        yield row


def source_arrays(row: dict) -> dict:
    """The arrays recorded for the float source."""
    files = row["files"]
    return load(files.get("data_tf") or files.get("source_data") or files["data"])


def input_names(row: dict) -> list[str]:
    """The names under which the source's inputs are recorded, in its order."""
    names = row["tf_inputs"] if row["kind"] == "tflite_case" else row["inputs"]
    return [one["name"] for one in names]


def recorded(row: dict) -> tuple[list, list]:
    """(inputs, TensorFlow's float outputs) of one inference."""
    arrays, names = source_arrays(row), input_names(row)
    if row["kind"] == "op_test":
        outputs = [arrays[f"tf:{o['name']}"] for o in row["outputs"]]
    elif row["kind"] == "tflite_case":
        outputs = [arrays[f"tf:{i}"] for i in range(len(row["graph_outputs"]))]
    else:
        return (
            [arrays[f"in0:{name}"] for name in names],
            [arrays[f"tf0:{i}"] for i in range(len(row["outputs"]))],
        )
    return [arrays[f"in:{name}"] for name in names], outputs


def samples(row: dict):
    """The calibration samples TensorFlow's converter was given, one list of arrays each."""
    arrays = source_arrays(row)
    columns = [arrays[f"cal:{name}"] for name in input_names(row)]
    is_batch = row["kind"] == "model_tflite"
    for i in range(len(columns[0])):
        yield [column[i : i + 1] if is_batch else column[i] for column in columns]


def converter_for(row: dict):
    """A converter with the settings that made the row's file."""
    files, variant = row["files"], variant_of(row)
    if "graphdef" not in files:
        converter = model_converter(row)
    elif row["kind"] == "tflite_case":
        converter = frozen(files, row["graph_inputs"], row["graph_outputs"])
    else:
        ends = ([one["tensor"] for one in row[key]] for key in ("inputs", "outputs"))
        shapes = {
            one["tensor"]: one["graph_shape"] or one["shape"]
            for one in row["inputs"]
            if one["graph_shape"] is None or None in one["graph_shape"]
        }
        converter = frozen(files, *ends, shapes)
    converter.optimizations = [flatlite.lite.Optimize.DEFAULT]
    kind = KINDS[variant]
    if kind in ("int8", "int16x8"):
        converter.representative_dataset = lambda: samples(row)
    if kind == "int16x8":
        converter.target_spec.supported_ops = {INT16X8_OPS}
    elif kind == "float16":
        converter.target_spec.supported_types = [np.float16]
    if row["kind"] != "op_test" and kind in IO_TYPES:
        dtype = np.uint8 if variant == "uint8io" else IO_TYPES[kind]
        converter.inference_input_type = converter.inference_output_type = dtype
    converter._experimental_disable_per_channel = variant == "int8_pt"
    return converter


def frozen(files: dict, inputs, outputs, shapes=None):
    """A converter for a row's frozen graph."""
    path = folder() / files["graphdef"]
    return flatlite.lite.TFLiteConverter.from_frozen_graph(path, inputs, outputs, shapes)


def model_converter(row: dict):
    """A converter for a whole model, of batches of one where TensorFlow's file was made of such."""
    files = row["files"]
    if "saved_model" in files:
        shapes = None
        if "/tflite_b1_" in row["id"]:
            arrays = source_arrays(row)
            names = zip(input_names(row), row["signature_inputs"], strict=True)
            shapes = {key: [1, *arrays[f"in0:{name}"].shape[1:]] for name, key in names}
        path = folder() / files["saved_model"]
        return flatlite.lite.TFLiteConverter.from_saved_model(path, input_shapes=shapes)
    return flatlite.lite.TFLiteConverter.from_keras_model_file(folder() / files["keras"])


def convert(row: dict) -> bytes:
    """The row's source, quantized by us as the row's file was."""
    with warnings.catch_warnings():
        # some of TensorFlow's files are float, too small or made of operators without int8 kernel
        warnings.filterwarnings(
            "ignore", "the model stays float|the converted model was not|only integer operators"
        )
        return converter_for(row).convert()


def quantized(array: np.ndarray, detail: dict) -> np.ndarray:
    """A real input as the model takes it."""
    dtype, (scale, zero_point) = np.dtype(detail["dtype"]), detail["quantization"]
    if array.dtype != np.float32 or dtype == np.float32 or not scale:
        return array
    limits = np.iinfo(dtype)
    steps = np.rint(array / np.float32(scale)) + zero_point
    return np.clip(steps, limits.min, limits.max).astype(dtype)


def real(array: np.ndarray, detail: dict) -> np.ndarray:
    """What an output stands for."""
    scale, zero_point = detail["quantization"]
    wide = array.astype(np.float64)
    return (wide - zero_point) * scale if scale and array.dtype != np.float32 else wide


class File:
    """A quantized file: its inputs and outputs in the order of the row's source."""

    def __init__(self, row: dict, content: bytes, is_theirs: bool) -> None:
        self._content = content
        self.interpreter = flatlite.lite.Interpreter(model_content=content)
        self.interpreter.allocate_tensors()
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()
        self._order = (range(len(self.inputs)), range(len(self.outputs)))
        if is_theirs and row["kind"] == "tflite_case":
            self._order = (row["tf_input_of_tflite_input"], row["tf_output_of_tflite_output"])
        elif is_theirs:
            runner = self.interpreter.get_signature_runner()
            ends = (runner.get_input_details(), runner.get_output_details())
            keys = ([one["name"] for one in row[key]] for key in ("inputs", "outputs"))
            self._order = [
                [[end[key]["index"] for key in names].index(d["index"]) for d in details]
                for end, names, details in zip(ends, keys, (self.inputs, self.outputs), strict=True)
            ]

    def quantized_inputs(self, arrays) -> list[np.ndarray]:
        """The source's inputs as the file takes them, in the file's order."""
        return [quantized(arrays[i], d) for i, d in zip(self._order[0], self.inputs, strict=True)]

    def real(self, arrays) -> list[np.ndarray]:
        """The file's real answers to the source's inputs, in the source's order."""
        outputs = answers(self.interpreter, *self.quantized_inputs(arrays))
        values = [real(x, d) for x, d in zip(outputs, self.outputs, strict=True)]
        return [values[list(self._order[1]).index(i)] for i in range(len(values))]

    def schemes(self) -> list[tuple[float, int]]:
        """(scale, zero point) of the inputs, then of the outputs, in the source's order."""
        return [
            details[list(order).index(i)]["quantization"]
            for details, order in zip((self.inputs, self.outputs), self._order, strict=True)
            for i in range(len(details))
        ]

    def activations(self, arrays) -> list[tuple[str, np.dtype, tuple[float, int], np.ndarray]]:
        """(name, type, (scale, zero point), real values) of the inputs and results with a scale.

        Args:
            arrays: the source's inputs.
        """
        interpreter = flatlite.lite.Interpreter(
            model_content=self._content, experimental_preserve_all_tensors=True
        )
        interpreter.allocate_tensors()
        answers(interpreter, *self.quantized_inputs(arrays))
        results = (i for op in interpreter._get_ops_details() for i in op["outputs"])
        indices = dict.fromkeys((*(d["index"] for d in self.inputs), *results))
        details = {d["index"]: d for d in interpreter.get_tensor_details()}
        rows = []
        for index in indices:
            detail = details[index]
            if len(detail["quantization_parameters"]["scales"]) == 1:
                values = real(interpreter.get_tensor(index), detail).ravel()
                dtype = np.dtype(detail["dtype"])
                rows.append((detail["name"], dtype, detail["quantization"], values))
        return rows


def float_steps(first: float, second: float) -> int:
    """How many float32 numbers two numbers are apart."""
    bits = [int(np.float32(x).view(np.int32)) for x in (first, second)]
    return abs(bits[0] - bits[1])


def nearest(row, candidates) -> tuple[bool, int] | None:
    """(whether the zero points differ, float steps between the scales) of an activation and the
    nearest of those that hold the same values; None when none does.
    """
    _, dtype, (scale, zero_point), values = row
    differences = []
    for _, other_dtype, (other_scale, other_zero_point), others in candidates:
        if other_dtype == dtype and others.size == values.size:
            error, size = (np.sqrt(np.mean(np.square(x))) for x in (values - others, values))
            if error <= max(SAME_VALUES * size, scale, other_scale):
                steps = float_steps(scale, other_scale)
                differences.append((bool(zero_point != other_zero_point), steps))
    return min(differences, default=None)
