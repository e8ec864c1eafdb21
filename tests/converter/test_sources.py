"""SavedModels and frozen graphs: what is read, in which order, with which values and errors."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sourced import keys, run, types

from flatlite.converter.sources import frozen, saved_model
from flatlite.converter.sources.source import among_signatures
from flatlite.converter.sources.state import StateVariable
from flatlite.errors import DataLossError, ModelError, UnsupportedOps
from flatlite.lite import TFLiteConverter
from flatlite.schema import proto

HERE = Path(__file__).parent
MODELS = HERE / "tf/saved_models"
CORPUS = HERE.parent / "corpus"
TOLERANCE = 1e-5

ORDERS = [
    (
        "serving_default",
        ["zeta", "alpha", "mid"],
        ["first", "same", "second"],
        "serving_default_zeta:0",
        "StatefulPartitionedCall:0",
    ),
    (
        "many_results",
        ["z", "a"],
        [f"output_{i}" for i in range(12)],
        "many_results_z:0",
        "PartitionedCall:0",
    ),
    ("skips", ["skipped", "a"], ["output_0"], "skips_skipped:0", "StatefulPartitionedCall_1:0"),
    ("nested", ["q", "p", "z"], ["out"], "nested_q:0", "PartitionedCall_1:0"),
]


def case(name, key):
    with np.load(MODELS / name / "cases.npz") as cases:
        return tuple(
            {k.split(part)[1]: cases[k] for k in cases if k.startswith(key + part)}
            for part in ("/in/", "/out/")
        )


@pytest.mark.parametrize(("key", "inputs", "outputs", "first_in", "first_out"), ORDERS)
def test_order_and_names_of_a_signature(key, inputs, outputs, first_in, first_out):
    (source,) = saved_model.load(MODELS / "orders", signature_keys=[key])
    assert source.key == key
    assert keys(source.inputs) == inputs
    assert keys(source.outputs) == outputs
    assert source.inputs[0].name == first_in
    assert source.outputs[0].name == first_out
    assert source.graph.inputs == [port.tensor for port in source.inputs]
    assert source.graph.outputs == [port.tensor for port in source.outputs]


def test_result_names_keep_their_numbers():
    (source,) = saved_model.load(MODELS / "orders", signature_keys=["many_results"])
    by_key = {port.key: port.name for port in source.outputs}
    assert by_key["output_2"] == "PartitionedCall:4"
    assert by_key["output_10"] == "PartitionedCall:2"


VALUES = [("orders", row[0]) for row in ORDERS]
VALUES += [("keras", "serving_default"), ("branches", "serving_default")]
VALUES += [("version_1", "serving_default")]


@pytest.mark.parametrize(("name", "key"), VALUES)
def test_values_are_those_of_tensorflow(name, key):
    (source,) = saved_model.load(MODELS / name, ["serve"], [key])
    feeds, expected = case(name, key)
    results = run(source, feeds)
    assert results.keys() == expected.keys()
    for output, value in expected.items():
        np.testing.assert_allclose(results[output], value, rtol=TOLERANCE, atol=TOLERANCE)


def corpus_case(folder, file="data.npz"):
    with np.load(CORPUS / folder / file) as data:
        return {key: data[key] for key in data}


@pytest.mark.parametrize(
    "folder", ["lenet_k3", "lenet_tfk", "mobilenet_v2_k3", "tf1_simple_save_cnn_cfv1"]
)
def test_corpus_saved_models(folder):
    (source,) = saved_model.load(CORPUS / "C" / folder / "saved_model")
    data = corpus_case(f"C/{folder}")
    (port,), (result,) = source.inputs, source.outputs
    for case in range(2):
        results = run(source, {port.key: data[f"in{case}:{port.key}"]})
        name = f"tf{case}:0" if f"tf{case}:0" in data else f"tf{case}:{result.key}"
        np.testing.assert_allclose(results[result.key], data[name], rtol=1e-4, atol=1e-5)


def test_basic_pitch():
    (source,) = saved_model.load(CORPUS / "D/basic_pitch/saved_model")
    assert [(port.key, port.name) for port in source.inputs] == [
        ("input_2", "serving_default_input_2:0")
    ]
    assert source.inputs[0].tensor.shape == (None, 43844, 1)
    assert keys(source.outputs) == ["contour", "note", "onset"]
    data = corpus_case("D/basic_pitch", "saved_model.npz")
    results = run(source, {"input_2": data["in0:input_2"]})
    for key, value in results.items():
        np.testing.assert_allclose(value, data[f"tf0:{key}"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["sharded", "unsharded"])
def test_corpus_frozen_graphs(kind):
    folder = CORPUS / f"C/tf1_checkpoint_{kind}"
    source = frozen.load(folder / "frozen.pb", ["x"], ["net/probs"])
    assert [(port.key, port.name) for port in source.inputs] == [("x", "x")]
    data = corpus_case(f"C/tf1_checkpoint_{kind}")
    results = run(source, {"x": data["in:x"]})
    np.testing.assert_allclose(results["net/probs"], data["tf:probs"], rtol=1e-5, atol=1e-6)


def test_variables_become_constants():
    for name, kinds in {"orders": "VarHandleOp", "version_1": "VariableV2"}.items():
        (source,) = saved_model.load(MODELS / name, ["serve"], ["serving_default"])
        assert not types(source) & {kinds, "ReadVariableOp", "RestoreV2", "PartitionedCall"}
        assert all(not op.control_inputs for op in source.graph.operations)


def test_each_variable_is_one_constant():
    (source,) = saved_model.load(MODELS / "orders")
    assert source.graph.get_operation("w").type == "Const"
    assert source.graph.get_tensor("w:0").shape == (2, 3)
    constants = [op for op in source.graph.operations if op.type == "Const"]
    assert sorted(op.name for op in constants) == ["Const", "b", "w"]


def test_signatures_share_their_values():
    first, second = saved_model.load(MODELS / "orders", None, ["serving_default", "skips"])
    arrays = [source.graph.get_operation("b").get_attr("value") for source in (first, second)]
    assert np.shares_memory(*arrays)


def test_only_the_variables_needed_are_read(tmp_path):
    folder = copy(tmp_path, "orders")
    path = folder / "variables/variables.data-00000-of-00001"
    content = bytearray(path.read_bytes())
    index = saved_model.Path(folder, "variables/variables")
    from flatlite.schema.tensorflow.bundle import open_bundle

    bundle = open_bundle(index)
    key = next(key for key in bundle if bundle.shape(key) == (100,))
    content[bundle._entry(key).offset] ^= 1
    path.write_bytes(content)
    assert saved_model.load(folder)
    with pytest.raises(DataLossError, match="wrong checksum"):
        open_bundle(index).read(key)


def test_branches_not_taken_are_left_out():
    (source,) = saved_model.load(MODELS / "version_1", ["serve"], ["serving_default"])
    assert not types(source) & {"Switch", "Merge", "RandomUniform"}
    (source,) = saved_model.load(MODELS / "version_1", ["serve"], ["branch"])
    assert "StatelessIf" in types(source)
    assert not types(source) & {"Switch", "Merge", "RandomUniform"}


def test_functions_of_a_loop_get_values():
    (source,) = saved_model.load(MODELS / "branches")
    loop = next(op for op in source.graph.operations if op.type == "While")
    assert loop.inputs[5].name == "w:0"
    body = source.graph.functions.body(loop.get_attr("body"))
    assert body.inputs[5].shape == (2,)
    assert "ReadVariableOp" not in {op.type for op in body.operations}


def test_text_form(tmp_path):
    from google.protobuf import text_format

    folder = copy(tmp_path, "orders")
    message = proto.parse("SavedModel", (folder / "saved_model.pb").read_bytes())
    (folder / "saved_model.pb").unlink()
    (folder / "saved_model.pbtxt").write_text(text_format.MessageToString(message))
    (source,) = saved_model.load(folder)
    feeds, expected = case("orders", "serving_default")
    np.testing.assert_array_equal(run(source, feeds)["second"], expected["second"])
    (folder / "saved_model.pbtxt").write_text("meta_graphs { nonsense: 1 }")
    with pytest.raises(OSError, match=r"pbtxt': it has text that is not a SavedModel \(1:15"):
        saved_model.load(folder)


def test_other_inputs_and_outputs():
    (source,) = saved_model.load(
        MODELS / "version_1",
        ["serve"],
        input_arrays=["hidden"],
        output_arrays=["z"],
        input_shapes={"hidden": [1, 6]},
    )
    assert [(port.key, port.name) for port in source.inputs] == [("hidden", "hidden:0")]
    assert source.inputs[0].tensor.shape == (1, 6)
    assert "Relu" not in types(source)
    (source,) = saved_model.load(
        MODELS / "orders", input_arrays=["mid", "zeta", "alpha"], output_arrays=["second", "first"]
    )
    assert keys(source.inputs) == ["mid", "zeta", "alpha"]
    assert keys(source.outputs) == ["second", "first"]


def test_shapes_are_given_by_key_or_tensor_name():
    for name in ("zeta", "serving_default_zeta", "serving_default_zeta:0"):
        (source,) = saved_model.load(MODELS / "orders", input_shapes={name: [7, None]})
        assert source.inputs[0].tensor.shape == (7, 2)
        assert source.graph.get_operation("StatefulPartitionedCall/Identity").outputs[0].shape in (
            (7, 3),
            (None, 3),
        )


def test_names_of_tensors_come_before_keys(tmp_path):
    def swap(meta):
        outputs = meta.signature_def["serving_default"].outputs
        outputs["hidden"].CopyFrom(outputs["z"])
        outputs["z"].CopyFrom(outputs["a"])

    folder = change(tmp_path, "version_1", swap)
    for names, tensors in (
        (["z", "hidden"], ["z:0", "hidden:0"]),
        (["a", "add", "z:0"], ["hidden:0", "add:0", "z:0"]),
    ):
        (source,) = saved_model.load(folder, ["serve"], output_arrays=names)
        assert [port.name for port in source.outputs] == tensors
    with pytest.raises(ValueError, match="output_arrays must name each tensor once, got 'hidden"):
        saved_model.load(folder, ["serve"], output_arrays=["a", "hidden"])


def copy(tmp_path, name):
    return shutil.copytree(MODELS / name, tmp_path / name)


def test_missing_model(tmp_path):
    words = r"SavedModel file does not exist at: .*/\{saved_model.pbtxt\|saved_model.pb\}\nGive the"
    with pytest.raises(OSError, match=words):
        saved_model.load(tmp_path)
    with pytest.raises(OSError, match=words):
        saved_model.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it holds no graph"),
        (b"not a model", "bytes that are not a SavedModel"),
        (None, "bytes that are not a SavedModel"),
    ],
    ids=["empty", "text", "cut"],
)
def test_damaged_model(tmp_path, content, words):
    folder = copy(tmp_path, "orders")
    path = folder / "saved_model.pb"
    path.write_bytes(path.read_bytes()[:9000] if content is None else content)
    with pytest.raises(OSError, match=rf"Cannot parse file '.*/saved_model.pb': .*{words}"):
        saved_model.load(folder)


def test_every_cut_of_a_model_is_an_error_or_a_model(tmp_path):
    folder = copy(tmp_path, "counts")
    content = (folder / "saved_model.pb").read_bytes()
    for size in range(0, len(content), 211):
        (folder / "saved_model.pb").write_bytes(content[:size])
        with pytest.raises((OSError, ValueError, UnsupportedOps)):
            saved_model.load(folder)


def test_missing_variables(tmp_path):
    folder = copy(tmp_path, "orders")
    data = folder / "variables/variables.data-00000-of-00001"
    data.rename(tmp_path / "data")
    with pytest.raises(
        OSError, match=r"The model has variables, but .*data-00000-of-00001', which"
    ):
        saved_model.load(folder)
    shutil.rmtree(folder / "variables")
    with pytest.raises(OSError, match=r"has variables, but '.*variables.index' does not exist"):
        saved_model.load(folder)


def test_damaged_variables(tmp_path):
    folder = copy(tmp_path, "orders")
    data = folder / "variables/variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:10])
    with pytest.raises(DataLossError, match="must lie in"):
        saved_model.load(folder)


def test_variables_of_another_model(tmp_path):
    folder = copy(tmp_path, "orders")
    shutil.rmtree(folder / "variables")
    shutil.copytree(MODELS / "counts/variables", folder / "variables")
    with pytest.raises(
        ModelError, match=r"has no values for the variables 'w', 'b'; save the model"
    ):
        saved_model.load(folder)


def test_variables_of_another_shape(tmp_path):
    def edit(meta):
        for node in meta.graph_def.node:
            if node.name == "b":
                node.attr["shape"].shape.dim[0].size = 1

    words = r"Variable 'b' is float32 \(1,\) in the graph, but 'b/.*' in '.*' is float32 \(3,\)"
    with pytest.raises(ModelError, match=words):
        saved_model.load(change(tmp_path, "orders", edit))


def test_written_variables():
    (source,) = saved_model.load(MODELS / "counts")
    assert source.state_variables == (StateVariable("count", is_written=True),)
    np.testing.assert_array_equal(source.state.variables["count"], np.float32(0))
    assert len(source.graph.inputs) == 2
    assert len(source.graph.outputs) == 2


def test_unknown_signature_and_tags():
    keys = r"signature_keys=\[...\] \(--signature KEY\)"
    for version, words in (
        (1, rf"No 'nox' in .*\nName one with signature_key='...', or several with {keys}"),
        (2, rf"Invalid signature key 'nox' .*\nName signatures with {keys}"),
    ):
        with pytest.raises(ValueError, match=words):
            saved_model.load(MODELS / "orders", signature_keys=["nox"], api_version=version)
    words = (
        r"tags {'nox'} could not be found in SavedModel, with available tags '\[{'serve'}, "
        r"{'gpu', 'train'}\]'"
    )
    with pytest.raises(RuntimeError, match=words):
        saved_model.load(MODELS / "version_1", ["nox"])
    (source,) = saved_model.load(MODELS / "version_1", {"train", "gpu"})
    assert source.key == "training"


def test_unknown_tensors_and_shapes():
    with pytest.raises(ValueError, match="Invalid tensors 'nox,z:7' were found"):
        saved_model.load(MODELS / "version_1", ["serve"], output_arrays=["nox", "z:7"])
    with pytest.raises(ValueError, match="Invalid tensor 'nox' found in tensor shapes map"):
        saved_model.load(MODELS / "orders", input_shapes={"nox": [1]})
    words = (
        r"The shape of tensor 'serving_default_zeta' cannot be changed from \(None, 2\) to \[1, 3\]"
    )
    with pytest.raises(ValueError, match=words):
        saved_model.load(MODELS / "orders", input_shapes={"zeta": [1, 3]})
    with pytest.raises(ValueError, match="must be a list of integers and None, got 'abc'"):
        saved_model.load(MODELS / "orders", input_shapes={"zeta": "abc"})


def change(tmp_path, name, edit):
    folder = copy(tmp_path, name)
    message = proto.parse("SavedModel", (folder / "saved_model.pb").read_bytes())
    edit(message.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return folder


def test_no_signatures(tmp_path):
    folder = change(tmp_path, "orders", lambda meta: meta.ClearField("signature_def"))
    with pytest.raises(ValueError, match="The SavedModel has no signatures"):
        saved_model.load(folder)


def test_inputs_of_several_tensors(tmp_path):
    def edit(meta):
        meta.signature_def["serving_default"].inputs["mid"].coo_sparse.values_tensor_name = "x"

    with pytest.raises(ValueError, match="input 'mid' of signature 'serving_default' must be one"):
        saved_model.load(change(tmp_path, "orders", edit))


def test_variables_are_found_by_name_when_nothing_restores_them(tmp_path):
    def edit(meta):
        meta.saver_def.Clear()

    folder = change(tmp_path, "version_1", edit)
    words = (
        "has no values for the variables 'kernel/part_0', 'kernel/part_1', 'kernel/part_2'; save"
    )
    with pytest.raises(ModelError, match=words):
        saved_model.load(folder, ["serve"])
    (source,) = saved_model.load(folder, ["serve"], input_arrays=["hidden"], output_arrays=["z"])
    assert source.graph.get_operation("table").type == "Const"


def test_assets_are_never_opened(tmp_path):
    def edit(meta):
        asset = meta.asset_file_def.add(filename="../../../../etc/passwd")
        asset.tensor_info.name = "asset:0"

    assert saved_model.load(change(tmp_path, "orders", edit))


@pytest.mark.parametrize("name", ["saved_model.pb", "variables", "variables/variables.index"])
def test_links_that_lead_out(tmp_path, name):
    folder = copy(tmp_path, "orders")
    outside = tmp_path / "outside"
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    with pytest.raises(
        OSError, match=r"is a link that leads out of the SavedModel; copy the folder"
    ):
        saved_model.load(folder)


def test_links_that_stay_inside(tmp_path):
    folder = copy(tmp_path, "orders")
    (folder / "saved_model.pb").rename(folder / "graph")
    (folder / "saved_model.pb").symlink_to("graph")
    os.symlink(folder, tmp_path / "link")
    assert saved_model.load(tmp_path / "link")


def test_recursive_functions_are_refused(tmp_path):
    def edit(meta):
        library = {f.signature.name: f for f in meta.graph_def.library.function}
        inner = next(f for name, f in library.items() if "serve" in name and "wrapper" not in name)
        for node in inner.node_def:
            if "f" in node.attr:
                node.attr["f"].func.name = inner.signature.name

    with pytest.raises(
        ValueError, match=r"functions must not call themselves, got __inference_serve"
    ):
        saved_model.load(change(tmp_path, "orders", edit))


def edit_calls(edit):
    def change_bodies(meta):
        for function in meta.graph_def.library.function:
            for node in function.node_def:
                if "body" in node.attr:
                    edit(function, node)

    return change_bodies


def test_functions_of_a_loop_that_are_wrong(tmp_path):
    def missing(function, node):
        node.attr["body"].func.name = "nox"

    with pytest.raises(ModelError, match="Functions must not be missing, got 'nox'"):
        saved_model.load(change(tmp_path, "branches", edit_calls(missing)))


def test_an_error_of_one_of_several_signatures_says_how_to_leave_it_out():
    with pytest.raises(UnsupportedOps) as caught, among_signatures(["good", "bad"], "bad"):
        raise UnsupportedOps("no")
    assert str(caught.value).endswith(
        "This is signature 'bad'; without it: signature_keys=['good'] (--signature good)"
    )
    with pytest.raises(UnsupportedOps, match=r"^no$"), among_signatures(["one"], "one"):
        raise UnsupportedOps("no")


READERS = {
    "from_saved_model": "a SavedModel",
    "from_keras_model_file": "a Keras file",
    "from_tflite_model": "a .tflite file",
    "from_onnx_model": "an ONNX file",
    "from_frozen_graph": "a GraphDef",
}


def files_of_all_kinds(folder):
    """What each reader reads, as far as its first bytes or its name tell."""
    contents = {
        "from_keras_model_file": ("model.dat", b"\x89HDF\r\n\x1a\n"),
        "from_tflite_model": ("model.bin", b"\x20\0\0\0TFL3"),
        "from_onnx_model": ("model.onnx", b"\x08\x08\x12\x03pal"),
        "from_frozen_graph": ("model.pb", b"\x0a\x01x"),
        "from_saved_model": ("saved/saved_model.pb", b"\x08\x01\x12\x01x"),
    }
    (folder / "saved").mkdir()
    for reader, (name, content) in contents.items():
        (folder / name).write_bytes(content)
        yield reader, folder / name
    yield "from_saved_model", folder / "saved"


@pytest.mark.parametrize("method", READERS)
def test_a_file_of_another_kind_says_what_reads_it(method, tmp_path):
    for reader, path in files_of_all_kinds(tmp_path):
        if reader == method:
            continue
        with pytest.raises((OSError, ValueError)) as caught:
            getattr(TFLiteConverter, method)(path)
        notes = " ".join(getattr(caught.value, "__notes__", ()))
        assert f"'{path}' is {READERS[reader]}, which {reader} reads" in notes


def test_a_checkpoint_is_no_saved_model(tmp_path):
    (tmp_path / "variables.index").touch()
    with pytest.raises(FileNotFoundError) as caught:
        TFLiteConverter.from_saved_model(tmp_path)
    assert "The folder has a checkpoint" in " ".join(getattr(caught.value, "__notes__", ()))
