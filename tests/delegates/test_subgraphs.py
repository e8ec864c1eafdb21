"""Delegates in the subgraphs that IF, WHILE and CALL run."""

import numpy as np
import pytest
from building import Builder, save
from delegated import assert_same

from flatlite.lite import Interpreter

f32, i32 = np.float32, np.int32
CARRIED = (("i", (1,), "INT32"), ("x", (3,), "FLOAT32"))


def body(name, kind, result):
    """i + 1, and twice a function of x."""
    b = Builder(name)
    i, x = (b.input(*end) for end in CARRIED)
    following, y, z = (
        b.tensor("following", (1,), "INT32"),
        b.tensor("y", (3,)),
        b.tensor(result, (3,)),
    )
    b.op("ADD", [i, b.constant("one", i32([1]))], [following])
    b.op("MUL", [x, b.constant("half", f32([0.5]))], [y])
    b.op(kind, [y, y], [z])
    return b.outputs(following, z)


def called_by(kind):
    """A model whose one operator calls bodies; a constant flag or bound is an input."""
    main, subgraphs = Builder("main"), [body("first", "ADD", "p"), body("second", "MUL", "q")]
    ends = [main.input(*end) for end in CARRIED]
    results = [main.tensor(f"{name}_out", *more) for name, *more in CARRIED]
    if kind == "IF":
        flag = main.input("flag", (), "BOOL")
        branches = {"then_subgraph_index": 1, "else_subgraph_index": 2}
        main.op("IF", [flag, *ends], results, **branches)
    elif kind == "WHILE":
        condition = Builder("condition")
        i, _ = (condition.input(*end) for end in CARRIED)
        flag = condition.tensor("flag", (1,), "BOOL")
        condition.op("LESS", [i, condition.constant("n", i32([4]))], [flag])
        subgraphs.append(condition.outputs(flag))
        main.op("WHILE", ends, results, cond_subgraph_index=3, body_subgraph_index=2)
    else:
        main.op("CALL", ends, results, subgraph=1)
    square = main.tensor("square", (3,))
    main.op("MUL", [results[1], results[1]], [square])
    return save(main.outputs(results[0], square), *subgraphs)


def outputs_of(content, flag=True, delegates=None):
    """The outputs, and the interpreter."""
    interpreter = Interpreter(model_content=content, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    feeds = (i32([0]), f32([0.5, -2, 3]), np.array(flag))
    for _ in range(2):
        for detail, value in zip(interpreter.get_input_details(), feeds, strict=False):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
    return [
        interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()
    ], interpreter


@pytest.mark.parametrize(
    ("kind", "flag", "subgraph", "names"),
    [
        ("IF", True, 1, ["y", "p"]),
        ("IF", False, 2, ["y", "q"]),
        ("WHILE", True, 2, ["y", "q"]),
        ("CALL", True, 1, ["y", "p"]),
    ],
)
def test_a_part_of_what_is_called(kind, flag, subgraph, names, chosen):
    content = called_by(kind)
    outputs, interpreter = outputs_of(content, flag, [chosen([*names, "square"])])
    assert_same(outputs, outputs_of(content, flag)[0])
    rows = interpreter.delegate_report(subgraph).operators
    assert [row.name for row in rows if row.part is not None] == names
    assert interpreter.delegate_report().operators[-1].delegate == "numpy"


def test_what_nobody_takes_joins_its_caller(chosen):
    content = called_by("WHILE")
    outputs, interpreter = outputs_of(content, delegates=[chosen(["square"])])
    assert_same(outputs, outputs_of(content)[0])
    assert interpreter.delegate_report().operators[-1].delegate == "numpy"
    with pytest.raises(RuntimeError, match="nothing is delegated yet"):
        interpreter.delegate_report(2)


def test_a_failure_in_a_turn(chosen, monkeypatch):
    content = called_by("WHILE")
    delegate = chosen(["y", "q"])
    runs = []

    compile_part = type(delegate).compile

    def compiled(self, partition):
        run = compile_part(self, partition)

        def fails_at_last(*arrays):
            runs.append(partition)
            if len(runs) == 3:
                raise OSError("the device is gone")
            return run(*arrays)

        return fails_at_last

    monkeypatch.setattr(type(delegate), "compile", compiled)
    with pytest.warns(RuntimeWarning, match="OSError: the device is gone; the CPU runs"):
        outputs, _ = outputs_of(content, delegates=[delegate])
    assert_same(outputs, outputs_of(content)[0])
    assert len(runs) == 3
