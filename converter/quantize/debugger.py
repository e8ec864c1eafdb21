"""How far each tensor of a quantized model is from the float one: TFLite's QuantizationDebugger."""

from __future__ import annotations

import collections
import csv
import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...schema.errors import noted
from ...schema.files import read_bytes
from ...schema.model import Model, load
from ...schema.quantization import Quantization
from ..verify.verification import Function
from .numeric_verify import NAME

if TYPE_CHECKING:
    from ..api.converter import TFLiteConverter
    from .recipe import Recipe

Metric = Callable[[np.ndarray], float]
ModelMetric = Callable[[list[np.ndarray], list[np.ndarray]], float]
DirectMetric = Callable[[np.ndarray, np.ndarray, float, int], float]
METRICS: dict[str, Metric] = {
    "num_elements": lambda error: error.size,
    "stddev": lambda error: float(np.std(error)),
    "mean_error": lambda error: float(np.average(error)),
    "max_abs_error": lambda error: float(np.max(np.abs(error))),
    "mean_squared_error": lambda error: float(np.average(np.square(error))),
}
"""What is measured of each tensor's error; TFLite's names."""
ENDS = ("op_name", "tensor_idx"), ("scale", "zero_point", "tensor_name")
"""The columns before and behind the metrics."""
INT8 = np.dtype(np.int8)


class QuantizationDebugOptions:
    """What a debugger does besides.

    Args:
        layer_debug_metrics: further columns by name: functions of the error of a result.
        model_debug_metrics: functions of the outputs of the float model and of the quantized one,
            dequantized, by name.
        layer_direct_compare_metrics: columns by name: functions of the float result, the quantized
            one as integers, its scale and its zero point.
        denylisted_ops: kinds of operators that stay float in the quantized model.
        denylisted_nodes: names of tensors whose operators stay float in it.
        fully_quantize: whether inputs and outputs of the quantized model are int8.

    Raises ValueError when two metrics have one name.
    """

    def __init__(
        self,
        layer_debug_metrics: Mapping[str, Metric] | None = None,
        model_debug_metrics: Mapping[str, ModelMetric] | None = None,
        layer_direct_compare_metrics: Mapping[str, DirectMetric] | None = None,
        denylisted_ops: Iterable[str] | None = None,
        denylisted_nodes: Iterable[str] | None = None,
        fully_quantize: bool = False,
    ) -> None:
        self.layer_debug_metrics = dict(layer_debug_metrics or {})
        self.model_debug_metrics = dict(model_debug_metrics or {})
        self.layer_direct_compare_metrics = dict(layer_direct_compare_metrics or {})
        self.denylisted_ops = list(denylisted_ops or ())
        self.denylisted_nodes = list(denylisted_nodes or ())
        self.fully_quantize = fully_quantize
        rows = (
            self.layer_debug_metrics,
            self.model_debug_metrics,
            self.layer_direct_compare_metrics,
        )
        counts = collections.Counter(name for row in rows for name in row)
        repeated = next((name for name, count in counts.items() if count > 1), None)
        if repeated is not None:
            raise noted(ValueError("Provided metrics have duplicate keys."), f"Twice: {repeated}")
        for name in counts:
            if name in (*ENDS[0], *METRICS, *ENDS[1]):
                raise ValueError(f"layer_debug_metrics must have names of their own, got {name!r}")


class Verified(NamedTuple):
    """A result that a NumericVerify is about.

    Attributes:
        name: of what the NumericVerify gives.
        difference, quantized, expected: the indices of the error, the result and the float result.
        row: what the CSV says of it besides its error.
        quantization: of the result.
    """

    name: str
    difference: int
    quantized: int
    expected: int
    row: dict[str, Any]
    quantization: Quantization


class QuantizationDebugger:
    """Runs a quantized model in debug mode and measures the error of each of its operators.

    In debug mode each quantized operator has a float one beside it, which gets the same numbers
    (before they are rounded, where they come from a float operator or an input), and a
    NumericVerify that gives the difference.

    Args:
        quant_debug_model_path, quant_debug_model_content: a file in debug mode, such as
            `get_debug_quantized_model` or TensorFlow's debugger gives, or its bytes.
        float_model_path, float_model_content: the float model, for model_debug_metrics.
        debug_dataset: a callable that gives samples, as a representative_dataset does; None takes
            that of the converter.
        debug_options: further metrics, operators that stay float.
        converter: what quantizes the model, in the place of a file; `_experimental_calibrate_only`
            may be set, as TensorFlow's debugger sets it.

    Attributes:
        layer_statistics: {name of a NumericVerify's result: {metric: its mean over the samples}},
            once `run` is over; None before.
        model_statistics: {metric: its mean over the samples}, where there are model_debug_metrics.

    Raises ValueError without a model, when the converter does not quantize results, or when nothing
    in the model is in debug mode.
    """

    def __init__(
        self,
        quant_debug_model_path: str | os.PathLike | None = None,
        quant_debug_model_content: bytes | None = None,
        float_model_path: str | os.PathLike | None = None,
        float_model_content: bytes | None = None,
        debug_dataset: Callable[[], Iterable[Any]] | None = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: TFLiteConverter | None = None,
    ) -> None:
        self._options = debug_options or QuantizationDebugOptions()
        self._converter = converter
        self._dataset = debug_dataset
        self._plain: list[Function] = []
        self._file_names: dict[str, str] = {}  # of tensors -> what they are called before
        if converter is not None:
            self._dataset = debug_dataset or converter.representative_dataset
            self._convert_debug()
            return
        content = content_of(quant_debug_model_path, quant_debug_model_content)
        if content is None:
            raise ValueError("Either quantized model or converter should be provided.")
        self._start([Function(content, None, {})])
        plain = content_of(float_model_path, float_model_content)
        if self._options.model_debug_metrics and plain is None:
            raise ValueError("model_debug_metrics need float_model_path or float_model_content")
        self._plain = [] if plain is None else [Function(plain, None, {})]

    @property
    def options(self) -> QuantizationDebugOptions:
        """What is done besides; other options quantize the converter's model again."""
        return self._options

    @options.setter
    def options(self, options: QuantizationDebugOptions) -> None:
        self._options = options
        if self._converter is not None:
            self._convert_debug()

    def get_nondebug_quantized_model(self) -> bytes:
        """The quantized model, what `options` deny left in float; raises ValueError without a
        converter.
        """
        return self._convert()[0]

    def get_debug_quantized_model(self) -> bytes:
        """The same in debug mode."""
        return self._debug_functions()[0].content

    def _convert_debug(self) -> None:
        """Quantizes, and takes the functions in debug mode."""
        self._start(self._debug_functions())

    def _debug_functions(self) -> list[Function]:
        """Quantizes; the functions of the file in debug mode."""
        _, recipe = self._convert()
        last = self._converter._last if self._converter is not None else None
        assert last is not None
        self._plain = last.files[0][1]
        return last.debug_functions(recipe)

    def _start(self, functions: list[Function]) -> None:
        """Takes the functions of a file in debug mode; nothing is measured of them yet."""
        model = load(functions[0].content)
        self._functions = functions
        self._verified = [verified_of(model, function.subgraph) for function in functions]
        if not any(self._verified):
            raise noted(
                ValueError("Please check if the quantized model is in debug mode"),
                "It has no NumericVerify: nothing in it is quantized, or it is no debug model.",
            )
        self.layer_statistics: dict[str, dict[str, float]] | None = None
        self.model_statistics: dict[str, float] | None = None

    def _convert(self) -> tuple[bytes, Recipe]:
        """Quantizes; the denied operators stay float."""
        from .recipe import Layers
        from .settings_recipe import recipe_of

        converter = self._converter
        if converter is None:
            raise ValueError(
                "No converter found, use this function with the converter option in the "
                "constructor."
            )
        recipe = recipe_of(converter)
        if recipe is None or recipe.weights_only:
            missing = (
                "representative_dataset" if recipe else "optimizations to lite.Optimize.DEFAULT"
            )
            raise noted(
                ValueError(f"converter object must set {missing}"),
                "converter must quantize results, as with optimizations = [Optimize.DEFAULT] and a "
                "representative_dataset",
            )
        if self._options.fully_quantize:
            recipe = dataclasses.replace(recipe, input_type=INT8, output_type=INT8)
        if self._options.denylisted_nodes and not self._file_names:
            self._quantized(converter, recipe)
        nodes = (self._file_names.get(name, name) for name in self._options.denylisted_nodes)
        denied = [
            Layers(f"^{re.escape(name)}$", None) for name in (*self._options.denylisted_ops, *nodes)
        ]
        recipe = dataclasses.replace(recipe, layers=(*denied, *recipe.layers))
        return self._quantized(converter, recipe), recipe

    def _quantized(self, converter: TFLiteConverter, recipe: Recipe) -> bytes:
        """The file by a recipe, whose names of tensors are taken note of."""
        settings: Any = converter
        before = settings.quantization_recipe, settings._experimental_calibrate_only
        settings.quantization_recipe, settings._experimental_calibrate_only = recipe, False
        try:
            content = converter.convert()
        finally:
            settings.quantization_recipe, settings._experimental_calibrate_only = before
        assert converter._last is not None
        for written, _ in converter._last.files:
            for subgraph, tensors in zip(written.model.subgraphs, written.tensors, strict=True):
                for tensor, source in zip(subgraph.tensors, tensors, strict=True):
                    self._file_names.setdefault(tensor.name, source.name)
        return content

    def run(self) -> None:
        """Runs the model on the samples, and the float one where there are model_debug_metrics.

        Raises ValueError for samples that the model does not take.
        """
        options = self._options
        layers: dict[str, dict[str, list[float]]] = {}
        models: dict[str, list[float]] = collections.defaultdict(list)
        runners = [function.interpreter(True) for function in self._functions]
        plain = [function.interpreter() for function in self._plain]
        for i, arrays in self._samples():
            function, runner = self._functions[i], runners[i]
            outputs = run_real(function, runner, arrays)
            for row in self._verified[i]:
                error, quantized, expected = (
                    runner.get_tensor(index, function.subgraph)
                    for index in (row.difference, row.quantized, row.expected)
                )
                columns = layers.setdefault(row.name, collections.defaultdict(list))
                for name, metric in (METRICS | options.layer_debug_metrics).items():
                    columns[name].append(metric(error))
                for name, direct in options.layer_direct_compare_metrics.items():
                    params = row.quantization
                    value = direct(expected, quantized, params.scale, params.zero_point)
                    columns[name].append(value)
            if options.model_debug_metrics:
                float_outputs = run_real(self._plain[i], plain[i], arrays)
                for name, model_metric in options.model_debug_metrics.items():
                    models[name].append(model_metric(float_outputs, outputs))
        self.layer_statistics = {
            name: {metric: float(np.nanmean(values)) for metric, values in columns.items()}
            for name, columns in layers.items()
        }
        if options.model_debug_metrics:
            self.model_statistics = {name: float(np.mean(row)) for name, row in models.items()}

    def _samples(self) -> Iterator[tuple[int, Sequence[np.ndarray]]]:
        """Each sample, with the number of the function it is for."""
        from ..api.samples import Samples, dataset_function

        last = self._converter._last if self._converter is not None else None
        if last is not None:
            for i, _, arrays in Samples(self._dataset, last.sources).each():
                yield i, arrays
            return
        function = dataset_function(self._dataset)
        if function is None:
            raise ValueError("debug_dataset must be a callable that gives samples, got None")
        for arrays in function():
            yield 0, arrays

    def layer_statistics_dump(self, file: IO[str]) -> None:
        """Writes `layer_statistics` as CSV, with TFLite's columns."""
        options = self._options
        metrics = (*METRICS, *options.layer_debug_metrics, *options.layer_direct_compare_metrics)
        writer = csv.DictWriter(file, (*ENDS[0], *metrics, *ENDS[1]))
        writer.writeheader()
        rows = {row.name: row.row for part in self._verified for row in part}
        for name, statistics in (self.layer_statistics or {}).items():
            writer.writerow({**rows[name], **statistics})


def content_of(path: str | os.PathLike | None, content: bytes | None) -> bytes | None:
    """The bytes of a model, of a file where it is one; None without either."""
    return content if path is None else read_bytes(path)


def verified_of(model: Model, number: int) -> list[Verified]:
    """The results that a subgraph verifies."""
    subgraph = model.subgraphs[number]
    kinds = {i: op.op for op in subgraph.operators for i in op.outputs}
    rows = []
    for op in subgraph.operators:
        if op.op != "CUSTOM" or op.custom_code != NAME:
            continue
        quantized, expected = op.inputs
        tensor, difference = subgraph.tensors[quantized], op.outputs[0]
        params = tensor.quantization
        if params is None:
            continue
        row = {
            "op_name": kinds.get(quantized, ""),
            "tensor_idx": quantized,
            "scale": params.scale,
            "zero_point": params.zero_point,
            "tensor_name": tensor.name,
        }
        name = subgraph.tensors[difference].name
        rows.append(Verified(name, difference, quantized, expected, row, params))
    return rows


def run_real(
    function: Function, interpreter: Any, arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The outputs of a function, dequantized, for inputs that are quantized as it takes them.

    Raises ValueError for another number of inputs.
    """
    from .check import ports

    inputs, outputs = ports(function, interpreter)
    if len(inputs) != len(arrays):
        raise ValueError(
            f"Number of inputs provided ({len(arrays)}) does not match number of inputs to the "
            f"model ({len(inputs)})"
        )
    quantized = [
        port.quantize(array) if array.dtype.kind == "f" else array
        for port, array in zip(inputs, arrays, strict=True)
    ]
    results = function.run(interpreter, quantized)
    return [
        port.dequantize(array).astype(np.float32) if port.quantization[0] else array
        for port, array in zip(outputs, results, strict=True)
    ]
