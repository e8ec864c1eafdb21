"""Kernels whose result may lie on an operand give the same bytes there as apart from it."""

import numpy as np
import pytest

from flatlite.engine.build import cache
from flatlite.engine.build.compiler import import_kernels
from flatlite.engine.build.kernel import KERNELS
from flatlite.engine.families import multipliers, rescaled
from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.plan.buffer import Buffer, constant, persistent
from flatlite.engine.plan.program import Program

ARGUMENTS = {
    "low": 5,
    "high": 90,
    "limits": [5, 90],
    "lines": [[100, 512, 8], [300, -256, 8]],
    "scale": 0.25,
    "reach": 600,
    "x_zero": 3,
    "zero": 2,
    "zero_point": 2,
    "zero_points": [2, 1, 0],
    "out_zero": 1,
    "alpha_zero": 1,
    "offset": 7,
    "n_rows": 1 << 20,
    "left": 2,
    "shift": -3,
    "multiplier": 1 << 30,
    "scale.multiplier": 1 << 30,
    "scale.shift": -3,
    "slope_scale.multiplier": 1 << 29,
    "slope_scale.shift": -4,
    "output.zero_point": 1,
    "output.low": 5,
    "output.high": 90,
    "bias": 0.5,
    "alpha": 2,
    "scales": 0.5,
    "row_scales": 0.25,
    "multipliers": 1 << 30,
    "shifts": -2,
    "terms": [[3, 1 << 30, -1], [5, 1 << 30, 0], [2, 1 << 30, -2], [5, 90, 4]],
}
"""What kernels are given beside their operands, by name. Arrays repeat a single number."""
SIZES = (1, 7, 64, 333)


pytestmark = pytest.mark.usefixtures("everything_is_shared")


def kernels():
    """(module.kernel, declaration) of all that say their result may lie on an operand."""
    for module in cache.modules():
        for one in KERNELS.get(import_kernels(module), {}).values():
            if one.declaration is not None and one.declaration.in_place:
                yield f"{module}.{one.name}", one.declaration


KERNELS_IN_PLACE = dict(kernels())
VECTORS = [name for name in KERNELS_IN_PLACE if name.startswith("rescaled_simd.")]
PAIRS = [
    name
    for name in KERNELS_IN_PLACE
    if "geometry" in KERNELS_IN_PLACE[name].text and name not in VECTORS
]
SHAPES = (
    ((3, -1), (3, -1)),
    ((3, -1), (1,)),
    ((1,), (3, -1)),
    ((3, -1), (-1,)),
    ((-1,), (3, -1)),
    ((2, 3, -1), (2, 1, -1)),
    ((2, 3, -1), (3, 1)),
)
"""Of two operands; -1 stands for a size."""


def values(shape, dtype, seed):
    """Elements of all sizes a dtype has; small ones where they are real."""
    random, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind in "fc":
        return (random.normal(size=shape) * 5).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    known = np.iinfo(dtype)
    return random.integers(known.min, known.max, shape, dtype, endpoint=True)


def bytes_of(add, operands, dtype, place, threads):
    """The result of `add(program, operands, out)`, whose bytes lie on operand `place`."""
    program = Program(threads=threads)
    buffers = [persistent(x.shape, x.dtype) for x in operands]
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    out = persistent(shape, dtype)
    if place is not None:
        out = Buffer(dtype, shape, buffers[place].storage)
    add(program, buffers, out)
    program.close()
    for buffer, x in zip(buffers, operands, strict=True):
        program.array(buffer)[...] = x
    program.run()
    return program.array(out).tobytes()


def check(add, operands, dtype):
    """Compares all places a result may lie, for one thread and for two."""
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    expected = bytes_of(add, operands, dtype, None, 1)
    places = [
        i
        for i, x in enumerate(operands)
        if x.shape == shape and x.itemsize == np.dtype(dtype).itemsize
    ]
    for threads in (1, 2):
        for place in places:
            assert bytes_of(add, operands, dtype, place, threads) == expected, (place, threads)
    return len(places)


def others(name, choice, n):
    """The arrays of a kernel beside operands and result, and its numbers; arrays have `n` elements.

    Numbers are small enough for all dtypes.
    """
    arrays, numbers = [], {}
    for argument in KERNELS_IN_PLACE[name].arguments:
        dtype = np.dtype(choice[argument.letter]) if argument.letter else argument.dtype
        if argument.name == "table":
            arrays.append(constant(values((1 << 8 * dtype.itemsize,), dtype, 5)))
        elif argument.name in ARGUMENTS:
            value = np.asarray(ARGUMENTS[argument.name])
            if argument.rank is None:
                numbers[argument.name] = value.astype(dtype).item()
            else:
                value = np.full(n, value) if value.ndim == 0 else value
                arrays.append(constant(value.astype(dtype)))
    return arrays, numbers


def dtypes(name, argument):
    """(choice, dtype of an operand, that of the result) where both are as wide."""
    result = next(a for a in KERNELS_IN_PLACE[name].arguments if a.over)
    for choice in KERNELS_IN_PLACE[name].specialisations():
        kinds = [np.dtype(choice[a.letter]) if a.letter else a.dtype for a in (argument, result)]
        if kinds[0].itemsize == kinds[1].itemsize:
            yield choice, *kinds


@pytest.mark.parametrize(
    "name", [name for name in KERNELS_IN_PLACE if name not in (*PAIRS, *VECTORS)]
)
def test_one_operand(name):
    declaration = KERNELS_IN_PLACE[name]
    over = next(a.over[0] for a in declaration.arguments if a.over)
    operand = next(a for a in declaration.arguments if a.name == over)
    for choice, kind, result in dtypes(name, operand):
        for size in SIZES:
            shape, items = {1: ((size,), size), 2: ((3, size), 3), 3: ((2, 3, size), 6)}[
                operand.rank
            ]
            arrays, numbers = others(name, choice, size if operand.rank == 2 else 3)

            def add(program, buffers, out, arrays=arrays, numbers=numbers, items=items):
                others, bindings = iter(arrays), {over: buffers[0], "out": out}
                inputs = [bindings.get(a.name) or next(others) for a in declaration.arrays]
                program.call(name, *inputs, split=items, **numbers)

            assert check(add, [values(shape, kind, size)], result) == 1


@pytest.mark.parametrize("name", PAIRS)
def test_several_operands(name):
    declaration = KERNELS_IN_PLACE[name]
    over = next(a.over for a in declaration.arguments if a.over)
    operand = next(a for a in declaration.arguments if a.name == over[-1])
    first = next(a for a in declaration.arguments if a.name == over[0])
    for choice, kind, result in dtypes(name, operand):
        for size in SIZES:
            for shapes in SHAPES:
                shapes = [tuple(size if n < 0 else n for n in shape) for shape in shapes]
                operands = [values(s, kind, i) for i, s in enumerate(shapes)]
                if len(over) == 3:
                    operands.insert(0, values(shapes[0], first.dtype, 9))
                arrays, numbers = others(name, choice, 1)

                def add(program, buffers, out, arrays=arrays, numbers=numbers):
                    elementwise(program, name, buffers, out, *arrays, **numbers)

                assert check(add, operands, result)


@pytest.mark.parametrize("kind", ["sum", "difference", "product", "squared_difference"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("line", [False, True])
def test_scaled_vectors(kind, dtype, line, monkeypatch):
    monkeypatch.setattr(rescaled, "_MIN_FIT_SIZE", 1 if line else 1 << 40)
    zeros = (0, 0, 0) if dtype == "int16" else (3, 5, 2)
    a, b, out = zip((0.5, 0.25, 0.7), zeros, strict=True)
    for turned in (False, True):
        x, y = (b, a) if turned else (a, b)
        if kind == "product":
            terms = multipliers.product_terms(x, y, out, (5, 90), 0.01)
        else:
            power = 2 if kind == "squared_difference" else 1
            terms = multipliers.common_terms(x, y, out, (5, 90), 7 if power == 2 else 15, power)
        for size in SIZES:
            for shapes in SHAPES:
                shapes = [tuple(size if n < 0 else n for n in shape) for shape in shapes]
                operands = [values(s, dtype, i) for i, s in enumerate(shapes)]

                def add(program, buffers, out, terms=terms):
                    rescaled.pair(program, kind, *buffers, out, terms)

                assert check(add, operands, dtype)
