from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatlite.engine.plan import arena, planner
from flatlite.engine.plan.buffer import Storage

ROWS = 12


def instruction(reads=(), writes=(), is_pure=True):
    return SimpleNamespace(name="copy", reads=list(reads), writes=list(writes), is_pure=is_pure)


spans = st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)).map(sorted)


@given(st.lists(st.tuples(st.integers(0, 5000), spans), max_size=40))
def test_storages_alive_at_once_never_overlap(storages):
    alive = {Storage("arena", size): list(span) for size, span in storages}
    offsets, total = planner.assign(alive)
    taken = [(offsets[s], offsets[s] + s.nbytes, *alive[s]) for s in alive]
    for i, (start, end, first, last) in enumerate(taken):
        assert start % arena.ALIGNMENT == 0
        assert end <= total
        for other in taken[:i]:
            together = first <= other[3] and other[2] <= last
            assert not (together and start < other[1] and other[0] < end)


@given(st.lists(st.tuples(st.integers(1, 5000), spans), min_size=1, max_size=40))
def test_arena_is_between_the_fullest_moment_and_the_sum(storages):
    alive = {Storage("arena", size): list(span) for size, span in storages}
    _, total = planner.assign(alive)
    sizes = [(arena.aligned(s.nbytes), *span) for s, span in alive.items()]
    fullest = max(sum(n for n, a, b in sizes if a <= i <= b) for i in range(ROWS))
    assert fullest <= total <= sum(n for n, _, _ in sizes)


def test_a_chain_needs_two_of_its_tensors_at_once():
    tensors = [Storage("arena", 64 * n) for n in (1, 4, 2, 3)]
    instructions = [instruction(tensors[i : i + 1], tensors[i + 1 : i + 2]) for i in range(3)]
    instructions.insert(0, instruction((), tensors[:1]))
    _, total = planner.assign(planner.lifetimes(instructions, (), ()))
    assert total == 64 * 6


def test_many_small_storages_do_not_make_planning_slow():
    alive = {Storage("arena", 1): [0, 0] for _ in range(20_000)}
    offsets, total = planner.assign(alive)
    assert len(set(offsets.values())) == 20_000
    assert total == 20_000 * arena.ALIGNMENT


def test_kept_storages_live_to_the_end():
    a, b = Storage("arena", 8), Storage("arena", 8)
    alive = planner.lifetimes([instruction((), [a]), instruction([a], [b])], {a}, ())
    assert alive == {a: [0, 2], b: [1, 1]}


def test_reading_what_nobody_wrote_is_refused():
    with pytest.raises(ValueError, match="copy: reads x before any instruction has written it"):
        planner.lifetimes([instruction([Storage("arena", 8, name="x")])], (), ())


def test_constant_rows_depend_on_constants_alone():
    constant, bound = Storage("constant", 8), Storage("bound", 8)
    packed, mixed, shared, host = (Storage("arena", 8) for _ in range(4))
    instructions = [
        instruction([constant], [packed]),
        instruction([packed], [shared]),  # written again below: not constant
        instruction([packed, bound], [mixed]),
        instruction([mixed], [shared]),
        instruction([constant], [host], is_pure=False),
        instruction([host], [Storage("arena", 8)]),
        instruction([constant], [Storage("persistent", 8)]),
        instruction([], [Storage("arena", 8)]),
    ]
    assert planner.constant_instructions(instructions) == {0, 7}


def test_memory_limit_names_both_numbers():
    with pytest.raises(MemoryError, match="need 1,000 bytes, at most 999 may be used"):
        arena.check_limit(1000, 999)
    arena.check_limit(1000, 1000)
    with pytest.raises(MemoryError, match="may be used"):
        arena.check_limit(1 << 60)


def test_memory_is_aligned_zero_and_has_slack():
    memory = arena.allocate(1000)
    assert arena.address(memory) % arena.ALIGNMENT == 0
    assert memory.nbytes == 1000
    assert not memory.any()
    end = arena.address(memory.base) + memory.base.nbytes
    assert end - arena.address(memory) >= 1000 + arena.SLACK


def test_large_memory_is_aligned_zero_and_our_own():
    memory = arena.allocate(5 * arena.HUGE_PAGE + 3)
    assert arena.address(memory) % arena.ALIGNMENT == 0
    assert memory.size == 5 * arena.HUGE_PAGE + 3
    assert not memory.any()
    memory[-1] = 1
    assert not arena.allocate(memory.size).any()
