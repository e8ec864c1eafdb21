"""Edits of models: what they change, what they keep, and what they refuse."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from recorded import has_runs, rows, runs_of
from running import answers
from test_corpus import run_model

from flatlite import edit
from flatlite.lite import Interpreter
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.model import Model, Operator, Quantization, Signature, Subgraph, Tensor, save

PAGE = Path(__file__).parents[1] / "docs/edit.md"
LARGE = 1 << 20  # bytes of files that are left out


def f32(*values):
    return np.array(values, np.float32)


def chain(quantization=None, dtype="FLOAT32"):
    """x -> MUL by 2 -> a -> ADD 1 -> b -> RELU -> y, with a signature."""
    tensors = [
        Tensor("x", (1, 2), dtype, quantization=quantization),
        Tensor("two", (1,), "FLOAT32", f32(2)),
        Tensor("a", (1, 2)),
        Tensor("one", (2,), "FLOAT32", f32(1, -1)),
        Tensor("b", (1, 2)),
        Tensor("y", (1, 2), quantization=quantization),
    ]
    operators = [
        Operator("MUL", [0, 1], [2], options_class("MUL")()),
        Operator("ADD", [2, 3], [4], options_class("ADD")()),
        Operator("RELU", [4], [5]),
    ]
    signature = Signature("serving_default", {"in": 0}, {"out": 5})
    return Model([Subgraph("main", tensors, [0], [5], operators)], signatures=[signature])


def run(model, *arrays):
    """The outputs of the first subgraph."""
    return answers(Interpreter(model_content=edit.save(model)), *arrays)


X = f32([3, -4])


def files():
    """Models of the corpus, with their recorded inputs."""
    for row in rows():
        if has_runs(row) and row["size"] < LARGE and not row.get("stateful"):
            yield row


@pytest.mark.parametrize("row", list(files())[::3], ids=lambda row: row["id"])
def test_every_edit_keeps_what_it_does_not_change(row, corpus):
    content = (corpus / row["files"]["tflite"]).read_bytes()
    model = edit.load(content)
    saved = edit.save(model)
    assert edit.assemble(edit.dump(model)) == model
    assert edit.differences(model, model) == []
    skeleton = edit.strip(model, "weights")
    assert edit.save(edit.set_weights(skeleton, edit.weights(model))) == saved
    names = [model.subgraphs[0].tensors[i].name for i in model.subgraphs[0].inputs]
    edited = [
        edit.extract(model, [name for name in names if names.count(name) == 1] or None),
        edit.strip(model, "names", "metadata"),
    ]
    assert edit.save(model) == saved  # the model itself is not touched
    step = runs_of(row).steps[0]
    if isinstance(step, dict) and len(model.signatures) != 1:
        return
    results = []
    for one in (model, *edited):
        interpreter = Interpreter(model_content=edit.save(one))
        interpreter.allocate_tensors()
        results.append(run_model(interpreter, step))
    for result in results[1:]:
        np.testing.assert_equal(result, results[0])


def test_rename():
    model = edit.rename(
        chain(),
        tensors={"a": "product"},
        inputs={"in": "image"},
        outputs={"out": "result"},
        signatures={"serving_default": "main"},
    )
    interpreter = Interpreter(model_content=edit.save(model))
    assert interpreter.get_signature_list() == {
        "main": {"inputs": ["image"], "outputs": ["result"]}
    }
    assert [t.name for t in model.subgraphs[0].tensors][2] == "product"


def test_inputs_without_a_signature_are_their_tensors():
    model = edit.rename(edit.strip(chain(), "signatures"), inputs={"x": "image"})
    (detail,) = Interpreter(model_content=edit.save(model)).get_input_details()
    assert detail["name"] == "image"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"tensors": {"c": "z"}}, "there is no tensor 'c'"),
        ({"tensors": {"a": "b"}}, "every tensor must have a name of its own; 'b' is taken"),
        ({"inputs": {"im": "z"}}, "there is no input 'im', there are 'x', 'in'"),
        ({"outputs": {"in": "z"}}, "there is no output 'in', there are 'y', 'out'"),
        ({"signatures": {"s": "z"}}, "there is no signature 's', there are 'serving_default'"),
        ({"tensors": {"a": ""}}, "the new name of a tensor must not be ''"),
        ({"inputs": {"in": ""}}, "the new name of an input must not be ''"),
    ],
)
def test_names_that_are_refused(names, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.rename(chain(), **names)


def test_tensors_of_one_name_are_told_apart():
    model = edit.rename(chain(), tensors={"a": "t"})
    model.subgraphs[0].tensors[4].name = "t"
    with pytest.raises(ValueError, match="2 tensors are called 't'; choose one: 't#2', 't#4'"):
        edit.extract(model, outputs=["t"])
    (result,) = run(edit.extract(model, outputs=["t#2"]), X)
    np.testing.assert_array_equal(result, 2 * X)


def test_extract():
    middle = edit.extract(chain(), ["a"], ["b"])
    assert [op.op for op in middle.subgraphs[0].operators] == ["ADD"]
    assert [t.name for t in middle.subgraphs[0].tensors] == ["a", "one", "b"]
    assert middle.signatures == [Signature("serving_default", {"a": 0}, {"b": 2})]
    np.testing.assert_array_equal(run(middle, X), [f32([4, -5])])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((["one"], ["y"]), "'y' cannot be computed of 'one' alone: 'x' must be among the inputs"),
        (([], ["y"]), "'y' cannot be computed of nothing alone: 'x' must be among the inputs"),
        ((["x", "x"], ["y"]), "every input must be another tensor, got 'x', 'x'"),
        (("x", ["y"]), "inputs must be a list of names, got 'x'"),
        ((["x"], []), "outputs must name a tensor at least, got none"),
    ],
)
def test_extracts_that_are_refused(ends, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.extract(chain(), *ends)


def test_extract_drops_inputs_and_subgraphs_that_are_not_needed():
    model = chain()
    graph = model.subgraphs[0]
    graph.tensors += [Tensor("other", (1, 2)), Tensor("choice", (), "BOOL"), Tensor("z", (1, 2))]
    graph.inputs += [6, 7]
    graph.outputs.append(8)
    branch = options_class("IF")(then_subgraph_index=2, else_subgraph_index=1)
    graph.operators.append(Operator("IF", [7, 6], [8], branch))
    body = [Tensor("v", (1, 2)), Tensor("w", (1, 2))]
    for name, kind in (("else", "NEG"), ("then", "ABS")):
        operators = [Operator(kind, [0], [1])]
        model.subgraphs.append(Subgraph(name, list(body), [0], [1], operators))
    model.signatures[0].inputs |= {"other": 6, "choice": 7}
    model.signatures[0].outputs["z"] = 8
    main = edit.extract(model, outputs=["y"])
    assert len(main.subgraphs) == 1
    assert main.signatures[0].inputs == {"in": 0}
    conditional = edit.extract(model, outputs=["z"])
    assert [graph.name for graph in conditional.subgraphs] == ["main", "then", "else"]
    (result,) = run(conditional, X, np.array(True))
    np.testing.assert_array_equal(result, np.abs(X))
    joined = edit.merge(edit.extract(model, outputs=["y"]), conditional, {"out": "other"})
    assert len(joined.subgraphs) == 3
    results = [run(joined, X, np.array(choice))[0] for choice in (True, False)]
    np.testing.assert_array_equal(results[0], -results[1])


def test_merge():
    model = edit.merge(chain(), chain())
    assert list(model.signatures[0].inputs) == ["in"]
    assert list(model.signatures[0].outputs) == ["out"]
    names = [tensor.name for tensor in model.subgraphs[0].tensors]
    assert len(set(names)) == len(names) == 11
    (result,) = run(model, X)
    np.testing.assert_array_equal(
        result, np.maximum(2 * np.maximum(2 * X + f32(1, -1), 0) + f32(1, -1), 0)
    )


def test_subgraphs_that_one_option_lists():
    """Extracts and merges renumber them."""
    ends = [Tensor("i", (), "INT32"), Tensor("x", (2,)), Tensor("y", (2,))]
    branches = options_class("STABLEHLO_CASE")(branch_subgraph_indices=np.int32([2, 1]))
    main = Subgraph("main", ends, [0, 1], [2], [Operator("STABLEHLO_CASE", [0, 1], [2], branches)])
    same = Subgraph("same", [Tensor("a", (2,))], [0], [0])
    other = Subgraph("other", [Tensor("a", (2,)), Tensor("c", (2,), data=f32(3, 4))], [0], [1])
    model = Model([main, other, same])
    first = Model([Subgraph("first", [Tensor("z", (2,))], [0], [0])])
    for edited in (edit.extract(model, None, ["y"]), edit.merge(first, model, {"z": "x"})):
        interpreter = Interpreter(model_content=save(edited))
        names = [detail["name"] for detail in interpreter.get_input_details()]
        for i, want in enumerate(([1, 2], [3, 4])):
            feeds = [np.int32(i) if name == "i" else f32(1, 2) for name in names]
            np.testing.assert_array_equal(answers(interpreter, *feeds)[0], want)


def test_variables_of_merged_models_stay_apart(litert):
    """Each counts its own runs."""
    tensors = [
        Tensor("x", (1,)),
        Tensor("handle", (), "RESOURCE"),
        Tensor("before", (1,)),
        Tensor("sum", (1,)),
        Tensor("first", (1,), data=f32(0)),
    ]
    handle = Operator("VAR_HANDLE", [], [1], options_class("VAR_HANDLE")(shared_name="v"))
    main = Subgraph(
        "main",
        tensors[:4],
        [0],
        [3],
        [
            Operator("CALL_ONCE", [], [], options_class("CALL_ONCE")(init_subgraph_index=1)),
            handle,
            Operator("READ_VARIABLE", [1], [2]),
            Operator("ADD", [0, 2], [3], options_class("ADD")()),
            Operator("ASSIGN_VARIABLE", [1, 3], []),
        ],
    )
    start = Subgraph(
        "start",
        [tensors[1], tensors[4]],
        [],
        [],
        [
            Operator("VAR_HANDLE", [], [0], handle.options),
            Operator("ASSIGN_VARIABLE", [0, 1], []),
        ],
    )
    model = Model([main, start])
    twice = edit.save(edit.merge(model, model))
    steps = [[f32(1)], [f32(1)], [f32(1)]]
    want = [[f32(1)], [f32(3)], [f32(6)]]  # sums of sums
    np.testing.assert_array_equal(litert.run(twice, steps), want)
    interpreter = Interpreter(model_content=twice)
    interpreter.allocate_tensors()
    np.testing.assert_array_equal([[run_model(interpreter, step)["0"]] for step in steps], want)


@pytest.mark.parametrize(
    ("second", "connections", "message"),
    [
        (chain(), {"out": "no"}, "there is no input 'no'"),
        (chain(), {}, "at least one output must be connected with an input"),
        (
            edit.set_input_shapes(chain(), {"in": (3, 2)}),
            None,
            "(float32 1x2) must have the type, shape and scale of input 'x' (float32 3x2)",
        ),
    ],
)
def test_merges_that_are_refused(second, connections, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.merge(chain(), second, connections)


def flattened():
    """x [1, 2, 3] -> RESHAPE to [1, 6] -> FULLY_CONNECTED -> y [1, 1]; its weights are 0 to 5."""
    tensors = [
        Tensor("x", (1, 2, 3)),
        Tensor("shape", (2,), "INT32", np.int32([1, 6])),
        Tensor("flat", (1, 6)),
        Tensor("w", (1, 6), data=np.arange(6, dtype=np.float32).reshape(1, 6)),
        Tensor("y", (1, 1)),
    ]
    operators = [
        Operator("RESHAPE", [0, 1], [2], options_class("RESHAPE")(new_shape=np.int32([1, 6]))),
        Operator("FULLY_CONNECTED", [2, 3, -1], [4], options_class("FULLY_CONNECTED")()),
    ]
    return Model([Subgraph("main", tensors, [0], [4], operators)])


@pytest.mark.parametrize("batch", [4, None])
def test_batch(batch, litert):
    model = edit.set_batch(flattened(), batch)
    graph = model.subgraphs[0]
    unknown = -1 if batch is None else 4
    y = graph.tensors[graph.outputs[0]]
    assert (y.shape_signature or y.shape) == (unknown, 1)
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    want = x.reshape(4, 6) @ np.arange(6, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(run(model, x), [want])
    np.testing.assert_array_equal(litert.run(edit.save(model), [[x]])[0], [want])
    back = edit.set_batch(model, 1).subgraphs[0]
    assert back.tensors[back.outputs[0]].shape == (1, 1)
    assert back.tensors[back.outputs[0]].shape_signature is None


def test_a_batch_that_an_operator_reads_across_is_refused():
    model = flattened()
    graph = model.subgraphs[0]
    graph.tensors += [Tensor("axis", (1,), "INT32", np.int32([0])), Tensor("z", (1, 1))]
    graph.operators.append(Operator("SUM", [4, 5], [6], options_class("SUM")(keep_dims=True)))
    graph.outputs = [6]
    with pytest.raises(ValueError, match="output 'z' of 4 items must be that of each alone"):
        edit.set_batch(model, 4)


def halved():
    """x [?, ?] -> [?, half, 2], by the size of x, halved."""
    tensors = [
        Tensor("x", (1, 1), shape_signature=(-1, -1)),
        Tensor("shape", (2,), "INT32"),
        Tensor("two", (), "INT32", np.array(2, np.int32)),
        *(Tensor(name, (), "INT32") for name in ("n", "m", "half")),
        Tensor("sizes", (3,), "INT32"),
        Tensor("y", (1, 1, 2), shape_signature=(-1, -1, 2)),
    ]
    unpack = options_class("UNPACK")(num=2, axis=0)
    operators = [
        Operator("SHAPE", [0], [1], options_class("SHAPE")(out_type=2)),
        Operator("UNPACK", [1], [3, 4], unpack),
        Operator("DIV", [4, 2], [5], options_class("DIV")()),
        Operator("PACK", [3, 5, 2], [6], options_class("PACK")(values_count=3, axis=0)),
        Operator("RESHAPE", [0, 6], [7], options_class("RESHAPE")()),
    ]
    return Model([Subgraph("main", tensors, [0], [7], operators)])


def test_sizes_that_are_known_become_constants(litert):
    """What takes even sizes alone is tried with others than 1 and 3."""
    model = edit.set_batch(halved(), 3)
    assert [op.op for op in model.subgraphs[0].operators][-1] == "RESHAPE"
    assert model.subgraphs[0].tensors[0].shape_signature == (3, -1)
    fixed = edit.set_input_shapes(model, {"x": (3, 8)})
    assert [op.op for op in fixed.subgraphs[0].operators] == ["RESHAPE"]
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    np.testing.assert_array_equal(run(fixed, x), [x.reshape(3, 4, 2)])
    np.testing.assert_array_equal(litert.run(edit.save(fixed), [[x]])[0], [x.reshape(3, 4, 2)])
    (twice,) = run(edit.set_batch(fixed, 6), np.concatenate([x, x]))
    np.testing.assert_array_equal(twice, np.concatenate([x, x]).reshape(6, 4, 2))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"x": (1, 6)}, "input 'x' must have 3 dimensions, got [1, 6]"),
        ({"x": (1, -2, 3)}, "sizes of input 'x' must be positive or -1, got [1, -2, 3]"),
        ({"x": (0, 2, 3)}, "sizes of input 'x' must be positive or -1, got [0, 2, 3]"),
        ({"x": (1, 2, 4)}, "the model does not take these shapes: RESHAPE"),
        ({"z": (1, 2, 4)}, "there is no input 'z', there are 'x'"),
    ],
)
def test_shapes_that_are_refused(shapes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.set_input_shapes(flattened(), shapes)


def test_weights_are_rounded_to_their_scales():
    scales = Quantization([0.5, 0.25], [0, 0], axis=0)
    weights = Tensor("w", (2, 2), "INT8", np.int8([[1, 2], [3, 4]]), quantization=scales)
    model = chain()
    model.subgraphs[0].tensors.append(weights)
    changed = edit.set_weights(model, {"w": f32([1.2, -100], [0.1, 0.2])})
    np.testing.assert_array_equal(edit.weights(changed)["w"], [[2, -128], [0, 1]])
    assert edit.weights(model)["w"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"tow": f32(1)}, "there is no weight 'tow'; did you mean 'two'?"),
        ({"two": f32(1, 2)}, "weight 'two' must have the shape (1,), got (2,)"),
        ({"two": np.array(["a"])}, "weight 'two' must be float32 or float, got <U1"),
        ({"a": f32([1, 2])}, "there is no weight 'a'"),
    ],
)
def test_weights_that_are_refused(arrays, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.set_weights(chain(), arrays)


def test_parts_that_cannot_be_stripped():
    with pytest.raises(ValueError, match=r"must be of 'signatures', .* got 'weight'"):
        edit.strip(chain(), "weight")


def test_differences_in_words():
    model = chain()
    other = edit.set_weights(edit.rename(model, tensors={"b": "c"}), {"one": f32(1, 3)})
    graph = other.subgraphs[0]
    graph.tensors[5].quantization = Quantization([0.5], [3])
    graph.operators[0].options = options_class("MUL")(fused_activation_function=1)
    graph.operators[0].version = 2
    other.metadata["labels"] = b"abc"
    other.signatures[0].key = "main"
    assert edit.differences(model, other) == [
        "metadata 'labels' added",
        "signature 'serving_default' removed",
        "signature 'main' added",
        "1 tensors removed: 'b'",
        "1 tensors added: 'c'",
        "tensor 'one': 1 of 2 values differ, by 4 at most",
        "tensor 'y' has scales now: 0.5 with zero point 3",
        "MUL 'a' version: 1 -> 2",
        "MUL 'a' fused_activation_function: 0 -> 1",
        "RELU 'y' inputs: 'b' -> 'c'",
    ]


def test_text_can_be_edited():
    content = json.loads(edit.dump(chain()))
    content["subgraphs"][0]["tensors"][1]["data"]["values"] = [5]
    model = edit.assemble(json.dumps(content))
    np.testing.assert_array_equal(run(model, X), [np.maximum(5 * X + f32(1, -1), 0)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("format"), 'must be JSON of flatlite dump, with "format"'),
        (lambda c: c.update(subgraphs=3), "model.subgraphs must be a list, got 3"),
        (
            lambda c: c["subgraphs"][0]["operators"][0].update(kind="MUL"),
            "model.subgraphs[0].operators[0] has no 'kind', there are",
        ),
        (
            lambda c: c["subgraphs"][0]["operators"][0]["options"].update(table="Mul"),
            "model.subgraphs[0].operators[0].options: the schema has no table 'Mul'",
        ),
        (
            lambda c: c["subgraphs"][0]["tensors"][1]["data"].update(values=["a"]),
            "model.subgraphs[0].tensors[1].data: could not convert",
        ),
        (
            lambda c: c["subgraphs"][0]["operators"][0].pop("op"),
            "model.subgraphs[0].operators[0]: missing 1 required",
        ),
    ],
)
def test_texts_that_are_refused(change, message):
    content = json.loads(edit.dump(chain()))
    change(content)
    with pytest.raises(ValueError, match=re.escape(message)):
        edit.assemble(json.dumps(content))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edit.save(chain()), "this is a .tflite file"),
        (b"\x80 text \xff", "this is no text"),
        (b"[1, 2", "Expecting ',' delimiter"),
        ("[]", 'with "format": "flatlite model 1"'),
    ],
)
def test_what_is_no_text_of_a_model(text, message):
    words = re.escape("the text must be JSON of flatlite dump") + ".*" + re.escape(message)
    with pytest.raises(ValueError, match=words):
        edit.assemble(text)


def test_the_page_runs(digits_file, monkeypatch, capsys):
    monkeypatch.chdir(digits_file.parent)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out
    assert printed
    assert all(f"    {line}\n" in PAGE.read_text() for line in printed.splitlines())


@pytest.fixture
def digits_file(request, tmp_path, cli):
    path = tmp_path / "digits.tflite"
    source = request.config.rootpath / "models/digits/saved_model"
    assert cli("convert", source, "-o", path, "--no-verify")[0] == 0
    return path


def test_commands(digits_file, cli, tmp_path):
    a, b, text = digits_file, tmp_path / "b.tflite", tmp_path / "a.json"
    weights = tmp_path / "w.npz"
    options = ("--batch", 4, "--rename-output", "output_0=p", "--save-weights", weights)
    status, out, err = cli("edit", a, "-o", b, *options)
    assert (status, err) == (0, "")
    assert out.startswith(f"wrote {b}: ")
    status, out, _ = cli("diff", a, b)
    assert status == 0
    assert "signature 'serving_default' outputs: 'output_0' -> 'p'\n" in out
    assert "tensor 'serving_default_image:0' shape: [-1, 8, 8, 1] -> [4, 8, 8, 1]\n" in out
    assert cli("diff", a, a)[1] == "no difference\n"
    assert cli("dump", a, "-o", text)[0] == 0
    assert cli("assemble", text, "-o", b)[0] == 0
    assert b.read_bytes() == a.read_bytes()
    assert cli("edit", a, "-o", b, "--strip", "weights")[0] == 0
    assert b.stat().st_size < 0.6 * a.stat().st_size
    assert cli("edit", b, "-o", b, "--weights", weights)[0] == 0
    assert b.read_bytes() == a.read_bytes()
    assert json.loads(cli("diff", a, b, "--json")[1])["differences"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--batch", "x"), "--batch must be a positive number, or -1 for any, got 'x'"),
        (("--rename-input", "x"), "--rename-input must be OLD=NEW, got 'x'"),
        (("--connect", "a=b"), "--connect says how --append FILE is connected; there is none"),
        (("--outputs", "nothing"), "there is no tensor 'nothing'"),
        (("--inputs", ""), "inputs must not be empty, got ''"),
        (("--outputs", "a,"), "--outputs must be names separated by commas, got 'a,'"),
        (("--outputs", "a,b,a"), "--outputs must name 'a' once, not twice"),
        (("--strip", ""), "strip must not be empty, got ''"),
        (("--connect", "a=b", "--connect", ""), "connect must not be empty, got ''"),
        (("--rename-input", "x=a", "--rename-input", "x=b"), "must name 'x' once, not twice"),
        (("--input-shape", "x=1", "--input-shape", "x=2"), "must name 'x' once, not twice"),
        (("--save-weights", ""), "save-weights must not be empty, got ''"),
        (("-o", ""), "output must not be empty, got ''"),
    ],
)
def test_commands_that_are_refused(options, message, digits_file, cli, tmp_path):
    status, _, err = cli("edit", digits_file, "-o", tmp_path / "b.tflite", *options)
    assert status == 1
    assert message in err


def test_weights_and_model_of_one_name(digits_file, cli, tmp_path):
    b = tmp_path / "b.tflite"
    status, _, err = cli(
        "edit", digits_file, "-o", b, "--save-weights", tmp_path / "." / "b.tflite"
    )
    assert status == 1
    assert f"--save-weights and --output are one file, '{b}'" in err
    assert not b.exists()


def test_dump_of_no_count(digits_file, cli):
    status, _, err = cli("dump", digits_file, "--numbers", -1)
    assert status == 2
    assert "--numbers: must be a number of at least 0, got '-1'" in err
    assert json.loads(cli("dump", digits_file, "--numbers", 0)[1])["subgraphs"]
