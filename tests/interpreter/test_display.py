"""Closing an interpreter, and what it looks like."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from running import answers

from flatlite.interpreter.interpreter import Interpreter

ONE = np.ones((2, 3), np.float32)


@pytest.fixture
def path(transposer, tmp_path):
    """The file of `transposer`."""
    path = tmp_path / "turn.tflite"
    path.write_bytes(transposer)
    return path


def test_text_says_what_it_is(path, transposer):
    interpreter = Interpreter(path)
    ends = "x float32[?,3] -> y float32[3,?], z float32[?]"
    assert repr(interpreter) == f"<Interpreter of {str(path)!r}, not allocated: {ends}>"
    runner = interpreter.get_signature_runner()
    assert repr(runner) == f"<SignatureRunner 'serve' of {str(path)!r}, not allocated: {ends}>"
    runner(x=ONE)
    ends = "x float32[2,3] -> y float32[3,2], z float32[6]"
    assert repr(interpreter) == f"<Interpreter of {str(path)!r}, allocated: {ends}>"
    assert repr(runner) == f"<SignatureRunner 'serve' of {str(path)!r}, allocated: {ends}>"
    ends = "x float32[?,3] -> y float32[3,?], z float32[?]"
    of_bytes = f"<Interpreter of {len(transposer):,} bytes, not allocated: {ends}>"
    assert repr(Interpreter(model_content=transposer)) == of_bytes
    assert repr(pickle.loads(pickle.dumps(interpreter))) == of_bytes


def test_text_stays_one_line(builder, saved):
    b = builder()
    inputs = [b.input(name, (1,)) for name in ("a\nb", "", "c", "d", "e", "f")]
    interpreter = Interpreter(model_content=saved(b.outputs(inputs[0])))
    assert r"'a\nb' float32[1], '' float32[1], c float32[1], d float32[1], and 2 more ->" in repr(
        interpreter
    )


def test_notebooks_show_a_table_of_escaped_text(builder, saved):
    b = builder()
    x = b.input("<script>alert(1)</script>", (None, 2), "INT8")
    evil = "</td><b>&"
    signatures = [(evil, {evil: x}, {evil: x}, 0)]
    interpreter = Interpreter(model_content=saved(b.outputs(x), signatures=signatures))
    table = interpreter._repr_html_()
    assert "<td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td>int8</td><td>?,2</td>" in table
    both = table + interpreter.get_signature_runner()._repr_html_()
    assert "<script" not in both and "<b>" not in both
    assert both.count("<tr>") == both.count("</tr>") == 6


CALLS = {
    "invoke": Interpreter.invoke,
    "allocate_tensors": Interpreter.allocate_tensors,
    "get_input_details": Interpreter.get_input_details,
    "get_tensor": lambda i: i.get_tensor(0),
    "set_tensor": lambda i: i.set_tensor(0, ONE),
    "resize": lambda i: i.resize_tensor_input(0, [1, 3]),
    "signatures": Interpreter.get_signature_list,
    "runner": Interpreter.get_signature_runner,
    "clone": Interpreter.clone,
    "pickle": pickle.dumps,
    "enter": Interpreter.__enter__,
    "reset": Interpreter.reset_all_variables,
    "report": Interpreter.delegate_report,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_one_refuses(transposer, name):
    with Interpreter(model_content=transposer) as interpreter:
        answers(interpreter, ONE)
    interpreter.close()
    with pytest.raises(RuntimeError, match=r"^This interpreter is closed; make another one$"):
        CALLS[name](interpreter)
    assert not hasattr(interpreter, "no_such_name")


def test_what_it_gave_refuses_too(transposer):
    interpreter = Interpreter(model_content=transposer)
    runner, view = interpreter.get_signature_runner(), interpreter.tensor(0)
    copy = interpreter.clone()
    interpreter.close()
    for call in (view, lambda: runner(x=ONE), runner.get_input_details):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    assert repr(interpreter) == "<Interpreter, closed>"
    assert repr(runner) == "<SignatureRunner 'serve', closed>"
    assert answers(copy, ONE)[0].shape == (3, 2)


def test_closing_frees_at_once(builder, saved):
    main, other = builder("main"), builder("other")
    x, flag = main.input("x", (4,)), main.input("flag", (), "BOOL")
    y = main.tensor("y", (None,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    a = other.input("a", (4,))
    z = other.op("CONCATENATION", [a, a], [other.tensor("z", (8,))], axis=0)
    same = builder("same")
    same.outputs(same.op("ABS", [same.input("a", (4,))], [same.tensor("b", (4,))]))
    content = saved(main.outputs(y), other.outputs(z), same)
    gc.collect()
    gc.disable()
    try:
        with Interpreter(model_content=content, num_threads=2) as interpreter:
            answers(interpreter, np.zeros(4, np.float32), np.array(True))
            plan = interpreter._plans[0]
            inner = [p for plans in interpreter._scope.plans.values() for p in plans.values()]
            programs = [weakref.ref(p.first.program) for p in (plan, *inner)]
            survivors = interpreter.tensor(0)()
            del plan, inner
        assert len(programs) == 2
        assert [program() for program in programs] == [None, None]
        assert survivors.tolist() == [0, 0, 0, 0]
    finally:
        gc.enable()
