"""The quantized file beside its float form: signal to noise of each output.

Quantization costs accuracy, so that nothing here asks for equal answers. An output that carries no
signal any more is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.errors import ConverterError
from ..api.ports import Port, normals_within, port_of
from ..callers import caller

if TYPE_CHECKING:
    from ...interpreter.interpreter import Interpreter
    from ..ir.graph import Graph, Tensor
    from ..verify.verification import Function

SMALLEST = 1e-12  # energy of a signal or of noise below which it counts as none


@dataclass
class Comparison:
    """What was measured of one output over all samples.

    Attributes:
        name: the output's name.
        signal, noise: sums of squares of the float answer and of the difference.
        n_samples, n_lost: how many there were, and how many of them had more noise than signal.
        low, high: extent of the float answer.
        quantized: extent of the quantized one.
    """

    name: str
    signal: float = 0.0
    noise: float = 0.0
    n_samples: int = 0
    n_lost: int = 0
    low: float = inf
    high: float = -inf
    quantized: list[float] = field(default_factory=lambda: [inf, -inf])

    def add(self, expected: np.ndarray, actual: np.ndarray) -> None:
        """Adds another answer."""
        if not np.isfinite(actual).all():
            raise ConverterError(
                f"the quantized model gives NaN or infinity for '{self.name}' where the float "
                "model is finite; please report it"
            )
        if not expected.size:
            return
        signal, noise = np.square(expected).sum(), np.square(expected - actual).sum()
        self.signal, self.noise = self.signal + float(signal), self.noise + float(noise)
        self.n_samples, self.n_lost = self.n_samples + 1, self.n_lost + int(noise > signal)
        self.low, self.high = min(self.low, expected.min()), max(self.high, expected.max())
        self.quantized = [
            min(self.quantized[0], actual.min()),
            max(self.quantized[1], actual.max()),
        ]

    @property
    def decibels(self) -> float:
        """10 log10(signal / noise); inf where there is no noise."""
        if self.noise <= SMALLEST * max(self.signal, SMALLEST):
            return inf
        return 10 * log10(max(self.signal, SMALLEST) / self.noise)

    def problem(self, step: float) -> str:
        """Why the quantized output tells nothing of the float one, "" when it does.

        Args:
            step: what one step of the quantized output stands for, 0 for a float32 one.
        """
        low, high = self.quantized
        extent = self.high - self.low
        if low == high and extent > max(2 * step, 1e-3 * max(abs(self.low), abs(self.high))):
            return (
                f"the quantized model always gives {low:.4g} for '{self.name}', the float model "
                f"{self.low:.4g} to {self.high:.4g}"
            )
        is_lost = self.decibels < 0 and 2 * self.n_lost >= self.n_samples  # not by one outlier
        if is_lost and extent > 2 * step:
            return (
                f"quantization leaves nothing of '{self.name}': its error is larger than the "
                f"signal ({self.decibels:.1f} dB)"
            )
        return ""


ADVICE = (
    "does the representative dataset look like the model's real inputs (preprocessing, range), "
    "and have the weights bits enough? converter.verify = False writes the file all the same"
)

STATED_ADVICE = (
    "do quantized_input_stats and the ranges of FakeQuant operations hold for the model's inputs?"
)
SAVED_ADVICE = (
    "it was measured on random inputs, which a saved calibration knows nothing of: set "
    "representative_dataset or verify_inputs to see what it loses on the model's own"
)


def compare(
    before: Function,
    after: Function,
    samples: Sequence[list[np.ndarray]],
    doubt: str = "",
) -> dict[str, float]:
    """Runs the float file and the quantized one; decibels of signal to noise by output name.

    Outputs that are not float32 in the float file are left out.

    Raises ConverterError when an output is constant or drowns in noise; with a `doubt` whether the
    ranges or these inputs tell that, it is a warning.
    """
    plain, int8 = before.interpreter(), after.interpreter()
    (_, answers), (inputs, outputs) = ports(before, plain), ports(after, int8)
    comparisons = [Comparison(port.names[0]) for port in answers]
    compared: set[int] = set()
    for arrays in samples:
        expected_outputs = before.run(plain, arrays)
        quantized_inputs = [
            port.quantize(array) for port, array in zip(inputs, arrays, strict=True)
        ]
        for i, (expected, actual) in enumerate(
            zip(expected_outputs, after.run(int8, quantized_inputs), strict=True)
        ):
            if expected.dtype == np.float32 and np.isfinite(expected).all():
                value = outputs[i].dequantize(actual).astype(np.float64)
                comparisons[i].add(expected.astype(np.float64), value)
                compared.add(i)
    for i in sorted(compared):
        problem = comparisons[i].problem(step=outputs[i].quantization[0])
        if problem and not doubt:
            raise ConverterError(f"{problem}; {ADVICE}")
        if problem:
            warnings.warn(f"{problem}; {doubt}", stacklevel=caller())
    return {comparisons[i].name: comparisons[i].decibels for i in sorted(compared)}


def within_limits(graph: Graph, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Random normals for the inputs of a quantized graph, within what its integers can hold."""
    rows = []
    for tensor, array in zip(graph.inputs, arrays, strict=True):
        quantizers = [op.output for op in tensor.readers if op.kind == "QUANTIZE"]
        integers = next(iter(quantizers), tensor)
        params = integers.quantization
        if params is None or array.dtype.kind != "f" or np.dtype(integers.dtype).kind not in "iu":
            rows.append(array)
            continue
        rows.append(normals_within(array, params.limits(np.dtype(integers.dtype))))
    return rows


class Form(NamedTuple):
    """One of several scales in which a tensor of a quantized graph is read.

    Attributes:
        source: the tensor, which in the float graph is float32.
        quantized: what the reader gets.
        reader: kind and name of the reader.
    """

    source: Tensor
    quantized: Tensor
    reader: str


def forms(graph: Graph) -> list[Form]:
    """The forms of each tensor of a quantized graph that is read in several scales."""
    all_forms = []
    for op in graph.ops:
        is_requantized = op.kind == "QUANTIZE" and op.inputs[0].quantization is not None
        if not is_requantized or not op.output.readers:
            continue
        source = op.inputs[0]
        for quantized in (source, op.output):
            readers = [reader for reader in quantized.readers if reader.kind != "QUANTIZE"]
            names = [f"{reader.kind} '{reader.name}'" for reader in readers]
            all_forms += [Form(source, quantized, name) for name in names]
    return list(dict.fromkeys(all_forms))


def compare_readers(
    graph: Graph,
    before: Function,
    after: Function,
    tensors: tuple[Sequence[Tensor], Sequence[Tensor]],
    samples: Sequence[list[np.ndarray]],
) -> dict[str, float]:
    """Decibels of signal to noise of each form of a tensor that is read in several scales.

    What an operator such as MINIMUM may cut off is no noise: the float values are cut off, too.

    Args:
        graph: the quantized graph.
        before, after: the float file's function and the quantized one's.
        tensors: the IR tensors behind the tensor indices of both.
        samples: inputs.

    Returns:
        Decibels by "tensor -> reader".
    """
    indices = [{tensor: i for i, tensor in enumerate(row)} for row in tensors]
    comparable = [f for f in forms(graph) if f.source in indices[0] and f.quantized in indices[1]]
    if not comparable:
        return {}
    plain, int8 = before.interpreter(preserve=True), after.interpreter(preserve=True)
    (inputs, _) = ports(after, int8)
    comparisons = [Comparison(f"{form.source.name} -> {form.reader}") for form in comparable]
    for arrays in samples:
        before.run(plain, arrays)
        quantized_inputs = [
            port.quantize(array) for port, array in zip(inputs, arrays, strict=True)
        ]
        after.run(int8, quantized_inputs)
        for form, comparison in zip(comparable, comparisons, strict=True):
            params = form.quantized.quantization
            expected = plain.get_tensor(indices[0][form.source], before.subgraph).astype(np.float64)
            actual = int8.get_tensor(indices[1][form.quantized], after.subgraph).astype(np.float64)
            comparison.add(
                np.clip(expected, *params.limits(np.dtype(form.quantized.dtype))),
                (actual - params.zero_point) * params.scale,
            )
    return {comparison.name: comparison.decibels for comparison in comparisons}


def ports(function: Function, interpreter: Interpreter) -> tuple[list[Port], list[Port]]:
    """The inputs and the outputs, in the function's order."""
    if function.signature is None:
        details = (interpreter.get_input_details(), interpreter.get_output_details())
        inputs, outputs = (list(map(port_of, part)) for part in details)
        return inputs, outputs
    runner = interpreter.get_signature_runner(function.signature.key)
    inputs, outputs = runner.get_input_details(), runner.get_output_details()
    return (
        [port_of(inputs[name], name) for name in function.signature.inputs],
        [port_of(outputs[name], name) for name in function.signature.outputs],
    )
