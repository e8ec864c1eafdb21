"""The quantized file beside its float form: signal to noise of each output.

Quantization costs accuracy, so that nothing here asks for equal answers. An output that carries no
signal any more is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.errors import ConverterError
from ..api.ports import Port, port_of

if TYPE_CHECKING:
    from ...interpreter.interpreter import Interpreter
    from ..ir.graph import Graph, Tensor
    from ..verify.verification import Function

LIMITS = {np.dtype("i1"): (-128, 127), np.dtype("u1"): (0, 255)}
SMALLEST = 1e-12  # energy of a signal or of noise below which it counts as none


@dataclass
class Comparison:
    """What was seen of one output over all samples.

    Attributes:
        name: the output's name.
        signal, noise: sums of squares of the float answer and of the difference.
        low, high: extent of the float answer.
        quantized: extent of the quantized one.
    """

    name: str
    signal: float = 0.0
    noise: float = 0.0
    low: float = inf
    high: float = -inf
    quantized: list[float] = field(default_factory=lambda: [inf, -inf])

    def note(self, want: np.ndarray, got: np.ndarray) -> None:
        """Takes another answer in."""
        if not np.isfinite(got).all():
            raise ConverterError(
                f"the quantized model gives NaN or infinity for '{self.name}' where the float "
                "model is finite; please report it"
            )
        if not want.size:
            return
        self.signal += float(np.square(want).sum())
        self.noise += float(np.square(want - got).sum())
        self.low, self.high = min(self.low, want.min()), max(self.high, want.max())
        self.quantized = [
            min(self.quantized[0], got.min()),
            max(self.quantized[1], got.max()),
        ]

    @property
    def decibels(self) -> float:
        """10 log10(signal / noise); inf where there is no noise."""
        if self.noise <= SMALLEST * max(self.signal, SMALLEST):
            return inf
        return 10 * log10(max(self.signal, SMALLEST) / self.noise)

    def check(self, step: float) -> None:
        """Raises ConverterError when the quantized output tells nothing of the float one.

        Args:
            step: what one step of the stored output stands for, 0 for a real one.
        """
        low, high = self.quantized
        spread = self.high - self.low
        if low == high and spread > max(2 * step, 1e-3 * max(abs(self.low), abs(self.high))):
            raise ConverterError(
                f"the quantized model always gives {low:.4g} for '{self.name}', the float model "
                f"{self.low:.4g} to {self.high:.4g}; {ADVICE}"
            )
        if self.decibels < 0 and spread > 2 * step:
            raise ConverterError(
                f"quantization leaves nothing of '{self.name}': its error is larger than the "
                f"signal ({self.decibels:.1f} dB); {ADVICE}"
            )


ADVICE = (
    "does the representative dataset look like the model's real inputs (preprocessing, range)? "
    "converter.verify = False writes the file all the same"
)


def compare(
    before: Function, after: Function, samples: Sequence[list[np.ndarray]]
) -> dict[str, float]:
    """Runs the float file and the quantized one; decibels of signal to noise by output name.

    Outputs that are not real in the float file are left out.

    Raises ConverterError when an output is constant, not finite or drowns in noise.
    """
    real, quantized = before.interpreter(), after.interpreter()
    (_, answers), (inputs, outputs) = ports(before, real), ports(after, quantized)
    found = [Comparison(port.names[0]) for port in answers]
    seen: set[int] = set()
    for arrays in samples:
        wanted = before.run(real, arrays)
        given = [port.quantize(array) for port, array in zip(inputs, arrays, strict=True)]
        for i, (want, got) in enumerate(zip(wanted, after.run(quantized, given), strict=True)):
            if want.dtype == np.float32 and np.isfinite(want).all():
                found[i].note(
                    want.astype(np.float64), outputs[i].dequantize(got).astype(np.float64)
                )
                seen.add(i)
    for i in sorted(seen):
        found[i].check(step=outputs[i].quantization[0])
    return {found[i].name: found[i].decibels for i in sorted(seen)}


class Form(NamedTuple):
    """One of several scales in which a tensor of a quantized graph is read.

    Attributes:
        source: the tensor, which in the float graph is real.
        stored: what the reader gets.
        reader: kind and name of the reader.
    """

    source: Tensor
    stored: Tensor
    reader: str


def forms(graph: Graph) -> list[Form]:
    """The forms of each tensor of a quantized graph that is read in several scales."""
    rows = []
    for op in graph.ops:
        is_requantized = op.kind == "QUANTIZE" and op.inputs[0].quantization is not None
        if not is_requantized or not op.output.readers:
            continue
        source = op.inputs[0]
        for stored in (source, op.output):
            operators = [one for one in stored.readers if one.kind != "QUANTIZE"]
            rows += [Form(source, stored, f"{one.kind} '{one.output.name}'") for one in operators]
    return list(dict.fromkeys(rows))


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
    places = [{tensor: i for i, tensor in enumerate(row)} for row in tensors]
    written = [f for f in forms(graph) if f.source in places[0] and f.stored in places[1]]
    if not written:
        return {}
    real, quantized = before.interpreter(preserve=True), after.interpreter(preserve=True)
    (inputs, _) = ports(after, quantized)
    comparisons = [Comparison(f"{form.source.name} -> {form.reader}") for form in written]
    for arrays in samples:
        before.run(real, arrays)
        stored = [port.quantize(array) for port, array in zip(inputs, arrays, strict=True)]
        after.run(quantized, stored)
        for form, one in zip(written, comparisons, strict=True):
            params = form.stored.quantization
            want = real.get_tensor(places[0][form.source], before.subgraph).astype(np.float64)
            got = quantized.get_tensor(places[1][form.stored], after.subgraph).astype(np.float64)
            steps = np.array([*LIMITS[form.stored.dtype]]) - params.zero_point
            one.note(
                np.clip(want, *(steps * params.scale)),
                (got - params.zero_point) * params.scale,
            )
    return {one.name: one.decibels for one in comparisons}


def ports(function: Function, interpreter: Interpreter) -> tuple[list[Port], list[Port]]:
    """The inputs and the outputs, in the function's order."""
    if function.signature is None:
        ends = (interpreter.get_input_details(), interpreter.get_output_details())
        inputs, outputs = ([port_of(detail) for detail in end] for end in ends)
        return inputs, outputs
    runner = interpreter.get_signature_runner(function.signature.key)
    inputs, outputs = runner.get_input_details(), runner.get_output_details()
    return (
        [port_of(inputs[name], name) for name in function.signature.inputs],
        [port_of(outputs[name], name) for name in function.signature.outputs],
    )
