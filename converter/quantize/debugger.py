"""How far each tensor of a quantized model is from the float one: TFLite's QuantizationDebugger."""

from __future__ import annotations

import collections
import csv
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import noted

if TYPE_CHECKING:
    from ..api.converter import TFLiteConverter
    from ..ir.graph import Tensor

Metric = Callable[[np.ndarray], float]
METRICS: dict[str, Metric] = {
    "num_elements": lambda error: error.size,
    "stddev": lambda error: float(np.std(error)),
    "mean_error": lambda error: float(np.average(error)),
    "max_abs_error": lambda error: float(np.max(np.abs(error))),
    "mean_squared_error": lambda error: float(np.average(np.square(error))),
}
"""What is measured of each tensor's error; TFLite's names."""
COLUMNS = ("op_name", "tensor_idx", *METRICS, "scale", "zero_point", "tensor_name")


class QuantizationDebugOptions:
    """What a debugger does besides.

    Args:
        layer_debug_metrics: further columns by name: functions of the error of a tensor.
        denylisted_ops: kinds of operators that stay float in the next quantized model.
        denylisted_nodes: names of tensors whose operators stay float in it.
    """

    def __init__(
        self,
        layer_debug_metrics: Mapping[str, Metric] | None = None,
        denylisted_ops: Iterable[str] | None = None,
        denylisted_nodes: Iterable[str] | None = None,
    ) -> None:
        self.layer_debug_metrics = dict(layer_debug_metrics or {})
        self.denylisted_ops = list(denylisted_ops or ())
        self.denylisted_nodes = list(denylisted_nodes or ())
        for name in self.layer_debug_metrics:
            if name in COLUMNS:
                raise ValueError(f"layer_debug_metrics must have names of their own, got {name!r}")


class QuantizationDebugger:
    """Runs a quantized model beside its float form and measures the error of each result.

    The error of a result holds what the operators before have lost, too.

    Args:
        debug_dataset: a callable that gives samples, as a representative_dataset does; None takes
            that of the converter.
        debug_options: further metrics, operators that stay float.
        converter: what quantizes the model.

    Attributes:
        options: a QuantizationDebugOptions.
        layer_statistics: {name of a tensor: {metric: its mean over the samples}}, once `run` is
            over.

    Raises ValueError without a converter, or when the converter does not quantize results.
    """

    def __init__(
        self,
        *,
        debug_dataset: Callable[[], Iterable[Any]] | None = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: TFLiteConverter,
    ) -> None:
        self.options = debug_options or QuantizationDebugOptions()
        self._converter = converter
        self._dataset = debug_dataset or converter.representative_dataset
        self.layer_statistics: dict[str, dict[str, float]] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._content = self._convert()

    def get_nondebug_quantized_model(self) -> bytes:
        """The quantized model, what `options` deny left in float."""
        self._content = self._convert()
        return self._content

    def _convert(self) -> bytes:
        """Quantizes; the denied operators stay float."""
        from .recipe import Layers, recipe_of

        converter = self._converter
        recipe = recipe_of(converter)
        if recipe is None or recipe.weights_only:
            raise noted(
                ValueError("Either quantized model or converter should be provided."),
                "converter must quantize results, as with optimizations = [Optimize.DEFAULT] and a "
                "representative_dataset",
            )
        denied = [
            Layers(f"^{name}$", None)
            for name in (*self.options.denylisted_ops, *self.options.denylisted_nodes)
        ]
        before = converter.quantization_recipe
        if denied:
            layers = (*denied, *recipe.layers)
            converter.quantization_recipe = dataclasses.replace(recipe, layers=layers)
        try:
            return converter.convert()
        finally:
            converter.quantization_recipe = before

    def run(self) -> None:
        """Runs both models on the samples."""
        from ..api.samples import Samples
        from .check import ports

        last = self._converter._last
        assert last is not None
        (written, plain), (quantized_written, quantized) = last.files
        observed = [
            compared_tensors(*pair)
            for pair in zip(written.tensors, quantized_written.tensors, strict=False)
        ]
        float_runner, runner = plain[0].interpreter(True), quantized[0].interpreter(True)
        collected: dict[str, dict[str, list[float]]] = {}
        metrics = METRICS | self.options.layer_debug_metrics
        for i, _, arrays in Samples(self._dataset, last.sources, 1).each():
            before, after = plain[i], quantized[i]
            before.run(float_runner, arrays)
            inputs, _ = ports(after, runner)
            after.run(runner, [p.quantize(x) for p, x in zip(inputs, arrays, strict=True)])
            for tensor, places in observed[i].items():
                expected = float_runner.get_tensor(places[0], before.subgraph).astype(np.float64)
                stored = runner.get_tensor(places[1], after.subgraph).astype(np.float64)
                params = tensor.quantization
                error = (stored - params.zero_point) * params.scale - expected
                name = tensor.name
                self._rows.setdefault(name, row_of(tensor, places[1]))
                row = collected.setdefault(name, collections.defaultdict(list))
                for metric, function in metrics.items():
                    row[metric].append(function(error))
        self.layer_statistics = {
            name: {metric: float(np.mean(values)) for metric, values in row.items()}
            for name, row in collected.items()
        }

    def layer_statistics_dump(self, file: IO[str]) -> None:
        """Writes `layer_statistics` as CSV, with TFLite's columns."""
        metrics = (*METRICS, *self.options.layer_debug_metrics)
        columns = ("op_name", "tensor_idx", *metrics, "scale", "zero_point", "tensor_name")
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for name, statistics in self.layer_statistics.items():
            writer.writerow({**self._rows[name], **statistics})


def compared_tensors(
    before: Iterable[Tensor], after: Iterable[Tensor]
) -> dict[Tensor, tuple[int, int]]:
    """The results that are integers in the quantized file -> their places in both files."""
    places = {tensor: i for i, tensor in enumerate(before)}
    return {
        tensor: (places[tensor], i)
        for i, tensor in enumerate(after)
        if tensor in places and tensor.producer is not None and tensor.quantization is not None
    }


def row_of(tensor: Tensor, index: int) -> dict[str, Any]:
    """What a row says of a tensor besides its error."""
    return {
        "op_name": tensor.producer.kind if tensor.producer is not None else "",
        "tensor_idx": index,
        "scale": tensor.quantization.scale,
        "zero_point": tensor.quantization.zero_point,
        "tensor_name": tensor.name,
    }
