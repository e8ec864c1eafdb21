"""DYNAMIC_UPDATE_SLICE and update_kv_cache in the memory of what they update, beside LiteRT."""

import numpy as np
import pytest
from building import Builder, save

from flatlite.engine.plan.arena import address
from flatlite.engine.plan.buffer import BOUND
from flatlite.interpreter.plan.pending_plans import cache_entry_of
from flatlite.lite import Interpreter
from flatlite.litert import CompiledModel, TensorBuffer

SHAPE = (1, 6, 3)
ROW = (1, 1, 3)


def updates(n, *, reread=(), is_input=True):
    """`n` updates of a cache one after the other; the sums of later caches with those `reread`."""
    main = Builder()
    x, row = main.input("x", SHAPE), main.input("row", ROW)
    start = main.input("start", (3,), "INT32")
    caches = [x]
    if not is_input:
        caches = [main.op("ADD", [x, x], [main.tensor("doubled", SHAPE)])]
    for i in range(n):
        out = main.tensor(f"cache{i}", SHAPE)
        caches.append(main.op("DYNAMIC_UPDATE_SLICE", [caches[-1], row, start], [out]))
    sums = [(i, main.tensor(f"sum{i}", SHAPE)) for i in reread]
    sums = [main.op("ADD", [caches[-1], caches[i]], [out]) for i, out in sums]
    return save(main.outputs(caches[-1], *sums))


def feeds(position=2):
    random = np.random.default_rng(position)
    return [
        random.normal(size=SHAPE).astype(np.float32),
        random.normal(size=ROW).astype(np.float32),
        np.int32([0, position, 0]),
    ]


@pytest.mark.parametrize("is_input", [False, True])
@pytest.mark.parametrize("reread", [(), (0,), (1,), (0, 2)])
def test_updates(is_input, reread, litert):
    """What is read again keeps its old values."""
    content = updates(3, reread=reread, is_input=is_input)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    for detail, array in zip(inputs, feeds(), strict=True):
        interpreter.set_tensor(detail["index"], array)
    for _ in range(2):  # an input stays as it is
        interpreter.invoke()
        got = [interpreter.get_tensor(detail["index"]) for detail in outputs]
        for ours, theirs in zip(got, litert.run(content, [feeds()])[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(interpreter.get_tensor(inputs[0]["index"]), feeds()[0])


def test_takes_no_memory_of_its_own():
    """Of a cache and what updates make of it there is one copy beside the input."""
    sizes = []
    for n in (1, 8):
        interpreter = Interpreter(model_content=updates(n, is_input=False))
        interpreter.allocate_tensors()
        sizes.append(interpreter._plans[0].first.program.arena_bytes)
    assert sizes[0] == sizes[1]


def loop(steps):
    """A cache that a loop writes a row of in each iteration, and reads again where `reads`."""
    main, check, body = Builder(), Builder("check"), Builder("body")
    i, cache = main.input("i", (), "INT32"), main.input("cache", SHAPE)
    row = main.input("row", ROW)
    outs = [main.tensor("i1", (), "INT32"), main.tensor("cache1", SHAPE), main.tensor("row1", ROW)]
    main.op("WHILE", [i, cache, row], outs, cond_subgraph_index=1, body_subgraph_index=2)
    main.outputs(*outs)
    n = check.input("i", (), "INT32")
    check.input("cache", SHAPE), check.input("row", ROW)
    limit = check.constant("limit", np.int32(steps))
    check.outputs(check.op("LESS", [n, limit], [check.tensor("more", (), "BOOL")]))
    n, cache, row = body.input("i", (), "INT32"), body.input("cache", SHAPE), body.input("row", ROW)
    one, zero = body.constant("one", np.int32(1)), body.constant("zero", np.int32([0]))
    count = body.constant("count", np.int32([1]))
    at = body.op("RESHAPE", [n, count], [body.tensor("at", (1,), "INT32")], new_shape=[1])
    start = body.tensor("start", (3,), "INT32")
    body.op("CONCATENATION", [zero, at, zero], [start], axis=0)
    updated = body.op("DYNAMIC_UPDATE_SLICE", [cache, row, start], [body.tensor("new", SHAPE)])
    axes = body.constant("axes", np.int32([1]))
    mean = body.op("SUM", [updated, axes], [body.tensor("mean", ROW)], keep_dims=True)
    body.outputs(body.op("ADD", [n, one], [body.tensor("next", (), "INT32")]), updated, mean)
    return save(main, check, body)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_loop(steps, litert):
    content, (cache, row, _) = loop(steps), feeds()
    arrays = [np.int32(0), cache, row]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    theirs = litert.run(content, [arrays])[0]
    for detail, want in zip(interpreter.get_output_details(), theirs, strict=True):
        np.testing.assert_allclose(interpreter.get_tensor(detail["index"]), want, rtol=1e-6)


def compiled(reread=()):
    """A model, its buffers, and what writes a row and a position."""
    model = CompiledModel.from_buffer(updates(1, reread=reread))
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)

    def step(cache, target, position, others=()):
        inputs[1].write(np.full(ROW, position + 1, np.float32))
        inputs[2].write(np.int32([0, position, 0]))
        model.run_by_index(0, [cache, *inputs[1:]], [target, *outputs[1:], *others])

    return model, inputs, outputs, step


def rows(buffer):
    """The first element of each row."""
    return buffer.read(18, np.float32).reshape(SHAPE)[0, :, 0].tolist()


def test_state():
    """A buffer that is input and output of a run is updated, from run to run."""
    _, inputs, _, step = compiled()
    for position in (1, 4, 0):
        step(inputs[0], inputs[0], position)
    assert rows(inputs[0]) == [1, 2, 0, 0, 5, 0]


def test_two_states_of_one_model():
    model, inputs, _, step = compiled()
    second = model.create_input_buffers(0)[0]
    for first_position, second_position in ((0, 5), (1, 4)):
        step(inputs[0], inputs[0], first_position)
        step(second, second, second_position)
    assert rows(inputs[0]) == [1, 2, 0, 0, 0, 0]
    assert rows(second) == [0, 0, 0, 0, 5, 6]


def test_state_of_two_models():
    """As prefill and decode have: both work in the buffer's memory, which stays where it is."""
    (model, inputs, _, step), (other, _, _, other_step) = compiled(), compiled()
    cache, memory = inputs[0], inputs[0].array
    for position, turn in enumerate((step, other_step, other_step, step, other_step)):
        turn(cache, cache, position)
    assert rows(cache) == [1, 2, 3, 4, 5, 0]
    assert cache.array is memory
    for one in model, other:
        plan = one._open._plans[0]
        for tensor in (plan.inputs[0], plan.spec.outputs[0]):
            assert address(plan.array(tensor)) == address(memory)


def test_state_beside_an_input_that_is_resized():
    main = Builder()
    x, row = main.input("x", SHAPE), main.input("row", (1, None, 3))
    start = main.input("start", (3,), "INT32")
    out = main.op("DYNAMIC_UPDATE_SLICE", [x, row, start], [main.tensor("new", SHAPE)])
    model = CompiledModel.from_buffer(save(main.outputs(out)))
    cache = model.create_input_buffers(0)[0]
    for position, n in enumerate((1, 2, 1, 1, 2)):
        model.resize_input_tensor(1, [1, n, 3])
        inputs = model.create_input_buffers(0)
        inputs[1].write(np.full((1, n, 3), position + 1, np.float32))
        inputs[2].write(np.int32([0, position, 0]))
        for _ in range(3):
            model.run_by_index(0, [cache, *inputs[1:]], [cache])
    assert rows(cache) == [1, 2, 3, 4, 5, 5]


def test_state_that_is_only_read():
    """As an input alone it stays as it is, whatever it was before."""
    _, inputs, outputs, step = compiled()
    step(inputs[0], inputs[0], 3)
    step(inputs[0], outputs[0], 1)
    assert rows(inputs[0]) == [0, 0, 0, 4, 0, 0]
    assert rows(outputs[0]) == [0, 2, 0, 4, 0, 0]
    step(outputs[0], inputs[0], 5)
    assert rows(inputs[0]) == [0, 2, 0, 4, 0, 6]
    assert rows(outputs[0]) == [0, 2, 0, 4, 0, 0]


def test_state_in_memory_of_the_caller():
    _, _, _, step = compiled()
    memory = np.zeros(18 + 16, np.float32)
    memory = memory[-memory.ctypes.data % 64 // 4 :][:18].reshape(SHAPE)
    buffer = TensorBuffer.create_from_host_memory(memory)
    step(buffer, buffer, 2)
    step(buffer, buffer, 3)
    assert memory[0, :, 0].tolist() == [0, 0, 3, 4, 0, 0]


def test_state_that_is_read_again():
    """The model adds what was there before: then it is not written in place."""
    _, inputs, outputs, step = compiled(reread=(0,))
    step(inputs[0], inputs[0], 1)
    step(inputs[0], inputs[0], 2)
    assert rows(inputs[0]) == [0, 2, 3, 0, 0, 0]
    assert rows(outputs[1]) == [0, 4, 3, 0, 0, 0]


def test_swapped_states():
    main = Builder()
    first, second = main.input("first", SHAPE), main.input("second", SHAPE)
    row, start = main.input("row", ROW), main.input("start", (3,), "INT32")
    outs = [main.tensor(name, SHAPE) for name in ("first1", "second1")]
    for x, out in zip((first, second), outs, strict=True):
        main.op("DYNAMIC_UPDATE_SLICE", [x, row, start], [out])
    model = CompiledModel.from_buffer(save(main.outputs(*outs)))
    a, b, row, start = model.create_input_buffers(0)

    def step(x, y, position):
        row.write(np.full(ROW, position + 1, np.float32))
        start.write(np.int32([0, position, 0]))
        model.run_by_index(0, [x, y, row, start], [x, y])

    b.write(np.full(SHAPE, 9, np.float32))
    step(a, b, 0)
    step(b, a, 1)
    step(a, b, 2)
    assert rows(a) == [1, 2, 3, 0, 0, 0]
    assert rows(b) == [1, 2, 3, 9, 9, 9]


def test_plans_on_disk_are_apart(tmp_path, monkeypatch):
    """The plan of a compiled model, which overwrites its inputs, is no interpreter's."""
    folder = tmp_path / "plans"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("FLATLITE_PLANS", str(folder))
    path = tmp_path / "cache.tflite"
    path.write_bytes(updates(1))
    status = path.stat()
    entries = [cache_entry_of(status, 1, consumes) for consumes in (False, True)]
    assert entries[0].key != entries[1].key
    model = CompiledModel.from_file(str(path))
    inputs = model.create_input_buffers(0)
    inputs[1].write(np.ones(ROW, np.float32))
    model.run_by_index(0, inputs, [inputs[0]])
    assert rows(inputs[0]) == [1, 0, 0, 0, 0, 0]


def variable_cache(reread):
    """A cache in a variable: read, updated, assigned; where `reread`, the old value is, too."""
    main, start = Builder(), Builder("start")
    row, at = main.input("row", ROW), main.input("at", (3,), "INT32")
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "cache"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", SHAPE)])
    new = main.op("DYNAMIC_UPDATE_SLICE", [old, row, at], [main.tensor("new", SHAPE)])
    main.op("ASSIGN_VARIABLE", [handle, new], [])
    later = main.op("READ_VARIABLE", [handle], [main.tensor("later", SHAPE)])
    other = old if reread else new
    result = main.op("SUB", [later, other], [main.tensor("difference", SHAPE)])
    total = main.op("ADD", [later, later], [main.tensor("twice", SHAPE)])
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    start.op("ASSIGN_VARIABLE", [first, start.constant("ones", np.ones(SHAPE, np.float32))], [])
    return save(main.outputs(result, total), start.outputs())


@pytest.mark.parametrize("reread", [False, True])
def test_cache_in_a_variable(reread, litert):
    """Each run goes on with what those before it left; an old value that is read again stays."""
    content, steps = variable_cache(reread), [feeds(i)[1:] for i in (0, 3, 5, 3)]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    for step, expected in zip(steps, litert.run(content, steps), strict=True):
        for detail, array in zip(inputs, step, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        for detail, theirs in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), theirs)


def variable_once(*, looked_up=False, twice=False):
    """A variable that is read and assigned once, or twice: updated, and read again after that.

    Where `looked_up`, an operator that may fail stands before the assignment.
    """
    main, start = Builder(), Builder("start")
    row, at = main.input("row", ROW), main.input("at", (3,), "INT32")
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "cache"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", SHAPE)])
    new = main.op("DYNAMIC_UPDATE_SLICE", [old, row, at], [main.tensor("new", SHAPE)])
    picked = []
    if looked_up:
        picked = [main.op("GATHER", [row, at], [main.tensor("picked", (1, 3, 3))], axis=1)]
    main.op("ASSIGN_VARIABLE", [handle, new], [])
    total = main.op("ADD", [new, new], [main.tensor("twice", SHAPE)])
    if twice:
        main.op("ASSIGN_VARIABLE", [handle, total], [])
    late = main.op("MUL", [new, new], [main.tensor("late", SHAPE)])
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    start.op("ASSIGN_VARIABLE", [first, start.constant("ones", np.ones(SHAPE, np.float32))], [])
    return save(main.outputs(total, late, new, *picked), start.outputs())


def variable_of(interpreter):
    """The array that holds the only variable."""
    (array,) = interpreter._scope.resources.values()
    return array


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("looked_up", [False, True])
def test_variable_in_its_own_memory(looked_up, twice, litert):
    """It stays where it is, with nothing copied, if nobody can see that; results are LiteRT's."""
    content = variable_once(looked_up=looked_up, twice=twice)
    steps = [[feeds(i)[1], np.int32([0, 0, 0])] for i in range(4)]
    if not looked_up:
        steps = [feeds(i)[1:] for i in (0, 3, 5, 3)]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    new = outputs[2]["index"]
    for step, expected in zip(steps, litert.run(content, steps), strict=True):
        for detail, array in zip(inputs, step, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        for detail, theirs in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), theirs)
        is_shared = np.shares_memory(variable_of(interpreter), interpreter.tensor(new)())
        assert is_shared == (not looked_up and not twice)


def test_variable_after_a_failure(litert):
    """What an invoke has written that failed before the assignment is not the variable's."""
    content, steps = variable_once(looked_up=True), [feeds(i)[1] for i in range(3)]
    start = np.int32([0, 0, 0])
    expected = litert.run(content, [[steps[0], start], [steps[2], start]])[-1]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    for step, at in zip(steps, (start, np.int32([0, 3, 0]), start), strict=True):
        for detail, array in zip(inputs, (step, at), strict=True):
            interpreter.set_tensor(detail["index"], array)
        if at.any():
            with pytest.raises(RuntimeError, match="indices"):
                interpreter.invoke()
        else:
            interpreter.invoke()
    for detail, theirs in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), theirs)


def shifted(reading):
    """A variable whose oldest row goes out; what was read is read again as `reading` says."""
    main, start = Builder(), Builder("start")
    row = main.input("row", ROW)
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "cache"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", SHAPE)])
    flat = main.tensor("flat", (18,))
    main.op("RESHAPE", [old, main.constant("size", np.int32([18]))], [flat], new_shape=[18])
    begin, size = (
        main.constant(f"at{i}", np.int32(x)) for i, x in enumerate([(0, 1, 0), (1, 5, 3)])
    )
    later = main.op("SLICE", [old, begin, size], [main.tensor("later", (1, 5, 3))])
    new = main.op("CONCATENATION", [later, row], [main.tensor("new", SHAPE)], axis=1)
    main.op("ASSIGN_VARIABLE", [handle, new], [])
    reread = {"never": new, "as it was": old, "flat": flat}[reading]
    total = main.op(
        "ADD", [reread, reread], [main.tensor("twice", (18,) if reread == flat else SHAPE)]
    )
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    start.op("ASSIGN_VARIABLE", [first, start.constant("ones", np.ones(SHAPE, np.float32))], [])
    return save(main.outputs(total, new), start.outputs())


@pytest.mark.parametrize("reading", ["never", "as it was", "flat"])
def test_variable_that_is_read_where_it_lies(reading, litert):
    """Nothing is copied to be read, unless it is read again after the variable changed."""
    content, steps = shifted(reading), [feeds(i)[1:2] for i in range(4)]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    for step, expected in zip(steps, litert.run(content, steps), strict=True):
        interpreter.set_tensor(inputs[0]["index"], step[0])
        interpreter.invoke()
        for detail, theirs in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), theirs)
    copies = [x.reads[0].kind for x in last_stage(interpreter).program.instructions
              if x.name == "copy.copy"]  # fmt: skip
    assert copies.count(BOUND) == (reading != "never")


def last_stage(interpreter):
    """The stage that the last run ended with."""
    return interpreter._plans[0].reached


@pytest.mark.parametrize("side", ["front", "back"])
def test_variable_that_is_shifted_where_it_lies(side, litert):
    """The oldest row goes out and the new one comes in: with one move and no copy."""
    main, start = Builder(), Builder("start")
    row = main.input("row", ROW)
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "cache"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", SHAPE)])
    begin = main.constant("begin", np.int32((0, side == "back", 0)))
    size = main.constant("size", np.int32((1, 5, 3)))
    later = main.op("SLICE", [old, begin, size], [main.tensor("later", (1, 5, 3))])
    parts = [later, row] if side == "back" else [row, later]
    new = main.op("CONCATENATION", parts, [main.tensor("new", SHAPE)], axis=1)
    main.op("ASSIGN_VARIABLE", [handle, new], [])
    total = main.op("ADD", [new, new], [main.tensor("twice", SHAPE)])
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    ones = start.constant("ones", np.arange(18, dtype=np.float32).reshape(SHAPE))
    start.op("ASSIGN_VARIABLE", [first, ones], [])
    content, steps = save(main.outputs(total), start.outputs()), [feeds(i)[1:2] for i in range(4)]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    (x,), (y,) = interpreter.get_input_details(), interpreter.get_output_details()
    for step, (theirs,) in zip(steps, litert.run(content, steps), strict=True):
        interpreter.set_tensor(x["index"], step[0])
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(y["index"]), theirs)
    kernels = [x.name for x in last_stage(interpreter).program.instructions]
    assert kernels[:2] == ["layout.shift", "layout.move"]
    assert "copy.copy" not in kernels


def test_variable_that_is_only_read_is_not_updated():
    """Also by operators whose results may lie on an operand."""
    main, start = Builder(), Builder("start")
    row, at = main.input("row", ROW), [main.input(f"at{i}", (), "INT32") for i in range(3)]
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "cache"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", SHAPE)])
    new = main.tensor("new", SHAPE)
    main.op("STABLEHLO_DYNAMIC_UPDATE_SLICE", [old, row, *at], [new])
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    start.op("ASSIGN_VARIABLE", [first, start.constant("ones", np.ones(SHAPE, np.float32))], [])
    total = main.op("ADD", [new, new], [main.tensor("twice", SHAPE)])
    interpreter = Interpreter(model_content=save(main.outputs(total), start.outputs()))
    interpreter.allocate_tensors()
    (y,) = interpreter.get_output_details()
    for position in (1, 4):
        for detail, value in zip(
            interpreter.get_input_details(),
            (np.zeros(ROW, np.float32), *np.int32([0, position, 0])),
            strict=True,
        ):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        expected = np.full(SHAPE, 2)
        expected[0, position] = 0
        np.testing.assert_array_equal(interpreter.get_tensor(y["index"]), expected)


def test_variable_that_changes_its_size():
    """Stages are for the memory that a variable has: it is looked at in each run.

    As TensorFlow has it: LiteRT prepares no operator again.
    """
    main, start = Builder(), Builder("start")
    x = main.input("x", (2,))
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    names = {"container": "", "shared_name": "sum"}
    handle = main.op("VAR_HANDLE", [], [main.tensor("handle", (), "RESOURCE")], **names)
    old = main.op("READ_VARIABLE", [handle], [main.tensor("old", (2,))])
    total = main.op("CONCATENATION", [old, x], [main.tensor("total", (4,))], axis=0)
    main.op("ASSIGN_VARIABLE", [handle, total], [])
    later = main.op("READ_VARIABLE", [handle], [main.tensor("later", (4,))])
    out = main.op("ADD", [later, later], [main.tensor("twice", (4,))])
    first = start.op("VAR_HANDLE", [], [start.tensor("handle", (), "RESOURCE")], **names)
    start.op("ASSIGN_VARIABLE", [first, start.constant("ones", np.ones(2, np.float32))], [])
    interpreter = Interpreter(model_content=save(main.outputs(out), start.outputs()))
    interpreter.allocate_tensors()
    (x,), (y,) = interpreter.get_input_details(), interpreter.get_output_details()
    expected = np.ones(2)
    for i in range(4):
        interpreter.set_tensor(x["index"], np.float32([i, i]))
        interpreter.invoke()
        expected = np.append(expected, [i, i])
        np.testing.assert_array_equal(interpreter.get_tensor(y["index"]), 2 * expected)
        np.testing.assert_array_equal(variable_of(interpreter), expected)
