"""Views, moves and element-wise rows against numpy, over random shapes and in many parts."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families.elementwise import broadcast_shape, elementwise, merged_rows
from flatlite.engine.families.layout import copy, fill, move
from flatlite.engine.families.multipliers import quantize_multiplier
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.engine.plan.view import View, collapse, geometry_of

MODULES = ("layout",)
IN_WIDE_VECTORS = True
FEW = settings(max_examples=80)
SHAPE = st.lists(st.integers(1, 5), max_size=5).map(tuple)
DTYPES = st.sampled_from(["int8", "uint16", "float32", "complex64"])


def run(build, out, *arrays, dealt):
    """The memory of `out` after the instructions that `build(program, *buffers)` appends."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program = Program()
        buffers = [bound(x.shape, x.dtype) for x in arrays]
        fill(program, constant(np.full(1, 77, out.dtype)), out)
        build(program, *buffers)
        program.keep(out)
        program.close(dict(zip(buffers, arrays, strict=True)))
        program.run()
        return program.array(out).copy()


def numpy_view(array, view):
    """What numpy sees at the places of `view`."""
    strides = [step * array.itemsize for step in view.strides]
    start = array.ravel()[view.offset :]
    return np.lib.stride_tricks.as_strided(start, view.shape, strides)


def random_view(data, buffer):
    """A view made by a few random steps."""
    view = View.of(buffer)
    for _ in range(data.draw(st.integers(0, 4))):
        rank = len(view.shape)
        step = data.draw(st.sampled_from(["part", "flip", "transpose", "pick", "split"]))
        if not rank:
            break
        axis = data.draw(st.integers(0, rank - 1))
        n = view.shape[axis]
        if step == "part":
            start = data.draw(st.integers(0, n - 1))
            stride = data.draw(st.integers(1, 3))
            count = data.draw(st.integers(1, 1 + (n - 1 - start) // stride))
            view = view.part(axis, start, count, stride)
        elif step == "flip":
            view = view.part(axis, n - 1, n, -1)
        elif step == "transpose":
            view = view.transpose(tuple(data.draw(st.permutations(range(rank)))))
        elif step == "pick":
            view = view.pick(axis, data.draw(st.integers(0, n - 1)))
        elif n % 2 == 0:
            view = view.split(axis, 2, n // 2)
    return view


@FEW
@given(st.data(), SHAPE, DTYPES, st.booleans())
def test_move_into_a_view(data, shape, dtype, dealt):
    out = arena(shape, dtype)
    target = random_view(data, out)
    x = np.arange(prod(target.shape)).astype(dtype).reshape(target.shape)
    want = np.full(shape, 77, dtype)
    numpy_view(want, target)[...] = x
    got = run(lambda program, source: move(program, source, target), out, x, dealt=dealt)
    np.testing.assert_array_equal(got, want)


@FEW
@given(st.data(), SHAPE, DTYPES, st.booleans())
def test_move_from_a_view(data, shape, dtype, dealt):
    x = np.arange(prod(shape)).astype(dtype).reshape(shape)
    view = random_view(data, bound(shape, dtype))
    repeats = data.draw(st.integers(1, 3))
    out = arena((repeats, *view.shape), dtype)

    def build(program, source):
        seen = View(source, view.shape, view.strides, view.offset)
        move(program, seen.broadcast(out.shape), out)

    want = np.broadcast_to(numpy_view(x, view), out.shape)
    np.testing.assert_array_equal(run(build, out, x, dealt=dealt), want)


@pytest.mark.parametrize("dealt", [False, True])
def test_large_transpose(dealt):
    x = np.arange(301 * 517, dtype=np.int32).reshape(301, 517)
    out = arena((517, 301), np.int32)
    got = run(lambda p, s: move(p, View.of(s).transpose((1, 0)), out), out, x, dealt=dealt)
    np.testing.assert_array_equal(got, x.T)


@pytest.mark.parametrize("dealt", [False, True])
@pytest.mark.parametrize("columns", [1023, 1024, 1027])
def test_rows_longer_than_a_page(columns, dealt):
    """Parts of rows, the last row first: libc copies those of 4 KB and more."""
    x = np.arange(2 * 16 * 1030, dtype=np.int32).reshape(2, 16, 1030)
    out = arena((2, 16, columns), np.int32)

    def build(program, source):
        move(program, View.of(source).part(1, 15, 16, -1).part(2, 3, columns), out)

    got = run(build, out, x, dealt=dealt)
    np.testing.assert_array_equal(got, x[:, ::-1, 3 : 3 + columns])


@FEW
@given(st.data(), SHAPE, st.booleans())
def test_elementwise_repeats_the_smaller_operand(data, shape, dealt):
    def cut():
        survivors = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
        return survivors[data.draw(st.integers(0, len(shape))) :]

    a, b = (np.random.default_rng(i).integers(-99, 99, cut()).astype(np.int32) for i in (1, 2))
    out = arena(broadcast_shape(a.shape, b.shape), np.int32)
    limits = constant(np.array([-100, 100], np.int32))
    got = run(
        lambda p, x, y: elementwise(p, "arithmetic.add", (x, y), out, limits),
        out,
        a,
        b,
        dealt=dealt,
    )
    np.testing.assert_array_equal(got, np.clip(a + b, -100, 100))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("shape", "row"),
    [
        ((2048, 3), (3,)),  # rows of several threes
        ((1, 56, 56, 16), (1, 1, 1, 16)),
        ((4099, 5), (1, 5)),  # a prime number of rows
        ((96, 63), (63,)),
        ((2, 64, 64), (2, 1, 1)),  # is no repeated row
        ((4096,), (1,)),
        ((1, 32, 32, 32), (1, 32, 1, 32)),  # a row for each of 32 columns
        ((2, 3, 64, 20), (3, 1, 20)),
        ((2, 3, 65, 20), (2, 1, 1, 20)),
        ((5, 3, 67, 20), (5, 1, 1, 20)),
    ],
)
def test_elementwise_repeats_short_rows(shape, row, swapped):
    a, b = (
        np.random.default_rng(i).integers(-99, 99, s).astype(np.int32)
        for i, s in ((1, shape), (2, row))
    )
    pair = (b, a) if swapped else (a, b)
    out, limits = arena(shape, np.int32), constant(np.array([-150, 150], np.int32))
    got = run(
        lambda p, x, y: elementwise(p, "arithmetic.subtract", (x, y), out, limits),
        out,
        *pair,
        dealt=True,
    )
    np.testing.assert_array_equal(got, np.clip(pair[0] - pair[1], -150, 150))


def test_nothing_is_added_without_elements():
    program = Program()
    empty, out = bound((0, 3), np.float32), arena((0, 3), np.float32)
    move(program, empty, out)
    elementwise(program, "arithmetic.maximum", (empty, empty), out)
    assert program.instructions == []


def test_what_does_not_fit_is_refused():
    x, out = bound((2, 3), np.float32), arena((3, 2), np.float32)
    with pytest.raises(ValueError, match=r"cannot move a view of shape \(2, 3\) to \(3, 2\)"):
        move(Program(), x, out)
    with pytest.raises(ValueError, match=r"view reaches \[0, 7\] of 6 elements"):
        move(Program(), View(x, (2, 3), (3, 2)), View.of(out, (2, 3)))
    with pytest.raises(ValueError, match=r"view reaches \[-1, 0\] of 6 elements"):
        move(Program(), View(x, (2,), (-1,)), View.of(out).pick(1, 0).part(0, 0, 2))
    with pytest.raises(ValueError, match=r"cannot broadcast \(2, 3\) to \(2, 2, 4\)"):
        View.of(x).broadcast((2, 2, 4))
    with pytest.raises(ValueError, match=r"cannot view \(2, 3\) as \(5,\)"):
        View.of(x, (5,))


def test_broadcast_shape():
    assert broadcast_shape((2, 1, 3), (4, 1)) == (2, 4, 3)
    assert broadcast_shape((2, 0), ()) == (2, 0)
    assert broadcast_shape((2,), (3,)) is None


def test_collapse():
    assert collapse((2, 3, 4), (12, 4, 1)) == ((24,), (1,))
    assert collapse((2, 1, 4), (4, 9, 1), (0, 9, 1)) == ((2, 4), (4, 1), (0, 1))
    assert collapse((), ()) == ((), ())


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.25, 1e-3, 3.7, 0.99999999999])
def test_fixed_scale(scale):
    multiplier, shift = quantize_multiplier(scale)
    assert 0 <= multiplier < 1 << 31
    assert multiplier * 2.0 ** (shift - 31) == pytest.approx(scale, rel=2**-30)


def test_a_scale_too_small_is_zero():
    assert quantize_multiplier(1e-12) == (0, 0)


def test_squares(monkeypatch, vectors):
    """Transposed matrices, in memory that ends where it ends, for each kind of vectors."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    for dtype in (np.uint8, np.int16, np.float32, np.int64):
        page = 4096 // np.dtype(dtype).itemsize  # whose rows crowd one part of a cache
        for shape in ((2, 16, 16), (2, 35, 50), (1, 48, 17), (3, 15, 64), (2, page, 43)):
            x = np.random.default_rng(1).integers(0, 250, shape).astype(dtype)
            program, fed = Program(guard=True), bound(shape, dtype)
            inner, out = arena(shape, dtype), arena((shape[0], shape[2], shape[1]), dtype)
            move(program, fed, inner)
            move(program, View.of(inner).transpose((0, 2, 1)), out)
            program.keep(out)
            program.close({fed: x})
            program.run()
            np.testing.assert_array_equal(program.array(out), x.transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "complex64"])
def test_rows_of_all_sizes(vectors, dtype):
    """Parts of rows, next to others that stay as they are."""
    for columns in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70):
        x = np.arange(5 * (columns + 3)).astype(dtype).reshape(5, columns + 3)
        out = arena((5, columns + 2), dtype)

        def part(program, buffer, out=out, columns=columns):
            target = View.of(out).part(1, 1, columns)
            move(program, View.of(buffer).part(1, 2, columns), target)

        expected = np.full(out.shape, 77, dtype)
        expected[:, 1:-1] = x[:, 2:-1]
        np.testing.assert_array_equal(run(part, out, x, dealt=False), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "complex64"])
def test_squares_turned(vectors, dtype):
    """Whole squares, and what is left of rows and columns."""
    for shape in ((16, 16), (17, 33), (48, 15), (3, 40)):
        x = np.arange(prod(shape)).astype(dtype).reshape(shape)
        out = arena(shape[::-1], dtype)

        def turn(program, buffer, out=out):
            move(program, View.of(buffer).transpose((1, 0)), out)

        np.testing.assert_array_equal(run(turn, out, x, dealt=False), x.T)


@FEW
@given(st.data(), SHAPE, DTYPES, st.booleans())
def test_moves_of_what_was_moved(data, shape, dtype, dealt):
    """Through several buffers, as numpy's views of copies."""
    x = np.arange(prod(shape)).astype(dtype).reshape(shape)
    views, expected, buffer = [], x, bound(shape, dtype)
    for _ in range(3):
        views.append(random_view(data, buffer))
        expected = numpy_view(np.ascontiguousarray(expected), views[-1])
        buffer = arena(views[-1].shape, dtype)

    def build(program, source):
        for view in views:
            target = out if view is views[-1] else arena(view.shape, dtype)
            move(program, View(source, view.shape, view.strides, view.offset), target)
            source = target

    out = arena(views[-1].shape, dtype)
    np.testing.assert_array_equal(run(build, out, x, dealt=dealt), expected)


def names_of(build, **memory):
    """The kernels of a closed program that `build` makes of bound buffers, and the program."""
    program = Program()
    buffers = [bound(x.shape, x.dtype) for x in memory.values()]
    build(program, *buffers)
    program.close(dict(zip(buffers, memory.values(), strict=True)))
    return [x.name for x in program.instructions], program


@pytest.mark.parametrize("is_kept", [False, True])
def test_two_moves_are_one(is_kept):
    """A slice of a transposition, put together with another array; unless it is to be read."""
    x, y = np.arange(60, dtype=np.float32).reshape(5, 12), np.zeros((2, 5), np.float32)
    turned, cut = arena((12, 5), np.float32), arena((3, 5), np.float32)
    out = arena((5, 5), np.float32)

    def build(program, a, b):
        move(program, View.of(a).transpose((1, 0)), turned)
        move(program, View.of(turned).part(0, 4, 3), cut)
        move(program, View.of(cut), View.of(out).part(0, 0, 3))
        move(program, View.of(b), View.of(out).part(0, 3, 2))
        for kept in (out, cut)[: 1 + is_kept]:
            program.keep(kept)

    names, program = names_of(build, x=x, y=y)
    assert names == ["layout.move"] * (3 if is_kept else 2)
    program.run()
    np.testing.assert_array_equal(program.array(out), np.concatenate([x.T[4:7], y]))


def test_a_source_that_changes_in_between_is_read_before():
    x = np.arange(12, dtype=np.float32)
    cut, out, ones = arena((4,), np.float32), arena((4,), np.float32), np.ones(12, np.float32)

    def build(program, a, b):
        move(program, View.of(a).part(0, 2, 4), cut)
        move(program, b, a)
        move(program, cut, out)
        program.keep(out)

    _, program = names_of(build, x=x, y=ones)
    program.run()
    assert program.array(out).tolist() == [2, 3, 4, 5]
    assert x.tolist() == ones.tolist()


@FEW
@given(st.data(), SHAPE.filter(len), DTYPES, st.booleans(), st.booleans())
def test_a_state_is_shifted_in_its_memory(data, shape, dtype, is_front, dealt):
    """Slices go out at one end, others come in at the other."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    width = data.draw(st.sampled_from([1, 3, 40]))
    shape = (*shape[:-1], shape[-1] * width)
    count = data.draw(st.integers(1, shape[axis]))
    part = (*shape[:axis], count, *shape[axis + 1 :])
    state = np.arange(prod(shape)).astype(dtype).reshape(shape)
    fresh = (100 + np.arange(prod(part))).astype(dtype).reshape(part)
    kept = shape[axis] - count
    old = np.take(state, np.arange(kept) + (0 if is_front else count), axis)
    expected = np.concatenate([fresh, old] if is_front else [old, fresh], axis)
    merged = arena(shape, dtype)

    def build(program, a, b):
        later = arena(old.shape, dtype)
        move(program, View.of(a).part(axis, 0 if is_front else count, kept), later)
        parts = [(later, kept), (b, count)]
        start = 0
        for source, n in reversed(parts) if is_front else parts:
            move(program, View.of(source), View.of(merged).part(axis, start, n))
            start += n
        copy(program, merged, a)
        move(program, merged, out)
        program.keep(out)

    out = arena(shape, dtype)
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        names, program = names_of(build, state=state, fresh=fresh)
        program.run()
    assert "copy.copy" not in names
    assert names.count("layout.shift") <= 1
    np.testing.assert_array_equal(state, expected)
    np.testing.assert_array_equal(program.array(out), expected)


def test_a_state_that_is_read_in_another_order_is_copied():
    state, out = np.arange(6, dtype=np.float32).reshape(2, 3), arena((2, 3), np.float32)

    def build(program, a):
        move(program, View.of(a).part(0, 1, 2, -1), out)
        copy(program, out, a)

    names, program = names_of(build, state=state)
    assert names == ["layout.move", "copy.copy"]
    program.run()
    assert state.tolist() == [[3, 4, 5], [0, 1, 2]]


def test_what_moves_back_to_where_it_was_goes_through_other_memory():
    x = np.arange(6, dtype=np.float32)

    def build(program, a):
        turned = arena((6,), np.float32)
        move(program, View.of(a).part(0, 5, 6, -1), turned)
        move(program, turned, a)

    names, program = names_of(build, x=x)
    assert names == ["layout.move"] * 2
    program.run()
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


def test_rows_of_moves_run_along_the_inner_of_equal_dimensions():
    """Blocks of 2 x 2 x 32, as SPACE_TO_DEPTH reads them: neighbours come one after another."""
    shape, source, target = (16, 16, 2, 64), (2048, 64, 1024, 1), (2048, 128, 64, 1)
    geometry, _ = geometry_of(shape, source, target)
    assert geometry.value[:, -2].tolist() == [16, 64, 128]


def test_rows_that_repeat_in_parts_of_a_result_become_longer_ones():
    merged = ((32, 4, 256), (32, 1, 256), (32, 4, 256))
    assert merged_rows((1, 32, 32, 32), (1, 32, 1, 32), (1, 32, 32, 32)) == merged
    assert merged_rows((512, 6, 32), (512, 1, 32), (512, 6, 32)) is None
