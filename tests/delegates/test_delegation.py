"""Delegates in an interpreter: parts, what is copied, what stays with the CPU."""

import copy
import pickle
import random
import warnings

import numpy as np
import pytest
from building import Builder, save
from delegated import CHAIN, Remote, assert_same, network, placed, prepared, run_random

from flatlite.interpreter.profile import profile
from flatlite.lite import Delegate, Interpreter


def test_a_declined_operator_in_the_middle_gives_two_parts(chosen):
    content = network(CHAIN, "d")
    interpreter = prepared(content, [chosen("acd")])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    assert str(interpreter.delegate_report()) == (
        "3 of 4 operators in 2 parts, 120 bytes copied in each run\n"
        "numpy 0: 1 operator, 24 bytes of constants, 24 bytes in, 24 bytes out\n"
        "numpy 1: 2 operators, 0 bytes of constants, 48 bytes in, 24 bytes out\n"
        "    0 MUL                  numpy 0\n"
        "    1 RELU                 CPU       numpy: it was not chosen\n"
        "    2 SUB                  numpy 1\n"
        "    3 ADD                  numpy 1"
    )
    data = interpreter.delegate_report().as_dict()
    assert data["bytes_copied"] == 120
    assert data["parts"][0] == {
        "delegate": "numpy", "part": 0, "operators": 1, "constant_bytes": 24, "bytes_in": 24,
        "bytes_out": 24,
    }  # fmt: skip
    assert data["operators"][1]["reason"] == "numpy: it was not chosen"
    assert data["operators"][2]["delegate"] == "numpy"


TRAPS = {
    "diamond": (
        "a: RELU x\nb: MUL a CONSTANT\nc: SUB a x\nd: ADD b c", "acd", "d", "a>0 b>- c>0 d>1",
    ),
    "shared output": ("a: RELU x\nb: MUL a a\nc: SUB a x", "ac", "abc", "a>0 b>- c>0"),
    "output in the middle": (CHAIN, "abcd", "bd", "a>0 b>0 c>0 d>0"),
    "the input is an output": ("a: RELU x", "a", "xa", "a>0"),
    "view of an input": ("a: VIEW x\nb: VIEW a\nc: ADD b b", "abc", "ac", "a>0 b>0 c>0"),
    "view between parts": (
        "a: RELU x\nb: VIEW a\nc: MUL b b\nd: VIEW c\ne: ADD d a", "abde", "be",
        "a>0 b>0 c>- d>1 e>1",
    ),
    "declined view": ("a: RELU x\nb: VIEW a\nc: MUL b b", "ac", "c", "a>0 b>- c>1"),
    "view of what only the delegate has": (
        "a: RELU x\nb: MUL a x\nc: SUB b x\nd: VIEW a\ne: VIEW c\nf: ADD d e", "acdef", "df",
        "a>0 b>- c>1 d>0 e>1 f>1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("preserve", [False, True])
@pytest.mark.parametrize("name", TRAPS)
def test_traps(name, preserve, chosen):
    text, claimed, outputs, where = TRAPS[name]
    content = network(text, outputs)
    options = {"experimental_preserve_all_tensors": preserve}
    interpreter = prepared(content, [chosen(claimed)], **options)
    plain = prepared(content, **options)
    assert placed(interpreter) == where
    for seed in range(2):
        assert_same(run_random(interpreter, seed), run_random(plain, seed))
    if preserve:
        every = [d["index"] for d in plain.get_tensor_details()]
        assert_same(map_tensors(interpreter, every), map_tensors(plain, every))


def map_tensors(interpreter, tensors):
    return [interpreter.get_tensor(tensor) for tensor in tensors]


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_with_two_delegates(seed, chosen):
    chance = random.Random(seed)
    lines, round_of = [], {"x": 0}
    for i in range(chance.randint(4, 12)):
        name, of = f"t{i}", chance.choice(list(round_of))
        kind = chance.choice(["ADD", "SUB", "MUL", "RELU", "VIEW"])
        inputs = [of]
        if kind in ("ADD", "SUB", "MUL"):
            alike = [n for n, turn in round_of.items() if turn == round_of[of]]
            inputs.append(chance.choice([*alike, "CONSTANT"]))
        round_of[name] = round_of[of] ^ (kind == "VIEW")
        lines.append(f"{name}: {kind} {' '.join(inputs)}")
    names = list(round_of)[1:]
    outputs = sorted({names[-1], *chance.sample(names, 2)})
    content = network("\n".join(lines), outputs)
    delegates = [
        chosen([n for n in names if chance.random() < 0.6], minimum_size=chance.choice([1, 2]))
        for _ in range(2)
    ]
    interpreter = prepared(content, delegates)
    plain = prepared(content)
    for again in range(2):
        assert_same(run_random(interpreter, again), run_random(plain, again))


def test_results_stay_with_the_delegate_between_its_parts(chosen):
    reads, seen = [], []

    class Far(chosen):
        def compile(self, part):
            run = super().compile(part)

            def far(*arrays):
                seen.extend(type(x) for x in arrays)
                near = [x._array if isinstance(x, Remote) else x for x in arrays]
                return [Remote(x, reads) for x in run(*near)]

            return far

    text = "a: RELU x\nb: ADD a a\nc: MUL b b\nd: ADD c a"
    content = network(text, "d")
    interpreter = prepared(content, [Far("abd")])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    assert placed(interpreter) == "a>0 b>0 c>- d>1"
    assert seen == [np.ndarray, np.ndarray, Remote]  # x; c, and a as part 0 gave it
    assert len(reads) == 2  # b and d, not a
    assert interpreter.delegate_report().bytes_copied == 4 * 24


def test_what_a_delegate_keeps_is_no_view_of_memory_that_is_used_again(chosen):
    text = "a: RELU x\nb: VIEW a\nc: MUL b b\nd: RELU c\ne: ADD d d\nf: RELU e\ng: ADD f b"
    content = network(text, "g")
    interpreter = prepared(content, [chosen("bceg")])
    assert placed(interpreter) == "a>- b>0 c>0 d>- e>1 f>- g>2"
    for seed in range(2):
        assert_same(run_random(interpreter, seed), run_random(prepared(content), seed))


def test_the_first_delegate_chooses_first(chosen):
    content = network(CHAIN, "d")
    first, second = chosen("bc"), chosen("abd")
    second.name = "other"
    interpreter = prepared(content, [first, second])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    rows = interpreter.delegate_report().operators
    assert [(r.delegate, r.part) for r in rows] == [
        ("other", 1),
        ("numpy", 0),
        ("numpy", 0),
        ("other", 2),
    ]


def test_resizing_compiles_for_the_new_shape(chosen):
    b = Builder()
    x = b.input("x", (None, 3))
    y = b.tensor("y", (None, 3))
    b.op("ADD", [x, b.constant("c", np.float32([1, 2, 3]))], [y])
    content = save(b.outputs(y), signatures=[("serve", {"x": x}, {"y": y}, 0)])
    shapes = []

    class Noted(chosen):
        def compile(self, part):
            shapes.append(part.inputs[0].shape)
            return super().compile(part)

    interpreter = prepared(content, [Noted("y")])
    for rows in (4, 1, 0):
        interpreter.resize_tensor_input(x, (rows, 3))
        interpreter.allocate_tensors()
        assert run_random(interpreter)[0].shape == (rows, 3)
    assert shapes == [(1, 3), (4, 3), (0, 3)]  # the plan for (1, 3) is kept
    runner = interpreter.get_signature_runner("serve")
    assert runner(x=np.ones((2, 3), np.float32))["y"].tolist() == [[2, 3, 4]] * 2
    assert placed(interpreter) == "y>0"


def test_state_and_what_has_to_wait_stay_with_the_cpu(chosen):
    b = Builder()
    x = b.input("x", (3,))
    state = b.tensor("state", (3,), is_variable=True)
    y, z, where, last = (b.tensor(n, (3,)) for n in ("y", "z", "where", "last"))
    b.subgraph.tensors[where] = b.subgraph.tensors[where].__class__("where", (1, 1), "INT64")
    b.op("ADD", [x, x], [y])
    b.op("ADD", [y, state], [z])
    flags = b.tensor("flags", (3,), "BOOL")
    b.op("GREATER", [y, z], [flags])
    b.op("WHERE", [flags], [where])
    b.op("ADD", [z, z], [last])
    unused = b.tensor("unused", (3,))
    b.op("ADD", [x, x], [unused])
    content = save(b.outputs(where, last))
    interpreter = prepared(content, [chosen(["y", "z", "last", "unused"])])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    rows = interpreter.delegate_report().operators
    assert [row.reason for row in rows] == [
        "",
        "numpy: ADD may keep state, which stays with the CPU",
        "numpy: it was not chosen",
        "what it gives or needs is known only when the model runs",
        "",
        "nothing needs its result",
    ]
    assert [row.part for row in rows] == [0, None, None, None, 1, None]


def test_a_later_stage_is_offered_at_the_sizes_that_come_first(chosen):
    b = Builder()
    x = b.input("x", (4,))
    flags, where = b.tensor("flags", (4,), "BOOL"), b.tensor("where", (1, 1), "INT64")
    y, z = b.tensor("y", (1, 1)), b.tensor("z", (1, 1))
    b.op("GREATER", [x, b.constant("zero", np.float32(0))], [flags])
    b.op("WHERE", [flags], [where])
    b.op("CAST", [where], [y])
    b.op("ADD", [y, y], [z])
    content = save(b.outputs(z))
    delegate = chosen(["z"])
    interpreter, plain = prepared(content, [delegate]), prepared(content)
    assert interpreter.delegate_report().operators[3].reason.startswith("operator 1 (WHERE) has")
    sizes = []
    for seed in range(6):
        assert_same(run_random(interpreter, seed), run_random(plain, seed))
        sizes.append(interpreter.get_output_details()[0]["shape"][0])
    assert len(set(sizes)) > 2
    assert placed(interpreter).endswith("z>0")
    (part,) = interpreter.delegate_report().parts
    assert part.bytes_in == 4 * sizes[0]


def test_what_is_known_beforehand_is_not_offered(chosen):
    b = Builder()
    x = b.input("x", (3,))
    one, y, shape = b.tensor("one", (3,)), b.tensor("y", (3,)), b.tensor("shape", (1,), "INT32")
    b.op("ADD", [b.constant("c", np.float32([1, 2, 3]))] * 2, [one])
    b.op("SHAPE", [x], [shape])
    b.op("MUL", [x, one], [y])
    content = save(b.outputs(y, shape))
    interpreter = prepared(content, [chosen(["one", "y"])])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    assert placed(interpreter) == "one>- shape>- y>0"
    reasons = {row.reason for row in interpreter.delegate_report().operators}
    assert reasons == {"", "its result is known before the model runs"}


def test_copies_have_the_delegates_too(chosen):
    content = network(CHAIN, "d")
    interpreter = prepared(content, [chosen("acd")])
    want = run_random(interpreter)
    for other in (interpreter.clone(), copy.deepcopy(interpreter)):
        other.allocate_tensors()
        assert_same(run_random(other), want)
        assert placed(other) == placed(interpreter)


def test_pickles_take_delegates_along():
    delegate = pickle.loads(pickle.dumps(Plain(minimum_size=2)))
    assert delegate.minimum_size == 2
    interpreter = prepared(network(CHAIN, "d"), [Plain()])
    other = pickle.loads(pickle.dumps(interpreter))
    other.allocate_tensors()
    assert len(other.delegate_report().parts) == 0


class Plain(Delegate):
    """Claims nothing."""

    def reason_against(self, op):
        return "no"


def test_a_profile_shows_parts(chosen):
    interpreter = prepared(network(CHAIN, "d"), [chosen("acd")])
    run_random(interpreter)
    rows = [(row.kind, row.name) for row in profile(interpreter)]
    assert rows == [("DELEGATE", "numpy 0"), ("RELU", "b"), ("DELEGATE", "numpy 1")]


def test_what_a_part_keeps_to_itself_cannot_be_read(chosen):
    interpreter = prepared(network(CHAIN, "d"), [chosen("abcd")])
    run_random(interpreter)
    with pytest.raises(ValueError, match="'b' is an intermediate result"):
        interpreter.get_tensor(3)


def test_reports_need_delegates_and_memory(chosen):
    content = network(CHAIN, "d")
    with pytest.raises(RuntimeError, match="made without experimental_delegates"):
        Interpreter(model_content=content).delegate_report()
    with pytest.raises(RuntimeError, match=r"call allocate_tensors\(\) first"):
        Interpreter(model_content=content, experimental_delegates=[chosen("a")]).delegate_report()


@pytest.mark.parametrize("no_list", ["xla", 5])
def test_what_is_no_list_of_delegates(no_list):
    with pytest.raises(ValueError, match=f"must be a list of delegates, got {no_list!r}"):
        Interpreter(model_content=network(CHAIN, "d"), experimental_delegates=no_list)


@pytest.mark.parametrize("no_delegate", [object(), "xla", Delegate])
def test_only_delegates_are_taken(no_delegate):
    with pytest.raises(ValueError, match="load_delegate makes one"):
        Interpreter(model_content=network(CHAIN, "d"), experimental_delegates=[no_delegate])


def test_the_base_class_says_what_is_missing():
    with pytest.warns(
        RuntimeWarning, match="NotImplementedError: Delegate must define reason_against"
    ):
        prepared(network(CHAIN, "d"), [Delegate()])
    with pytest.raises(ValueError, match="minimum_size must be a number of at least 1, got 0"):
        Delegate(minimum_size=0)
    with pytest.raises(ValueError, match="fallback must be True or False, got 'no'"):
        Delegate(fallback="no")


def test_the_bodies_of_loops_stay_with_the_cpu(chosen):
    main, condition, body = Builder("main"), Builder("condition"), Builder("body")
    x, y, z = main.input("x", (3,)), main.tensor("y", (3,)), main.tensor("z", (3,))
    main.op("ADD", [x, x], [y])
    main.op("WHILE", [y], [z], cond_subgraph_index=1, body_subgraph_index=2)
    main.outputs(z)
    v, small, all_small = condition.input("v", (3,)), condition.tensor("s", (3,), "BOOL"), None
    all_small = condition.tensor("all", (), "BOOL")
    condition.op("LESS", [v, condition.constant("ten", np.float32(10))], [small])
    axes = condition.constant("axes", np.array([0], np.int32))
    condition.op("REDUCE_ALL", [small, axes], [all_small])
    condition.outputs(all_small)
    u, w = body.input("u", (3,)), body.tensor("w", (3,))
    body.op("ADD", [u, body.constant("one", np.float32([1, 1, 1]))], [w])
    body.outputs(w)
    content = save(main, condition, body)
    interpreter = prepared(content, [chosen(["y", "w"])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(run_random(interpreter), run_random(prepared(content)))
    assert placed(interpreter) == "y>0 z>-"
