"""Proof by execution: the source and the written file answer alike.

The source's answers are its oracle's. A float file must agree within 1e-4 of each output's largest
value, at four choices of sizes where some are unknown (trial_inputs.py).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.registry import is_pure
from ...graph.core.signatures.limits import available_memory
from ...schema.custom_ops import is_custom_op
from ...schema.errors import ConverterError, DeadlineExceededError, OpError
from ..callers import caller
from ..lowering.fake_quant import has_fake_quant
from ..sources.effects import CHECKPOINT_READERS, CHECKPOINT_WRITERS
from ..tf.lower import CALLS
from .oracle import NotVerified, Oracle
from .trial_inputs import ADVICE, OPTIONS, SEED, magnitudes, n_runs, redrawn, trial_inputs

if TYPE_CHECKING:
    from ...interpreter.interpreter import Interpreter
    from ..ir.graph import Graph, Origin, Signature, Sizes

CHECKPOINTS = CHECKPOINT_READERS + CHECKPOINT_WRITERS
TOLERANCE = 1e-4  # of an output's largest absolute value
LEVELS = 2e-2  # the same behind FAKE_QUANT, which makes a level of 1/255 of the last bit
STEPS = {"f": 2.0**-10, "V": 2.0**-7}  # between 16-bit floats (float16, bfloat16) from 1 on
ROUNDINGS = 4  # steps by which a 16-bit float may differ
FLIPS = 1e-3  # share of integers that rounding may turn over, as of an ArgMax near a tie
SECONDS = 10.0  # an oracle that needs longer is given up
MEMORY = 4 << 30  # bytes the oracle may use
SMALLEST = 1e-6  # a largest expected value below counts as this
ZEROS = 1e-3  # where all are 0, as numbers of about 1 cancel each other
FILE_SECONDS = 60.0  # the same for the file that was written
SECONDS_OF_SIZES = 1.0  # what finding sizes that are large enough may take, of the processor's time
N_AGREED_REFUSALS = 2  # refused sizes of which the file computes nothing; no more of them are tried
EXACT = 1 << 10  # whole numbers up to here, such as ratios of sizes, are not changed by rounding
NUDGE = 1e-6  # relative change of the inputs that rounding errors compare with


@dataclass(frozen=True)
class Function:
    """A flatbuffer's function, as verification runs it.

    Attributes:
        content: the flatbuffer.
        signature: the function's key and the names of its inputs and outputs; None for the first
            subgraph of a file without signatures.
        origins: tensor index in the file -> the source tensor it must equal.
        subgraph: index of the function's subgraph.
        sizes: the dimensions of its inputs as the IR has them, to choose trial inputs by.
        is_bounded: whether infinite constants of the source are finite in it, so that only finite
            answers can be compared.
        has_state: whether it keeps something from run to run.
        rounding: what its outputs may differ by because of numbers of few digits within.
    """

    content: bytes
    signature: Signature | None
    origins: dict[int, Origin]
    subgraph: int = 0
    sizes: tuple[Sizes | None, ...] = ()
    is_bounded: bool = False
    has_state: bool = False
    rounding: float = 0.0

    def interpreter(self, preserve: bool = False) -> Interpreter:
        """A new interpreter for `run`."""
        from ...interpreter.interpreter import Interpreter

        return Interpreter(model_content=self.content, experimental_preserve_all_tensors=preserve)

    def is_empty(self, shapes: Iterable[tuple[int, ...]]) -> bool:
        """Whether it takes no inputs of these shapes, or computes nothing from them."""
        if self.subgraph:
            return False
        interpreter = self.interpreter()
        details = interpreter.get_input_details()
        if self.signature is not None:
            named = interpreter.get_signature_runner(self.signature.key).get_input_details()
            details = [named[name] for name in self.signature.inputs]
        try:
            for detail, shape in zip(details, shapes, strict=True):
                interpreter.resize_tensor_input(detail["index"], shape)
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError, MemoryError):
            return True
        return any(0 in detail["shape"] for detail in interpreter.get_tensor_details())

    def run(self, interpreter: Interpreter, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs, in order.

        Raises ConverterError when the file cannot be run, NotVerified when it is too large.
        """
        try:
            if self.signature is None:
                return run_first(interpreter, arrays, FILE_SECONDS)
            key, inputs = self.signature.key, self.signature.inputs
            outputs = run_signature(interpreter, key, inputs, arrays, FILE_SECONDS)
        except TimeoutError:
            text = f"running the converted model takes over {FILE_SECONDS:g} s; {ADVICE}"
            raise NotVerified(text) from None
        except MemoryError as error:
            raise NotVerified(f"there is not enough memory to run it: {error}") from None
        except (RuntimeError, ValueError) as error:
            raise ConverterError(
                f"the converted model does not run on inputs of the shapes {shapes_of(arrays)}, "
                f"which the source takes: {error}; please report it; "
                "converter.verify = False writes the file all the same"
            ) from error
        return [outputs[name] for name in self.signature.outputs]


def run_first(
    interpreter: Interpreter, arrays: Sequence[np.ndarray], seconds: float | None = None
) -> list[np.ndarray]:
    """The outputs of a file's first subgraph, in order; TimeoutError after `seconds`."""
    details = interpreter.get_input_details()
    for detail, array in zip(details, arrays, strict=True):
        interpreter.resize_tensor_input(detail["index"], array.shape)
    interpreter.allocate_tensors()
    for detail, array in zip(details, arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke(timeout=seconds)
    outputs = interpreter.get_output_details()
    return [interpreter.get_tensor(detail["index"]) for detail in outputs]


def run_signature(
    interpreter: Interpreter,
    key: str,
    names: Iterable[str],
    arrays: Iterable[np.ndarray],
    seconds: float | None = None,
) -> dict[str, np.ndarray]:
    """The outputs of a signature, by name; TimeoutError after `seconds`."""
    runner = interpreter.get_signature_runner(key)
    feeds: dict[str, Any] = dict(zip(names, arrays, strict=True))
    return runner(**{"timeout": seconds, **feeds})


@dataclass
class Verified:
    """What a source and its file were compared on; true when that is something.

    Attributes:
        ran: the shapes of the inputs, in words.
        refused: shapes that the source does not take.
        inputs: the first of the inputs themselves; no field, as it is for what follows alone.
    """

    ran: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs: list[np.ndarray] = []

    def __bool__(self) -> bool:
        return bool(self.ran)


def verify(
    oracle: Oracle,
    function: Function,
    samples: Iterable[list[np.ndarray]] | None = None,
    seconds: float = SECONDS,
    first: Sequence[list[np.ndarray]] = (),
) -> Verified:
    """Compares a source and what was written from it on the same inputs.

    Args:
        oracle: the source; its inputs and outputs are the function's.
        function: what was written from it.
        samples: inputs to compare on, arrays in input order; None for seeded random ones.
        seconds: how long the source may take in all.
        first: inputs to compare on before any other, which the source must take.

    Returns:
        What was compared; nothing where the source cannot be run, is random or unstable.

    Raises:
        ConverterError: an output differs; names the first operator that does.

    Warns:
        UserWarning: 'not verified', when the source cannot be run here, and why.
    """
    source = _Source(oracle, seconds, seconds)
    verified = Verified()
    first_refusal: NotVerified | None = None
    without_numbers = _WithoutNumbers()
    interpreter: Interpreter | None = None
    n_agreed = 0
    spent = 0.0

    def is_hopeless(shapes: Sequence[tuple[int, ...]]) -> bool | None:
        nonlocal spent
        if n_agreed < N_AGREED_REFUSALS:
            return False
        if spent > SECONDS_OF_SIZES:
            return None
        start = time.process_time()
        is_empty = function.is_empty(shapes)
        spent += time.process_time() - start
        return is_empty

    def compared(arrays: list[np.ndarray], is_drawn: bool) -> list[np.ndarray]:
        nonlocal interpreter
        arrays, expected = source.accepted(arrays, is_drawn)
        if interpreter is None or function.has_state:
            interpreter = function.interpreter()
        compare(source, function, arrays, expected, function.run(interpreter, arrays))
        without_numbers.note(oracle.outputs, expected)
        return arrays

    try:
        oracle.check()
        others = samples
        if others is None:
            others = trial_inputs(oracle, function.sizes, is_hopeless)
        for n, arrays in enumerate(chain(first, others)):
            is_drawn = samples is None and n >= len(first)
            try:
                try:
                    arrays = compared(arrays, is_drawn)
                except Undefined:
                    if not is_drawn:
                        raise
                    arrays = compared(magnitudes(arrays), is_drawn)
            except Refused as refusal:
                if n < len(first):
                    raise
                first_refusal = first_refusal or refusal
                verified.refused.append(shapes_of(arrays))
                n_agreed += function.is_empty(array.shape for array in arrays)
                continue
            verified.inputs = verified.inputs or arrays
            verified.ran.append(shapes_of(arrays))
            if samples is None and len(verified.ran) == n_runs(oracle) + len(first):
                break
        if not verified:
            raise first_refusal or NotVerified("there is nothing to compare")
        if samples is None and not first and without_numbers.names:
            compared(magnitudes(verified.inputs), True)
            without_numbers.check(verified)
    except NotVerified as reason:
        unstable = isinstance(reason, Unstable)
        scope = "not verified"
        if verified:
            scope = f"verified only for inputs of the shapes {' and '.join(verified.ran)}"
        text = f"the converted model was {scope}: {reason}"
        warnings.warn(text, stacklevel=caller())
        return Verified(refused=verified.refused) if unstable else verified
    return verified


def runs_custom_ops(graphs: Iterable[Graph]) -> bool:
    """Whether verification can run all custom operators of the graphs.

    Warns:
        UserWarning: 'not verified', when some are not registered, or write or read checkpoints.
    """
    names = {op.custom_code for graph in graphs for op in graph.ops if op.kind == "CUSTOM"}
    unknown = sorted(name for name in names if not is_custom_op(name) and not is_flex_op(name))
    files = [name for name in unknown if name.removeprefix("Flex") in CHECKPOINTS]
    missing = [name for name in unknown if name not in files]
    if unknown:
        reason = f"{', '.join(files)} would write or read a checkpoint"
        if missing:
            reason = (
                f"nobody registered the custom operators {', '.join(missing)} with "
                "flatlite.lite.custom_op"
            )
        warnings.warn(f"the converted model was not verified: {reason}", stacklevel=caller())
    return not unknown


def is_flex_op(name: str) -> bool:
    """Whether a custom operator is one of TensorFlow's that graph/'s kernels compute."""
    return name.startswith("Flex") and is_pure(name.removeprefix("Flex"))


class Refused(NotVerified):
    """The source does not take these inputs."""


class Undefined(Refused):
    """The source's results for these inputs are those of the processor that runs it."""


class Unstable(NotVerified):
    """Rounding changes an output as much as the conversion did."""


class _WithoutNumbers:
    """The outputs of which no run has given a number, but NaN alone.

    Attributes:
        names: their names; None before the first run.
    """

    def __init__(self) -> None:
        self.names: set[str] | None = None

    def note(self, names: Sequence[str], outputs: Sequence[np.ndarray]) -> None:
        """Takes in the outputs of another run."""
        pairs = zip(names, outputs, strict=True)
        nan = {n for n, y in pairs if y.dtype.kind in "fc" and y.size and np.isnan(y).all()}
        self.names = nan if self.names is None else self.names & nan

    def check(self, verified: Verified) -> None:
        """Raises NotVerified where there are some, which takes back what was compared."""
        if self.names:
            verified.ran.clear()
            raise NotVerified(
                f"every number of its output '{min(self.names)}' is NaN on all inputs that were "
                f"drawn, so that nothing was compared; {ADVICE}, or look for what makes it NaN"
            )


@dataclass
class _Source:
    """The source's oracle, and how many of its seconds remain."""

    oracle: Oracle
    seconds_left: float
    seconds: float

    def accepted(
        self, arrays: list[np.ndarray], is_drawn: bool
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Inputs that the source takes, and its outputs; where it does not take drawn ones, others
        of the same shapes are tried.
        """
        try:
            return arrays, self.run(self.oracle.outputs, arrays)
        except Refused:
            for others in redrawn(arrays) if is_drawn else ():
                with suppress(Refused):
                    return others, self.run(self.oracle.outputs, others)
            raise

    def run(self, names: Sequence[str], arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The source's own answer.

        Raises Refused when it does not take the inputs, NotVerified when the time is over.
        """
        start = time.monotonic()
        try:
            memory = min(available_memory() * 3 // 4, MEMORY)
            return self.oracle.run(names, arrays, max(self.seconds_left, 0.0), memory)
        except DeadlineExceededError:
            text = (
                f"running the source takes over {self.seconds:g} s; give smaller inputs: {OPTIONS}"
            )
            raise NotVerified(text) from None
        except (OpError, ValueError) as error:
            raise Refused(f"the source refuses the inputs: {error}; {ADVICE}") from None
        finally:
            self.seconds_left -= time.monotonic() - start


def compare(
    source: _Source,
    function: Function,
    arrays: list[np.ndarray],
    expected: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
) -> None:
    """Raises ConverterError when an output differs, NotVerified when the source is unstable."""
    for name, expected_output, actual in zip(source.oracle.outputs, expected, outputs, strict=True):
        if (
            function.is_bounded
            and expected_output.dtype.kind == "f"
            and expected_output.shape == actual.shape
        ):
            actual = np.where(np.isfinite(expected_output), actual, expected_output)
        error = difference(expected_output, actual)
        if error <= max(tolerance(expected_output), function.rounding):
            continue
        check_casts(source, arrays)
        unstable, changed = sensitivity(source, name, arrays, expected_output)
        if error <= 10 * unstable:
            if function.rounding >= LEVELS and are_levels_alike(expected_output, actual):
                continue
            raise Unstable(
                f"its output '{name}' is unstable: a relative change of the {changed} by "
                f"{NUDGE:g} changes it as much as the conversion does "
                f"({describe_difference(expected_output, actual)})"
            )
        raise ConverterError(
            f"the converted model does not give the source's answer for '{name}' on inputs "
            f"of the shapes {shapes_of(arrays)}: {describe_difference(expected_output, actual)}"
            f"{first_difference(source, function, arrays)}; "
            "please report it; converter.verify = False writes the file all the same"
        )


def check_casts(source: _Source, arrays: list[np.ndarray]) -> None:
    """Raises Undefined when the source makes integers of floats that their type does not hold."""
    casts = source.oracle.integer_casts
    floats = source.run([name for name, _ in casts], arrays) if casts else []
    for (name, dtype), x in zip(casts, floats, strict=True):
        if x.dtype.kind not in "fV":
            continue
        limits = np.iinfo(dtype)
        whole = np.trunc(x.astype(np.float64))
        outside = ~((limits.min <= whole) & (whole <= limits.max))
        if outside.any():
            raise Undefined(
                f"it casts '{name}' to {dtype}, which is undefined for {x[outside].flat[0]:.4g}; "
                f"{ADVICE}"
            )


def rounding_of(graph: Graph) -> float:
    """What the outputs of a graph may differ by because of FAKE_QUANT and 16-bit floats within."""
    dtypes = {t.dtype for called in graph.reachable() for op in called.ops for t in op.outputs}
    steps = [_rounding(dtype) for dtype in dtypes if dtype.kind in STEPS and dtype.itemsize == 2]
    return max(steps + [LEVELS] * has_fake_quant([graph]), default=0.0)


def _rounding(dtype: np.dtype) -> float:
    """What results of a type of 16-bit floats may differ by."""
    return ROUNDINGS * STEPS[dtype.kind]


def tolerance(expected: np.ndarray) -> float:
    """What `difference` may be for this expected value.

    The source rounds 16-bit floats after each operation, the file computes in float32.
    """
    if expected.dtype.kind not in "fcV":
        return FLIPS
    return _rounding(expected.dtype) if expected.dtype.itemsize == 2 else TOLERANCE


def difference(expected: np.ndarray, actual: np.ndarray) -> float:
    """The largest difference as a share of the largest expected value; inf for another shape.

    For integers, booleans and strings the share of elements that differ. The largest and smallest
    float32 count as infinite: TFLite's extremes of no elements are these, TensorFlow's infinite.
    """
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return np.inf
    if expected.dtype.kind not in "fcV":
        return float(np.mean(expected != actual)) if expected.size else 0.0
    expected, actual = as_float64(expected), as_float64(actual)
    with np.errstate(invalid="ignore"):
        same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
        extreme = np.isinf(expected) & (np.abs(actual) == np.finfo(np.float32).max)
        differing = ~(same | (extreme & (np.sign(expected) == np.sign(actual))))
        errors = np.abs(expected[differing] - actual[differing])
    if not errors.size:
        return 0.0
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    scale = max(scale, SMALLEST) if scale else ZEROS
    return float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max() / scale)


def as_float64(array: np.ndarray) -> np.ndarray:
    """Floating point numbers of any width as float64, complex ones as complex128."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def describe_difference(expected: np.ndarray, actual: np.ndarray) -> str:
    """The difference in words, for a message."""
    if expected.shape != actual.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if expected.dtype != actual.dtype:
        return f"type {actual.dtype}, expected {expected.dtype}"
    if expected.dtype.kind not in "fcV":
        return f"{np.count_nonzero(expected != actual)} of {expected.size} elements differ"
    expected, actual = as_float64(expected), as_float64(actual)
    n_nonfinite = np.count_nonzero(np.isfinite(expected) != np.isfinite(actual))
    if n_nonfinite:
        return f"{n_nonfinite} of {expected.size} elements are finite in one and not in the other"
    finite = np.isfinite(expected) & np.isfinite(actual)
    error = np.abs(expected[finite] - actual[finite]).max(initial=0.0)
    largest = np.abs(expected[finite]).max()
    return f"largest difference {error:.3g}, largest expected value {largest:.3g}"


def shapes_of(arrays: Sequence[np.ndarray]) -> str:
    """The shapes of some arrays, for a message."""
    return ", ".join(str(array.shape) for array in arrays) or "none"


def has_floats(arrays: Sequence[np.ndarray]) -> bool:
    """Whether any of them holds floating point numbers."""
    return any(array.dtype.kind in "fc" for array in arrays)


def sensitivity(
    source: _Source, name: str, arrays: list[np.ndarray], expected: np.ndarray
) -> tuple[float, str]:
    """The `difference` in a source tensor when its inputs, or its constants, change as rounding
    might change them, and which of them it is.

    Behind a quantization only the constants tell, as it takes the change of the inputs away, and
    its own results, which may lie on the ties of another one's grid.
    """
    generator = np.random.default_rng(SEED)

    def nudged(array: np.ndarray) -> np.ndarray:
        signs = generator.choice(np.array([-NUDGE, NUDGE]), array.shape)
        is_exact = (array == np.round(array)) & (np.abs(array) <= EXACT)
        return np.where(is_exact, array, array * (1 + signs)).astype(array.dtype)

    differences = []
    if has_floats(arrays):
        inputs = [nudged(array) if array.dtype.kind in "fc" else array for array in arrays]
        differences.append((difference(expected, source.run([name], inputs)[0]), "inputs"))
    for oracle, changed in (
        (source.oracle.changed(nudged), "constants"),
        (source.oracle.requantized(nudged, name, arrays), "quantized values"),
    ):
        other = replace(source, oracle=oracle)
        differences.append((difference(expected, other.run([name], arrays)[0]), changed))
    return max(differences)


def are_levels_alike(expected: np.ndarray, actual: np.ndarray) -> bool:
    """Whether two results of quantized layers are less than half a level apart on average.

    Those of one layer differ by whole levels, here and there, where it rounds near ties.
    """
    if expected.dtype.kind not in "iuf" or expected.shape != actual.shape:
        return False
    wide, level = as_float64(expected), 1.0
    if expected.dtype.kind == "f":
        level = LEVELS * np.abs(wide).max(initial=0.0)
    return bool(np.mean(np.abs(wide - as_float64(actual))) < level / 2)


def first_difference(source: _Source, function: Function, arrays: list[np.ndarray]) -> str:
    """The first operator of the file whose result differs from the source's, in words."""
    from ...schema.model import load

    rows = [
        (op.custom_code or op.op, index, origin)
        for op in load(function.content).subgraphs[function.subgraph].operators
        for index in op.outputs
        if (origin := function.origins.get(index)) is not None
    ]
    names = list(dict.fromkeys(origin.name for _, _, origin in rows))
    try:
        expected = dict(zip(names, source.run(names, arrays), strict=True))
    except NotVerified as reason:
        return f" (which operator is the first is not known: {reason})"
    interpreter = function.interpreter(preserve=True)
    function.run(interpreter, arrays)
    for kind, index, origin in rows:
        expected_value = expected[origin.name]
        actual: Any = interpreter.get_tensor(index, function.subgraph)
        if origin.layout is not None:
            actual = actual.transpose(origin.layout)
        if difference(expected_value, actual) > tolerance(expected_value):
            layer = CALLS.sub("", origin.name)
            return f"; the first operator that differs is {kind} for '{layer}'"
    return ""
