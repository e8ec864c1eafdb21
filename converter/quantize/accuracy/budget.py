"""Which layers stay wider, so that a metric of the user's stays within its tolerance.

How sensitive the model is to each layer is measured: the noise at the outputs when this layer alone
is quantized. The most sensitive ones are then kept wider, as many as the metric needs; how many is
found by doubling and halving.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, SupportsFloat

import numpy as np

from ....schema.errors import CalibrationError, ConverterError
from ...api.samples import telling_who_raised
from ..islands import work_of
from ..recipe import Layers, Recipe
from ..rules import rule_of
from ..scheme import INT16X8, Scheme
from ..settings_recipe import recipe_of, with_algorithms
from .charts import Point, scatter

if TYPE_CHECKING:
    from ...api.conversion import Conversion
    from ...api.samples import Sample
    from ...api.settings import Settings
    from ...ir.graph import Graph, Op
    from ...verify.verification import Function

WIDER: dict[str, Scheme | None] = {"int16x8": INT16X8, "float": None}
"""What layers may be kept in, by the name that `AccuracyBudget` takes."""
N_SAMPLES = 8  # that sensitivity is measured on
UNROLLED = (
    "WHILE",
    *("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM"),
    *("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"),
)
"""Operators that may be written out step by step, and must be so for each layer's sensitivity."""


@dataclass(frozen=True)
class AccuracyBudget:
    """What accuracy a quantized model must have.

    Attributes:
        metric: called with the bytes of a .tflite file; the larger its result the better.
        tolerance: how much less than for the float model it may be.
        wider: what sensitive layers are kept in, "int16x8" or "float".

    Raises ValueError for values that are not of these kinds.
    """

    metric: Callable[[bytes], float]
    tolerance: float
    wider: str = "int16x8"

    def __post_init__(self) -> None:
        if not callable(self.metric):
            raise ValueError(
                "metric of an AccuracyBudget must be a function of the bytes of a file, got "
                f"{type(self.metric).__name__}"
            )
        is_number = isinstance(self.tolerance, int | float) and self.tolerance >= 0
        if not is_number:
            raise ValueError(f"tolerance must be a number of at least 0, got {self.tolerance!r}")
        if self.wider not in WIDER:
            raise ValueError(f"wider must be one of {', '.join(WIDER)}, got {self.wider!r}")


class QuantizedLayer(NamedTuple):
    """A layer of a quantized model.

    Attributes:
        share: its part of the model's work, 0 to 1.
        moves: the names of operators that only move its inputs, and are as wide as it is.
    """

    share: float
    moves: tuple[str, ...]


class Candidate(NamedTuple):
    """A file that was tried.

    Attributes:
        layers: the layers that are wider, the most sensitive first.
        share: their part of the model's work, 0 to 1.
        bytes: of the file.
        metric: what the user's function says of it.
        is_on_front: whether no other one has less work in wider layers and a larger metric.
    """

    layers: tuple[str, ...]
    share: float
    bytes: int
    metric: float
    is_on_front: bool = False


@dataclass(frozen=True)
class ParetoFront:
    """What was tried, and what nothing else beats.

    Attributes:
        candidates: all files, by their work in wider layers.
        float_metric: the metric of the float model.
        limit: what the metric must be.
        sensitivity: layer -> noise over signal at the outputs when it alone is quantized.
    """

    candidates: tuple[Candidate, ...]
    float_metric: float
    limit: float
    sensitivity: dict[str, float]

    @property
    def front(self) -> list[Candidate]:
        """The files that no other one beats in both."""
        return [candidate for candidate in self.candidates if candidate.is_on_front]

    def table(self) -> str:
        """The files as text, those on the front with a star."""
        rows = [
            f"{'':2}{'wider':>6}{'work':>8}{'bytes':>12}  metric (float {self.float_metric:.5g})"
        ]
        for row in self.candidates:
            star = "*" if row.is_on_front else ""
            counts = f"{len(row.layers):>6}{row.share:>8.1%}{row.bytes:>12,}"
            rows.append(f"{star:2}{counts}  {row.metric:.5g}")
        return "\n".join(rows)

    def svg(self) -> str:
        """A picture: work in wider layers, and the metric."""
        points = [
            Point(
                100 * row.share,
                row.metric,
                f"{len(row.layers)} wider layers, {row.bytes:,} bytes, metric {row.metric:.5g}",
                row.is_on_front,
                f"{len(row.layers)} wider, {row.bytes:,} bytes",
            )
            for row in self.candidates
        ]
        lines = {"float": self.float_metric, "limit": self.limit}
        return scatter(points, "% of the work in wider layers", "metric", lines)


class Search:
    """The search for layers that stay wider.

    Args:
        settings: the attributes of a converter; its recipe is where the search begins.
        convert: makes a file by other settings: a Conversion that has run, and the bytes.
        samples: gives samples, as Samples.each does.
    """

    def __init__(
        self,
        settings: Settings,
        convert: Callable[[Settings], tuple[Conversion, bytes]],
        samples: Callable[[Conversion], Iterable[Sample]],
    ) -> None:
        self._settings, self._convert = settings, convert
        self._budget: AccuracyBudget = settings.accuracy_budget
        if not isinstance(self._budget, AccuracyBudget):
            raise ValueError(
                "accuracy_budget must be an AccuracyBudget(metric, tolerance) of "
                f"flatlite.experimental, got {self._budget!r}"
            )
        self._samples = samples
        recipe = with_algorithms(recipe_of(settings), settings)
        if recipe is None or recipe.weights_only:
            raise ValueError(
                "accuracy_budget keeps layers wider in a model that is quantized with samples; set "
                "optimizations = [Optimize.DEFAULT] and a representative_dataset"
            )
        self._recipe: Recipe = recipe

    def run(self, advance: Callable[[], None]) -> tuple[Conversion, bytes, ParetoFront]:
        """The file with the fewest wider layers that the metric allows.

        Raises ConverterError when the metric is too small even with all of them.
        """
        first, content = self._convert(self._with(self._recipe, is_first=True))
        ranges = first.calibrated_ranges
        float_metric = self._metric(first.files[0][1][0].content)
        limit = float_metric - self._budget.tolerance
        layers = first.layers
        tried = {0: (self._candidate((), layers, content), first, content)}
        sensitivity: dict[str, float] = {}
        if tried[0][0].metric < limit:
            sensitivity = self._sensitivity(first, ranges, advance)
            self._widen(sorted(layers, key=lambda name: -sensitivity[name]), tried, limit)
        candidates = with_front([row for row, _, _ in tried.values()])
        front = ParetoFront(candidates, float_metric, limit, sensitivity)
        good = [n for n, (row, _, _) in tried.items() if row.metric >= limit]
        if not good:
            raise ConverterError(
                f"accuracy_budget: the metric must be at least {limit:.5g}, and is "
                f"{max(row.metric for row in candidates):.5g} at most:\n{front.table()}\n"
                'AccuracyBudget(..., wider="float") keeps layers in float'
            )
        _, conversion, content = tried[min(good)]
        return conversion, content, front

    def _widen(
        self,
        ordered: Sequence[str],
        tried: dict[int, tuple[Candidate, Conversion, bytes]],
        limit: float,
    ) -> None:
        """Tries numbers of wider layers until the smallest that does is between two neighbours."""
        layers, ranges = tried[0][1].layers, tried[0][1].calibrated_ranges
        low, n = 0, 1
        while True:
            n = min(n, len(ordered))
            names = tuple(ordered[:n])
            conversion, content = self._quietly(self._wider(names, layers), ranges)
            tried[n] = self._candidate(names, layers, content), conversion, content
            is_enough = tried[n][0].metric >= limit
            if is_enough and n - low <= 1:
                return
            if not is_enough:
                low = n
                if n == len(ordered):
                    return
            enough = [m for m, (row, _, _) in tried.items() if row.metric >= limit and m > low]
            if enough and min(enough) - low <= 1:
                return
            n = (low + min(enough)) // 2 if enough else 2 * n

    def _wider(self, names: Iterable[str], layers: dict[str, QuantizedLayer]) -> Recipe:
        """The recipe with some layers wider."""
        scheme = WIDER[self._budget.wider]
        patterns = [exactly(name, *layers[name].moves) for name in names]
        rows = tuple(Layers(pattern, scheme) for pattern in patterns)
        return dataclasses.replace(self._recipe, layers=(*rows, *self._recipe.layers))

    def _sensitivity(
        self,
        first: Conversion,
        ranges: dict,
        advance: Callable[[], None],
    ) -> dict[str, float]:
        """Of each layer, the noise at the outputs when it alone is quantized."""
        samples = []
        for sample in self._samples(first):
            samples.append(sample)
            if len(samples) == N_SAMPLES:
                break
        called = (inner for graph in first.quantized_graphs for inner in graph.reachable())
        present = {op.kind for graph in called for op in graph.ops}
        unrolled = [exactly(kind) for kind in UNROLLED if kind not in present]
        rows = {}
        for name, layer in first.layers.items():
            alone = (
                *(row for row in self._recipe.layers if row.scheme is None),
                Layers("|".join([exactly(name, *layer.moves), *unrolled]), self._recipe.main),
                Layers("", None),
            )
            recipe = dataclasses.replace(self._recipe, layers=alone)
            conversion, _ = self._quietly(recipe, ranges)
            rows[name] = noise(conversion.files[0][1], conversion.files[1][1], samples)
            advance()
        return rows

    def _quietly(self, recipe: Recipe, ranges: dict) -> tuple[Conversion, bytes]:
        """A file; what it would warn of, the first one has warned of, or was asked for.

        Where a layer is written in another form than in the first one, all is measured anew.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._convert(self._with(recipe, ranges))
            except CalibrationError:
                return self._convert(self._with(recipe))

    def _with(self, recipe: Recipe, ranges: dict | None = None, is_first: bool = False) -> Settings:
        """The settings with another recipe, without another proof of the float model."""
        settings = copy.copy(self._settings)
        settings.quantization_algorithms = []
        settings.accuracy_budget = None
        if ranges is not None:
            recipe = dataclasses.replace(recipe, ranges=ranges)
        settings.quantization_recipe = recipe
        settings.verify = self._settings.verify and is_first
        return settings

    def _metric(self, content: bytes) -> float:
        """What the user's function says of a file.

        Raises ValueError unless it is a number, CalibrationError where the function raised.
        """
        with telling_who_raised("the metric of accuracy_budget"):
            value = self._budget.metric(content)
        if not isinstance(value, SupportsFloat):
            raise ValueError(
                f"the metric of accuracy_budget must give a number, got {type(value).__name__}"
            )
        value = float(value)
        if not np.isfinite(value):
            raise ValueError(f"the metric of accuracy_budget must be finite, got {value}")
        return value

    def _candidate(
        self, names: tuple[str, ...], layers: dict[str, QuantizedLayer], content: bytes
    ) -> Candidate:
        share = sum(layers[name].share for name in names)
        return Candidate(names, share, len(content), self._metric(content))


def exactly(*names: str) -> str:
    """The pattern that is found in these names alone."""
    choice = "|".join(map(re.escape, names))
    return f"^({choice})$" if len(names) > 1 else f"^{choice}$"


def quantized_layers(graphs: Iterable[Graph], recipe: Recipe) -> dict[str, QuantizedLayer]:
    """The layers to which a recipe gives scales of their own, by the names of their results."""
    shares: dict[str, float] = {}
    moves: dict[str, dict[str, None]] = {}
    total = 0
    called = dict.fromkeys(inner for graph in graphs for inner in graph.reachable())
    for op in (op for graph in called for op in graph.ops):
        steps = work_of(op)
        total += steps
        rules = [rule_of(op, scheme) for scheme in recipe.integer_schemes_of(op)]
        if any(rule is not None and not rule.same_scale for rule in rules):
            name = op.output.name
            shares[name] = shares.get(name, 0) + steps
            moves.setdefault(name, {}).update(dict.fromkeys(moves_before(op, recipe)))
    return {
        name: QuantizedLayer(steps / max(total, 1), tuple(moves[name]))
        for name, steps in shares.items()
    }


def moves_before(op: Op, recipe: Recipe) -> Iterator[str]:
    """The names of what only moves the inputs of `op`, and gives them in the integers it gets."""
    for tensor in op.present_inputs:
        before = tensor.producer
        if before is None:
            continue
        rules = (rule_of(before, scheme) for scheme in recipe.integer_schemes_of(before))
        if any(rule is not None and rule.same_scale for rule in rules):
            yield before.output.name
            yield from moves_before(before, recipe)


def noise(
    before: Sequence[Function], after: Sequence[Function], samples: Iterable[Sample]
) -> float:
    """The energy of the error over that of the answer, the mean over outputs and samples."""
    from ..check import ports

    ratios = []
    pairs = [(f.interpreter(), g.interpreter()) for f, g in zip(before, after, strict=True)]
    for i, _, arrays in samples:
        (plain, integer), f, g = pairs[i], before[i], after[i]
        inputs, outputs = ports(g, integer)
        quantized = [port.quantize(x) for port, x in zip(inputs, arrays, strict=True)]
        answers = zip(f.run(plain, arrays), g.run(integer, quantized), outputs, strict=True)
        for expected, actual, port in answers:
            if expected.dtype == np.float32 and expected.size:
                error = port.dequantize(actual).astype(np.float64) - expected
                energy = max(float(np.square(expected.astype(np.float64)).sum()), 1e-12)
                ratios.append(float(np.square(error).sum()) / energy)
    return float(np.mean(ratios)) if ratios else 0.0


def with_front(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates by their work in wider layers; those that no other one beats are marked."""
    ordered = sorted(candidates, key=lambda row: (row.share, -row.metric))
    best, marked = -np.inf, []
    for row in ordered:
        marked.append(row._replace(is_on_front=row.metric > best))
        best = max(best, row.metric)
    return tuple(marked)
