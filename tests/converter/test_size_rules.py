"""Every operator's shape rule on sizes that are expressions: they hold at other numbers.

Each case of tests/cases is prepared once with every dimension of its inputs a symbol (and once with
the elements of its index inputs as symbols), and many times on plain numbers.
"""

import numpy as np
import pytest
from cases import Case, all_cases

from flatlite.converter.ir import dims
from flatlite.converter.ir.builder import make_options
from flatlite.converter.ir.dim_values import evaluate
from flatlite.converter.ir.graph import Elements, Graph, Op, Tensor
from flatlite.converter.ir.infer import infer
from flatlite.converter.ir.prepare import as_operand, run_prepare
from flatlite.converter.ir.sizes import Assumption
from flatlite.engine.run.faults import Fault
from flatlite.interpreter.plan.node import NeedsValue, NodeError
from flatlite.schema.model import Quantization

CASES = [
    case
    for case in all_cases()
    if isinstance(case, Case)
    and not any(str(key).startswith("out") for key in case.quantization or ())
]
"""All but those of results with scales: while a graph is built there are none."""
REFUSED = (NodeError, Fault, ZeroDivisionError, OverflowError)


def quantization_of(case, key):
    row = (case.quantization or {}).get(key)
    if row is None:
        return None
    scale, zero_point, *axis = row
    scales = np.atleast_1d(np.float32(scale))
    zero_points = np.broadcast_to(np.atleast_1d(zero_point), scales.shape).astype(np.int64)
    return Quantization(scales, zero_points, axis[0] if axis else 0)


def symbol(name, n):
    """A symbol for a number; small numbers such as -1 have a meaning of their own."""
    return dims.symbol(name, n) if n > 1 else n


def tensors_of(case, elements):
    """The inputs with a symbol for each size, or for each element of a constant index input."""
    for i, array in enumerate(case.inputs):
        if array is None:
            yield None
            continue
        array = np.asarray(array)
        is_indices = array.dtype in (np.int32, np.int64) and array.size <= 8 and array.ndim <= 2
        quantization = quantization_of(case, i)
        tensor = Tensor(f"x{i}", array.dtype, array.shape, array, quantization=quantization)
        if i not in case.constants and not elements:
            named = [symbol(f"x{i}_{k}", n) for k, n in enumerate(array.shape)]
            tensor = Tensor(f"x{i}", array.dtype, tuple(named), quantization=quantization)
        elif i not in case.constants:
            tensor.value = None
        elif elements and is_indices:
            named = [symbol(f"x{i}_{k}", int(n)) for k, n in enumerate(array.ravel())]
            if any(isinstance(n, dims.Dim) for n in named):
                extents = np.array([*named, None], object)[:-1].reshape(array.shape)
                tensor.value, tensor.elements = None, Elements(array, extents)
        yield tensor


def extents_of(tensor):
    """The sizes and the elements of a tensor."""
    if tensor is None:
        return []
    return [*tensor.sizes, *(tensor.elements.extents.flat if tensor.elements else ())]


def numbers_of(tensors):
    """The reference of each symbol of some tensors."""
    known = [n for tensor in tensors for n in extents_of(tensor) if isinstance(n, dims.Dim)]
    return {name: number for n in known for name, number in dims.references(n).items()}


def plain(tensor, numbers):
    """The operand of a tensor where its symbols are some numbers."""
    if tensor is None:
        return None
    shape = [evaluate(n, numbers) for n in tensor.sizes]
    value = tensor.value
    if tensor.elements is not None:
        flat = [evaluate(n, numbers) for n in tensor.elements.extents.flat]
        value = np.array(flat, tensor.dtype).reshape(tensor.elements.extents.shape)
    return as_operand(tensor, shape, value)


def choices(numbers):
    """Numbers for symbols: their own, others for each by itself, and for all together."""
    yield numbers
    for name, n in numbers.items():
        for other in (n + 1, n + 2, 2 * n, 3 * n, n - 1, 1, 0):
            yield {**numbers, name: other}
    for factor, more in ((2, 0), (3, 0), (1, 1), (0, 4), (0, 12), (0, 1)):
        yield {name: factor * n + more for name, n in numbers.items()}


ROWS = [
    pytest.param(case, elements, id=f"{case.name}-{'elements' if elements else 'shapes'}")
    for case in CASES
    for elements in (False, True)
    if numbers_of(tensors_of(case, elements))
]


@pytest.mark.parametrize(("case", "elements"), ROWS)
def test_rule(case, elements):
    inputs = list(tensors_of(case, elements))
    op = Op(case.op, inputs, [], make_options(case.op, case.options))
    types = [np.dtype(d) for d in case.outputs or [next(t.dtype for t in inputs if t)]]
    numbers, n_compared = numbers_of(inputs), 0
    try:
        results = infer(Graph(), op, types)
    except Assumption as equality:
        holds = evaluate(equality.dim, numbers) == numbers[equality.name]
        assert holds or op.kind == "CONV_2D"  # of unknown channels it is taken to have no groups
        return
    n_taken, n_late = 0, 0
    for chosen in choices(numbers):
        try:
            outcomes = run_prepare(op, types, [plain(tensor, chosen) for tensor in inputs])
        except REFUSED:
            continue
        except NeedsValue:
            n_late += 1
            continue
        n_taken += 1
        for result, outcome in zip(results, outcomes, strict=True):
            n_compared += check(result, outcome, chosen)
    if not n_compared:
        knows = [x for one in results for x in one.sizes or () if isinstance(x, dims.Dim)]
        assert n_taken or n_late
        assert all(x.symbols - numbers.keys() for x in knows), "only the run tells its sizes"


def check(result, outcome, numbers):
    """Compares what both know of a result; how many numbers that are."""
    if result.sizes is None:
        return 0
    assert len(result.sizes) == len(outcome.shape)
    pairs = [*zip(result.sizes, outcome.shape, strict=True)]
    if outcome.value is not None and result.value is not None:
        pairs += zip(result.value.ravel(), outcome.value.ravel(), strict=True)
    if outcome.value is not None and result.elements is not None:
        pairs += zip(result.elements.extents.flat, outcome.value.ravel(), strict=True)
    known = [
        (x, got)
        for x, got in pairs
        if got is not None and not (isinstance(x, dims.Dim) and x.symbols - numbers.keys())
    ]
    for x, got in known:
        want = evaluate(x, numbers) if isinstance(x, dims.Dim) else x
        assert want == got or want != want, (x, got, numbers)
    return len(known)


def slices(begin, length):
    """A SLICE along the first dimension, of n slices in three columns, and what they are."""
    n = dims.symbol("n", 1680)
    rows = [("x", np.float32, (n, 3)), ("begin", np.int32, (2,)), ("size", np.int32, (2,))]
    x, start, size = (Tensor(name, np.dtype(dtype), shape) for name, dtype, shape in rows)
    start.value = begin
    extents = np.array([dims.subtract(n, length), 3], object)
    size.elements = Elements(np.int32([1680 - length, 3]), extents)
    return Op("SLICE", [x, start, size], [], make_options("SLICE", {}))


@pytest.mark.parametrize("begin", [0, 1, 2])
@pytest.mark.parametrize("length", [3, 7])
def test_slice_whose_size_is_minus_one_at_one_of_the_sizes(begin, length):
    (result,) = infer(Graph(), slices(np.int32([begin, 0]), length), [None])
    for n in (length - 1, length, length + 1, 2 * length, 1000):
        count = n - begin if n == length - 1 else n - length  # as TensorFlow's Slice has it
        assert [evaluate(size, {"n": n}) for size in result.sizes] == [count, 3]


def test_slice_whose_size_is_never_negative_stays_that_size():
    (result,) = infer(Graph(), slices(np.int32([0, 0]), 0), [None])
    assert result.sizes == (dims.symbol("n", 1680), 3)


def test_slice_from_an_unknown_begin_whose_size_may_be_minus_one():
    (result,) = infer(Graph(), slices(None, 3), [None])
    rows, columns = result.sizes
    assert isinstance(rows, dims.Dim)
    assert rows.data_dependent
    assert columns == 3


@pytest.mark.parametrize("known", [(), (2,)])
def test_no_elements_tell_no_sizes(known):
    """Nothing in the shape of what has n rows without elements has n rows, whatever n is."""
    n, x = dims.symbol("n", 3), Tensor("x", np.dtype(np.float32), (0,), np.zeros(0, np.float32))
    shape = Tensor("shape", np.dtype(np.int32), (2 + len(known),))
    extents = np.array([n, *known, 0], object)
    shape.elements = Elements(np.int32([3, *known, 0]), extents)
    op = Op("RESHAPE", [x, shape], [], make_options("RESHAPE", {}))
    (result,) = infer(Graph(), op, [None])
    assert result.sizes == (n, *known, 0)
    assert result.value is None
