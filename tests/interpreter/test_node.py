"""What `prepare` sees, the registry, and folding."""

import importlib
import pkgutil

import numpy as np
import pytest

from flatlite.engine.plan.buffer import arena
from flatlite.interpreter import ops, registry
from flatlite.interpreter.compute import run_now
from flatlite.interpreter.plan.node import (
    DynamicResult,
    NeedsValue,
    Node,
    NodeError,
    Operand,
    TensorDeclaration,
)
from flatlite.schema import flatbuffer, operators
from flatlite.schema.flatbuffer import record

F32 = np.dtype(np.float32)


def operand(shape=(2, 3), dtype=np.float32):
    return Operand.of(arena(shape, dtype, "x"), "x")


Y = (TensorDeclaration("y", F32),)


def node(*inputs, outputs=Y, **options):
    return Node("GATHER", inputs, outputs, record("GatherOptions")(**options))


def test_require_names_op_and_result():
    one = node()
    one.require(True, "never")
    with pytest.raises(NodeError, match=r"^GATHER 'y': depth must be positive, got -1$") as info:
        one.require(False, "depth must be positive, got -1")
    assert info.value.node is one


@pytest.mark.parametrize(("axis", "expected"), [(0, 0), (1, 1), (-1, 1), (-2, 0)])
def test_axis_counts_from_the_front(axis, expected):
    assert node(axis=axis).axis("axis", operand()) == expected
    assert node().axis("axis", operand(), axis) == expected


@pytest.mark.parametrize("axis", [2, -3])
def test_axis_out_of_range(axis):
    with pytest.raises(NodeError, match=rf"axis must be in \[-2, 2\), got {axis}"):
        node(axis=axis).axis("axis", operand())


def test_constant_is_the_value_or_unknown():
    one = node(Operand.known(np.int32([3, 4])), operand(), None)
    np.testing.assert_array_equal(one.constant(0), [3, 4])
    with pytest.raises(NeedsValue) as info:
        one.constant(1)
    assert info.value.index == 1
    for missing in (2, 3):
        with pytest.raises(NodeError, match=f"input {missing} is missing"):
            one.constant(missing)
        assert one.optional(missing) is None


def test_known_values_are_read_only():
    value = Operand.known(np.zeros(3, np.float32)).value
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 1


def test_results_come_in_the_declared_order():
    one = node(outputs=[TensorDeclaration("a", F32), TensorDeclaration("b", np.dtype(np.int32))])
    a = one.result((2,))
    b = one.result([3], value=[1, 2, 3])
    assert (a.name, a.dtype, a.shape, a.value) == ("a", F32, (2,), None)
    assert (b.name, b.dtype, b.value.tolist()) == ("b", np.int32, [1, 2, 3])
    assert one.results == [a, b]
    with pytest.raises(NodeError, match="has 2 outputs in the model"):
        one.result((1,))


def test_result_refuses_what_the_model_declares_otherwise():
    with pytest.raises(NodeError, match="output 'y' must be int32, the model declares float32"):
        node().result((1,), np.int32)
    with pytest.raises(NodeError, match="dimensions must not be negative"):
        node().result((2, -1))
    with pytest.raises(NodeError, match="dimensions must be at most 2147483647, got"):
        node().result((0, 1 << 31))
    with pytest.raises(NodeError, match="the type of output 0 is not declared"):
        node(outputs=[TensorDeclaration("y")]).result((1,))


def test_alias_shares_memory():
    x = operand((2, 3))
    y = node().alias(x, (6,))
    assert (y.shape, y.storage, y.name) == ((6,), x.storage, "y")
    with pytest.raises(NodeError, match=r"shape \(2, 3\) cannot be seen as \(4,\)"):
        node().alias(x, (4,))


def test_alias_of_a_known_value_is_known():
    x = Operand.known(np.arange(6, dtype=np.float32))
    np.testing.assert_array_equal(node().alias(x, (2, 3)).value, [[0, 1, 2], [3, 4, 5]])
    bits = Node("BITCAST", [x], [TensorDeclaration("y", np.dtype(np.int32))]).alias(
        x, (6,), np.int32
    )
    np.testing.assert_array_equal(bits.value, np.arange(6, dtype=np.float32).view(np.int32))


def test_strings_can_be_known():
    x = Operand.known(np.array([b"a", b"bc"], object), "s")
    assert x.value.tolist() == [b"a", b"bc"]
    assert Node("RESHAPE", [x], [TensorDeclaration("y")]).alias(x, (1, 2)).value.shape == (1, 2)


def test_late_results_are_folded_from_known_inputs():
    one = node(
        Operand.known(np.float32([0, 2, 0, 3])),
        outputs=[TensorDeclaration("y", np.dtype(np.int64))],
    )
    emit = one.dynamic_result(lambda x: [np.flatnonzero(x)], [(None,)])
    assert isinstance(emit, DynamicResult)
    run_now(one, emit)
    assert one.results[0].value.tolist() == [1, 3]


def test_rows_are_folded_from_known_inputs():
    x = Operand.known(np.arange(6, dtype=np.float32).reshape(2, 3))
    permutation = Operand.known(np.int32([1, 0]))
    one = Node("TRANSPOSE", [x, permutation], [TensorDeclaration("y", F32)])
    run_now(one, registry.prepare_of("TRANSPOSE")(one))
    np.testing.assert_array_equal(one.results[0].value, x.value.T)


def test_small_results_are_computed_once():
    """Equal operators of equal values share results, each with memory of its own."""
    emitted = []

    def negated(array):
        one = Node("NEG", [Operand.known(array)], [TensorDeclaration("y", array.dtype)])
        emit = registry.prepare_of("NEG")(one)
        run_now(one, lambda program: (emitted.append(array), emit(program)))
        return one.results[0].value

    small = np.float32([-3.25, 7.5])
    first, again = negated(small), negated(small.copy())
    assert len(emitted) == 1
    np.testing.assert_array_equal(again, -small)
    assert not np.shares_memory(first, again)
    for other in (small + 1, small.reshape(2, 1), small.astype(np.int32), small[:1]):
        np.testing.assert_array_equal(negated(other), -other)
    large = np.ones(1000, np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(negated(large), -large)
    assert len(emitted) == 7


def test_options_tell_small_results_apart():
    def summed(keep_dims):
        x, axes = Operand.known(np.float32([[1, 2], [3, 5]])), Operand.known(np.int32([1]))
        options = record("ReducerOptions")(keep_dims=keep_dims)
        one = Node("SUM", [x, axes], [TensorDeclaration("y", F32)], options)
        run_now(one, registry.prepare_of("SUM")(one))
        return one.results[0].value.tolist()

    assert [summed(keep) for keep in (False, True, False)] == [[3, 8], [[3], [8]], [3, 8]]


def test_families_hold_what_their_modules_register():
    """Two lists, one check: the table names modules so that they are imported late."""
    start = f"{ops.__name__}."
    walked = pkgutil.walk_packages(ops.__path__, start)
    modules = {module.name.removeprefix(start) for module in walked if not module.ispkg}
    families = {kind: registry.family_of(kind) for kind in operators.kinds()}
    assert set(families.values()) - {""} <= modules
    for family in modules:
        importlib.import_module(f"flatlite.interpreter.ops.{family}")
    registered = registry.OPERATORS.names()
    homes = {kind: registry.OPERATORS.get(kind).__module__ for kind in registered}
    assert homes == {
        kind: f"flatlite.interpreter.ops.{family}" for kind, family in families.items() if family
    }


def test_unknown_and_double_operators():
    with pytest.raises(LookupError, match="operator NO_SUCH is not supported"):
        registry.prepare_of("NO_SUCH")
    with pytest.raises(ValueError, match="operator RESHAPE is registered twice"):
        registry.prepare_of("RESHAPE") and registry.op("RESHAPE")(lambda node: None)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_a_long_range_is_made_when_the_model_runs(dtype):
    """Not before: with sizes of a converter's trials it could be larger than memory."""
    numbers = [Operand.known(np.array(n, dtype)) for n in (1, 3_000_000, 2)]
    one = Node("RANGE", numbers, [TensorDeclaration("y", np.dtype(dtype))])
    emit = registry.prepare_of("RANGE")(one)
    assert isinstance(emit, DynamicResult)
    assert emit.shapes == ((1_500_000,),) or dtype == np.float32
    run_now(one, emit)
    value = one.results[0].value
    assert (value.dtype, value[0], value[2], len(value)) == (dtype, 1, 5, emit.shapes[0][0])


@pytest.mark.parametrize("kind", ["CALL", "CALL_ONCE"])
def test_what_runs_subgraphs_needs_an_interpreter(kind):
    options = flatbuffer.options_class(kind)
    step = registry.prepare_of(kind)(Node(kind, [], [], options()))
    message = f"^{kind} '': needs an interpreter, which runs subgraphs and keeps variables$"
    with pytest.raises(NodeError, match=message):
        step.function()
