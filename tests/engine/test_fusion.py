"""Instructions that are run fused, and results that take over the memory of operands."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.families.layout import move
from flatlite.engine.plan import fusion, planner
from flatlite.engine.plan.buffer import Buffer, Storage, arena, bound, constant, persistent
from flatlite.engine.plan.program import Program
from flatlite.engine.plan.view import View
from flatlite.engine.run import plan_runner

LIMITS = constant(np.array([-(2**31), 2**31 - 1], np.int32))
SHAPE = (20, 60)


pytestmark = pytest.mark.usefixtures("everything_is_shared")


@pytest.fixture
def short_blocks(monkeypatch):
    monkeypatch.setattr(fusion, "BLOCK", 1000)


def add(result, *operands, other=(), split=8):
    """An instruction whose result is made of operands element by element and of `other` buffers."""
    buffers = [*operands, *other, result]
    return SimpleNamespace(
        name="add",
        buffers=buffers,
        split=split,
        reads=[x.storage for x in buffers[:-1]],
        writes=[result.storage],
        elementwise=(len(buffers) - 1, tuple(range(len(operands)))),
    )


def tensor(size=8, dtype=np.int32):
    return arena((size,), dtype)


def overlays(*instructions, read_later=(), expected=()):
    """{position of an instruction: its operand's place among the buffers} for what is overlaid."""
    alive = planner.lifetimes(instructions, {x.storage for x in read_later}, ())
    over = planner.overlays(instructions, alive, expected)
    return {
        i: [x.storage for x in instruction.buffers].index(over[instruction.buffers[-1].storage])
        for i, instruction in enumerate(instructions)
        if instruction.buffers[-1].storage in over
    }


def test_the_last_reader_takes_over():
    a, b, c, d = (tensor() for _ in range(4))
    assert overlays(add(a), add(b, a), add(c, b), add(d, c, b)) == {
        1: 0,
        3: 0,
    }


def test_of_two_operands_the_later_lends_its_memory():
    a, b, c = (tensor() for _ in range(3))
    assert overlays(add(a), add(b), add(c, a, b)) == {2: 1}


def test_what_is_kept_lends_nothing():
    a, b = tensor(), tensor()
    assert overlays(add(a), add(b, a), read_later=[a]) == {}
    assert overlays(add(a), add(b, a), read_later=[b]) == {1: 0}


def test_other_widths_lend_nothing():
    a, b = tensor(), tensor(dtype=np.int16)
    assert overlays(add(a), add(b, a)) == {}


def test_parts_lend_nothing():
    whole, b = tensor(16), tensor()
    part = Buffer(np.int32, (8,), whole.storage, 32)
    assert overlays(add(whole), add(b, part)) == {}
    assert overlays(add(b), add(part, b)) == {}


def test_what_is_also_read_elsewhere_lends_nothing():
    a, b = tensor(), tensor()
    assert overlays(add(a), add(b, a, other=[a.reshape((1, 8))])) == {}
    assert overlays(add(a), add(b, a, a)) == {1: 0}


def test_a_result_that_was_written_before_takes_nothing():
    a, b = tensor(), tensor()
    assert overlays(add(b), add(a), add(b, a)) == {}


def test_memory_of_callers_is_not_lent():
    b = tensor()
    for kind in (bound, persistent):
        assert overlays(add(b, kind((8,), np.int32))) == {}


def test_in_a_fusion_others_may_not_read_what_is_written_over():
    a, b, c, d = (tensor() for _ in range(4))
    table = [
        add(a),
        add(b, tensor_of(a), other=[a]),
        add(c, b),
        add(d, c, a),
    ]
    alive = planner.lifetimes(table, (), ())
    fused = fusion.Fusion(1, 3, 4, 96)
    assert overlays(*table) == {2: 0, 3: 0}
    assert planner.overlays(table, alive, [fused])[d.storage] is c.storage
    table[3] = add(d, a)
    alive = planner.lifetimes(table, (), ())
    assert planner.overlays(table, alive)[d.storage] is a.storage
    assert d.storage not in planner.overlays(table, alive, [fused])


def tensor_of(buffer):
    """A constant that looks like a buffer."""
    return constant(np.zeros(buffer.shape, buffer.dtype))


def test_overlaid_storages_share_memory_unless_it_takes_more():
    a, b, c = (Storage("arena", 128) for _ in range(3))
    alive = {a: [0, 1], b: [1, 2], c: [0, 2]}
    offsets, total = planner.assign(alive, {b: a})
    assert offsets[a] == offsets[b] != offsets[c]
    assert total == 256
    assert planner.assign(alive)[1] == 384


def spans(table):
    return [(x.first, x.last) for x in fusion.fusions(table)]


def test_fusions(short_blocks):
    a, b, c, d, x = (tensor(1000) for _ in range(5))
    assert spans([add(a, split=1000), add(b, a, split=1000), add(c, b, split=1000)]) == [(0, 2)]
    branch = SimpleNamespace(elementwise=None, split=None, buffers=())
    after = [add(c, b, split=1000), add(d, c, split=1000)]
    table = [add(a, split=1000), add(b, a, split=1000), branch, *after]
    assert spans(table) == [(0, 1), (3, 4)]
    whole = add(c, x, other=[b], split=1000)  # may read any of b
    assert spans(
        [
            add(a, split=1000),
            add(b, a, split=1000),
            whole,
            add(d, x, split=1000),
        ]
    ) == [
        (0, 1),
        (2, 3),
    ]
    again = add(b, x, split=1000)  # writes what is read elsewhere before
    assert spans([add(c, x, other=[b], split=1000), again]) == []
    assert spans([add(a, split=1000), add(b, a, split=10)]) == []
    assert spans([add(a, split=1000), add(b, a, split=None)]) == []
    small = tensor(), tensor()
    assert spans([add(small[0]), add(small[1], small[0])]) == []


def test_what_a_fusion_touches_lives_as_long_as_it():
    a, b, c = (tensor() for _ in range(3))
    fused = fusion.Fusion(2, 4, 3, 96)
    table = [
        add(a),
        add(c),
        add(b, a),
        add(b, a),
        add(b, a),
    ]
    alive = {a.storage: [0, 3], b.storage: [3, 9], c.storage: [3, 3]}
    assert fusion.lifetimes(alive, table, [fused]) == {
        a.storage: [0, 4],
        b.storage: [2, 9],
        c.storage: [3, 3],
    }


KINDS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "negative": lambda a, b: -a,
    "reverse": lambda a, b: a[::-1],
}
steps = st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 4), st.integers(0, 4))


def step(program, kind, a, b):
    """Adds one of KINDS; gives its result. What reverses may not be in a fusion."""
    if kind == "reverse":
        out = arena(a.shape, np.int32)
        move(program, View.of(a).part(0, a.shape[0] - 1, a.shape[0], -1), out)
    elif kind == "negative":
        out = arena(a.shape, np.int32)
        program.call("unary.negative", a.ravel(), out.ravel(), split=a.size)
    else:
        out = arena(np.broadcast_shapes(a.shape, b.shape), np.int32)
        limits = [] if kind == "maximum" else [LIMITS]
        elementwise(program, f"arithmetic.{kind}", (a, b), out, *limits)
    return out


def computed(sequence, read_later, inputs, threads):
    """A program for a sequence of steps on the last few results, and what is expected of `kept`."""
    program = Program(threads=threads)
    row = np.arange(SHAPE[1], dtype=np.int32).reshape(1, -1) - 9
    buffers, arrays = [bound(SHAPE, np.int32), constant(row)], [inputs, row]
    for kind, first, second in sequence:
        a, b = (len(buffers) - 1 - i % len(buffers) for i in (first, second))
        buffers.append(step(program, kind, buffers[a], buffers[b]))
        arrays.append(KINDS[kind](arrays[a], arrays[b]))
    read_later = {2 + i % len(sequence) for i in read_later} | {len(buffers) - 1}
    for i in read_later:
        program.keep(buffers[i])
    program.close({buffers[0]: inputs})
    return program, [(buffers[i], arrays[i]) for i in read_later]


def check(program, expected):
    for buffer, array in expected:
        np.testing.assert_array_equal(program.array(buffer), array)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=1, max_size=12), st.lists(st.integers(0, 11), max_size=2))
def test_any_program_gives_what_numpy_does(short_blocks, sequence, read_later):
    values = np.random.default_rng(0).integers(-(2**31), 2**31 - 1, SHAPE, np.int32)
    for threads in (1, 2):
        program, expected = computed(sequence, read_later, values, threads)
        for _ in range(3):
            program.run()
            check(program, expected)
        program.run(profile=True)
        check(program, expected)


FUSED = [("add", 0, 1), ("multiply", 0, 2), ("negative", 0, 0), ("subtract", 0, 3)]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fusion_is_one_instruction_of_blocks_in_one_tensor(short_blocks, threads):
    inputs = np.arange(1200, dtype=np.int32).reshape(SHAPE)
    program, expected = computed(FUSED, [], inputs, threads)
    assert spans(program.instructions) == [(0, 3)]
    assert program.arena_bytes == inputs.nbytes
    for _ in range(3):
        program.run()
        check(program, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fusion_is_gone_on_with_after_a_break(short_blocks, threads, monkeypatch):
    monkeypatch.setattr(plan_runner, "BUDGET", 0)
    inputs = np.arange(1200, dtype=np.int32).reshape(SHAPE)
    program, expected = computed(FUSED, [], inputs, threads)
    calls = []
    for _ in range(4):
        program.run(lambda: calls.append(1))
        check(program, expected)
    assert len(calls) > 4

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.run(stop)
    program.run()
    check(program, expected)


def test_profile_tells_the_instructions_of_a_fusion_apart(short_blocks):
    program = Program()
    x, out = bound((1000,), np.int32), [arena((1000,), np.int32) for _ in range(3)]
    for i, (source, target) in enumerate(zip((x, *out), out, strict=False)):
        program.tag = i
        program.call("unary.negative", source, target, split=1000)
    program.keep(out[-1])
    program.close({x: np.arange(1000, dtype=np.int32)})
    assert spans(program.instructions) == [(0, 2)]
    for _ in range(2):
        times = program.run(profile=True)
        assert [(tag, name) for tag, name, _ in times] == [(i, "unary.negative") for i in range(3)]
        assert all(seconds > 0 for *_, seconds in times)
        np.testing.assert_array_equal(program.array(out[-1]), -np.arange(1000))


def test_instructions_of_a_fusion_may_follow_others_and_host_steps(short_blocks):
    program = Program()
    x, y = bound((1000,), np.int32), arena((1000,), np.int32)
    program.host(lambda a, b: np.copyto(b, a + 1), [x], [y])
    results = [y]
    for _ in range(4):
        results.append(arena((1000,), np.int32))
        program.call("unary.negative", results[-2], results[-1], split=1000)
        if len(results) == 3:
            branch = program.branch()
            assert branch.target is None
    program.keep(results[-1])
    program.close({x: np.arange(1000, dtype=np.int32)})
    assert spans(program.instructions) == [(1, 2), (4, 5)]
    for _ in range(3):
        program.run()
        np.testing.assert_array_equal(program.array(results[-1]), np.arange(1, 1001))
