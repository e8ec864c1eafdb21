"""TFLiteConverter: what it takes, what it refuses, and that the file answers like its source."""

from enum import Enum

import numpy as np
import pytest
from running import answers

import flatlite.lite
from flatlite.errors import CalibrationError, UnsupportedOps
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import (
    Interpreter,
    OpResolverType,
    OpsSet,
    Optimize,
    RepresentativeDataset,
    TargetSpec,
)
from flatlite.schema import model as schema_model

TFLiteConverter = flatlite.lite.TFLiteConverter
FLOAT = np.dtype("f4")

DEFAULTS = {
    "allow_custom_ops": False,
    "canonicalizing_inf_as_min_max_float": True,
    "change_concat_input_ranges": False,
    "default_ranges_stats": None,
    "drop_control_dependency": True,
    "dump_graphviz_dir": None,
    "dump_graphviz_video": False,
    "exclude_conversion_metadata": False,
    "experimental_enable_resource_variables": True,
    "experimental_new_converter": True,
    "experimental_new_dynamic_range_quantizer": True,
    "experimental_new_quantizer": True,
    "inference_input_type": None,
    "inference_output_type": None,
    "inference_type": np.float32,
    "legalize_custom_tensor_list_ops": False,
    "optimizations": [],
    "output_format": flatlite.lite.constants.TFLITE,
    "quantized_input_stats": {},
    "reorder_across_fake_quant": False,
    "representative_dataset": None,
    "saved_model_dir": None,
    "serialize_debug_metadata": False,
    "unfold_batchmatmul": False,
    "verify": True,
}


class ConcreteFunction:
    """As TensorFlow calls its own."""


def small_graph(shape=(None, 4), operation="Tanh"):
    """x -> matmul -> operation -> y"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": shape}).outputs[0]
    w = graph.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), "w")
    graph.add(operation, "y", graph.add("MatMul", "product", [x, w]).outputs)
    return to_graph_def(graph)


@pytest.fixture
def converter():
    return TFLiteConverter(small_graph(), None, None, [("x", [None, 4])], ["y"])


def run_model(content, x):
    interpreter = Interpreter(model_content=content)
    (detail,) = interpreter.get_input_details()
    interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def expected(x):
    return np.tanh(x @ np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))


class Named:
    """A tensor as the constructor takes it."""

    def __init__(self, name, shape):
        self.name, self.shape = name, shape


class TensorShape:
    """TensorFlow's class, as far as it is used."""

    def __init__(self, dims):
        self.rank = None if dims is None else len(dims)
        self._dims = dims

    def as_list(self):
        return list(self._dims)


def test_convert_gives_the_sources_answers(converter):
    content = converter.convert()
    assert isinstance(content, bytes)
    assert content[4:8] == b"TFL3"
    assert converter.verified is True
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    np.testing.assert_allclose(run_model(content, x), expected(x), rtol=1e-5, atol=1e-6)


def test_convert_twice_gives_the_same_bytes(converter):
    content = converter.convert()
    assert converter.convert() == content
    again = TFLiteConverter(small_graph(), None, None, [("x", [None, 4])], ["y"])
    assert again.convert() == content


def test_documented_defaults(converter):
    for name, value in DEFAULTS.items():
        assert getattr(converter, name) == value, name
    assert converter.target_spec.supported_ops == {OpsSet.TFLITE_BUILTINS}
    assert converter.target_spec.supported_types == set()
    assert converter.verified is None


@pytest.mark.parametrize("form", ["message", "bytes"])
def test_constructor_takes_message_or_bytes(form):
    graph = small_graph()
    graph = graph if form == "message" else graph.SerializeToString()
    inputs, outputs = [Named("x:0", (None, 4))], [Named("y:0", None)]
    assert TFLiteConverter(graph, inputs, outputs).get_input_arrays() == ["x"]


@pytest.mark.parametrize("shape", [None, TensorShape(None), (3, 4), TensorShape([3, 4])])
def test_constructor_takes_shapes_from_tensors(shape):
    converter = TFLiteConverter(small_graph(), [Named("x", shape)], [Named("y", None)])
    (detail,) = Interpreter(model_content=converter.convert()).get_input_details()
    is_known = shape is not None and getattr(shape, "rank", 2) is not None
    assert list(detail["shape_signature"]) == [3 if is_known else -1, 4]


def test_constructor_needs_names():
    for arguments in ((None, None), (None, None, [("x", [1, 4])]), ([Named("x", None)], [])):
        with pytest.raises(ValueError, match="both input_arrays_with_shape and output_arrays"):
            TFLiteConverter(small_graph(), *arguments)


def test_input_arrays_are_tensor_names(corpus, tmp_path):
    (tmp_path / "x.pb").write_bytes(small_graph().SerializeToString())
    for names in (["x"], ["x:0"], None):
        converter = TFLiteConverter.from_frozen_graph(tmp_path / "x.pb", names, ["y"])
        assert converter.get_input_arrays() == ["x"]
    path = corpus / "C/lenet_k3/saved_model"
    converter = TFLiteConverter.from_saved_model(path)
    assert converter.get_input_arrays() == ["serving_default_keras_tensor"]
    assert converter.saved_model_dir == str(path)


def test_frozen_graph_without_names(corpus):
    content = TFLiteConverter.from_frozen_graph(corpus / "C/lenet_k3/frozen.pb").convert()
    named = TFLiteConverter.from_frozen_graph(
        str(corpus / "C/lenet_k3/frozen.pb"), ["x0"], ["Identity"]
    )
    assert content == named.convert()


def negated(shape):
    """x of a shape -> Neg -> y"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": shape})
    graph.add("Neg", "y", x.outputs)
    return TFLiteConverter(to_graph_def(graph), [Named("x", None)], [Named("y", None)])


def sum_and_rank():
    """sum(x) + rank(x) of any x"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": None}).outputs[0]
    rank = graph.add("Rank", "rank", [x]).outputs[0]
    zero, one = graph.constant(np.int32(0), "zero"), graph.constant(np.int32(1), "one")
    axes = graph.add("Range", "axes", [zero, rank, one]).outputs[0]
    total = graph.add("Sum", "total", [x, axes]).outputs[0]
    added = graph.add("Cast", "added", [rank], {"DstT": FLOAT}).outputs[0]
    graph.add("AddV2", "y", [total, added])
    return TFLiteConverter(to_graph_def(graph), [Named("x", None)], [Named("y", None)])


def test_inputs_of_unknown_rank_take_every_rank_as_tensorflows(litert):
    converter = sum_and_rank()
    content = converter.convert()
    assert converter.verified
    interpreter = Interpreter(model_content=content)
    assert [d["shape"].tolist() for d in interpreter.get_input_details()] == [[]]
    recorded = {(3,): 7.0, (2, 3): 8.0, (): 5.0}  # of x, ones, and TensorFlow's file
    for x in (np.float32([1, 2, 3]), np.ones((2, 3), np.float32), np.float32(5)):
        want = recorded[x.shape]
        assert answers(interpreter, x) == [want]
        assert litert.run(content, [[x]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES") == [[want]]


def test_old_converter_wants_the_rank():
    converter = negated(None)
    converter.experimental_new_converter = False
    words = r"Provide an input shape for input array 'x'\.\n.*input_shapes \(--input-shape\)"
    with pytest.raises(ValueError, match=words):
        converter.convert()


@pytest.mark.parametrize("shape", [(None, None), (1, None, 3), (None, 4, None)])
def test_unknown_sizes_stay_unknown(shape):
    (detail,) = Interpreter(model_content=negated(shape).convert()).get_input_details()
    assert list(detail["shape_signature"]) == [-1 if n is None else n for n in shape]


def test_old_converter_takes_a_batch_of_one():
    converter = negated((None, 4))
    converter.experimental_new_converter = False
    (detail,) = Interpreter(model_content=converter.convert()).get_input_details()
    assert list(detail["shape_signature"]) == [1, 4]


def test_input_shapes_that_contradict_the_graph():
    with pytest.raises(ValueError, match="shape of tensor 'x' cannot be changed from"):
        TFLiteConverter(small_graph((1, 4)), None, None, [("x", [2, 4])], ["y"])


def test_signature_keys_in_the_place_of_input_arrays(corpus):
    path = corpus / "C/lenet_k3/saved_model"
    words = r"signature keys 'serving_default'.*signature_keys=\['serving_default'\]"
    with pytest.raises(ValueError, match=words):
        TFLiteConverter.from_saved_model(path, ["serving_default"])
    converter = TFLiteConverter.from_saved_model(path, signature_keys=["serving_default"])
    assert list(Interpreter(model_content=converter.convert()).get_signature_list()) == [
        "serving_default"
    ]


def test_names_of_both_tensorflows_exclude_each_other(corpus):
    path = corpus / "C/lenet_k3/saved_model"
    with pytest.raises(ValueError, match="either signature_key or signature_keys"):
        TFLiteConverter.from_saved_model(path, signature_key="a", signature_keys=["a"])
    with pytest.raises(ValueError, match="either tag_set or tags"):
        TFLiteConverter.from_saved_model(path, tag_set={"serve"}, tags={"serve"})
    with pytest.raises(
        ValueError, match=r"No 'nokey' in the SavedModel's SignatureDefs. Possible values are"
    ):
        TFLiteConverter.from_saved_model(path, signature_key="nokey")
    assert TFLiteConverter.from_saved_model(path, tags={"serve"}).get_input_arrays()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("from_keras_model", (object(),)), ("from_concrete_functions", ([ConcreteFunction()], None))],
)
def test_live_objects_of_tensorflow_are_refused_with_the_way_out(name, arguments):
    with pytest.raises(TypeError, match=r"SavedModel.*from_saved_model"):
        getattr(TFLiteConverter, name)(*arguments)


def test_unknown_attributes_are_refused(converter):
    with pytest.raises(AttributeError, match="has no attribute 'optimisations'; did you mean 'opt"):
        converter.optimisations = []
    with pytest.raises(AttributeError, match=r"has no attribute 'xyz'$"):
        converter.xyz = 1
    converter._experimental_lower_tensor_list_ops = False  # people set it; it changes nothing


def test_deprecated_names_warn_and_work(converter):
    text = r"Property target_ops is deprecated, please use target_spec.supported_ops instead\."
    with pytest.warns(UserWarning, match=text) as caught:
        converter.target_ops = {OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS}
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=text) as caught:
        assert converter.target_ops == converter.target_spec.supported_ops
    assert caught[0].filename == __file__
    assert OpsSet.SELECT_TF_OPS in converter.target_spec.supported_ops
    text = r"post_training_quantize is deprecated, please use optimizations=\[Optimize.DEFAULT\]"
    for value in (True, False):
        with pytest.warns(UserWarning, match=text):
            converter.post_training_quantize = value
        with pytest.warns(UserWarning, match=text):
            assert converter.post_training_quantize is value
        assert converter.optimizations == ([Optimize.DEFAULT] if value else [])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("optimizations", "DEFAULT", "optimizations must be a list of Optimize members"),
        ("inference_input_type", np.int8, "The `quantized_input_stats` flag must be defined when"),
        ("inference_output_type", flatlite.lite.constants.QUANTIZED_UINT8, "inference_output_type"),
        ("inference_type", "nonsense", "inference_type must be a type such as np.float32"),
        ("inference_type", np.uint8, "The `quantized_input_stats` flag must be defined when"),
        ("output_format", 7, "output_format must be constants.TFLITE or"),
        ("representative_dataset", [1], r"must be a RepresentativeDataset or a callable.*lambda"),
        ("target_spec", {OpsSet.TFLITE_BUILTINS}, "target_spec must be a TargetSpec"),
        ("dump_graphviz_video", True, "dump_graphviz_video needs dump_graphviz_dir"),
    ],
)
def test_values_that_would_be_ignored_are_errors(converter, name, value, words):
    setattr(converter, name, value)
    with pytest.raises(ValueError, match=words):
        converter.convert()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("quantized_input_stats", {"x": (0.0, 1.0)}, "has no effect without inference_type"),
        ("default_ranges_stats", (0, 6), "has no effect without inference_type"),
    ],
)
def test_values_that_change_nothing_are_warned_of(converter, name, value, words):
    setattr(converter, name, value)
    with pytest.warns(UserWarning, match=words):
        assert converter.convert()


def test_target_specs(converter):
    converter.target_spec = TargetSpec([OpsSet.EXPERIMENTAL_STABLEHLO_OPS])
    with pytest.raises(ValueError, match=r"target_spec.supported_ops: this way"):
        converter.convert()
    converter.target_spec = TargetSpec(supported_types=[np.float16])
    with pytest.warns(UserWarning, match="optimizations is empty: the model stays float"):
        assert converter.convert()
    converter.target_spec.supported_types = set()
    converter.target_spec.supported_ops = ["TFLITE_BUILTINS"]
    with pytest.raises(ValueError, match="supported_ops must be a list of OpsSet members"):
        converter.convert()
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
    assert converter.convert()


def test_types_may_be_tensorflows(converter):
    class DType:
        as_numpy_dtype = np.float32

    converter.inference_type = converter.inference_input_type = DType()
    assert converter.convert()


def test_settings_may_be_tensorflows(converter):
    """Its enums have the names and values of ours; its TargetSpec is a plain class."""

    def foreign(kind):
        return Enum(kind.__name__, {member.name: member.value for member in kind})

    class TargetSpec:
        def __init__(self):
            self.supported_ops = {foreign(OpsSet).TFLITE_BUILTINS, foreign(OpsSet).SELECT_TF_OPS}
            self.supported_types = set()

    converter.target_spec = TargetSpec()
    converter.optimizations = [foreign(Optimize).DEFAULT]
    with pytest.warns(UserWarning, match="no weights of 1024 elements or more"):
        content = converter.convert()
    assert converter.optimizations == [Optimize.DEFAULT]
    assert converter.target_spec.supported_ops == {OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS}
    resolver = foreign(OpResolverType).BUILTIN_REF
    Interpreter(model_content=content, experimental_op_resolver_type=resolver).allocate_tensors()
    converter.optimizations = [Enum("Optimize", {"FASTEST": 1}).FASTEST]
    with pytest.raises(ValueError, match="must be a list of Optimize members"):
        converter.convert()


def test_attributes_without_effect_say_so(converter):
    before = converter.convert()
    for name, value in {"drop_control_dependency": False, "ir_dump_dir": "x"}.items():
        default = getattr(converter, name)
        setattr(converter, name, value)
        with pytest.warns(UserWarning, match=f"{name} has no effect in flatlite") as caught:
            assert converter.convert() == before
        assert caught[0].filename == __file__
        setattr(converter, name, default)


def test_metadata_tells_the_converter_unless_excluded(converter):
    (metadata,) = metadata_of(converter.convert())
    assert f"flatlite {flatlite.__version__}".encode() in metadata
    converter.exclude_conversion_metadata = True
    assert metadata_of(converter.convert()) == []


def metadata_of(content):
    entries = schema_model.load(content).metadata.items()
    return [bytes(value) for name, value in entries if name == "CONVERSION_METADATA"]


def test_all_unsupported_operations_are_listed_at_once():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": FLOAT, "shape": (4, 4)}).outputs[0]
    y = graph.add("MatrixSquareRoot", "first", [x]).outputs[0]
    y = graph.add("MatrixLogarithm", "second", [y]).outputs[0]
    graph.add("MatrixSquareRoot", "third", [y])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [4, 4])], ["third"])
    with pytest.raises(
        UnsupportedOps, match="MatrixSquareRoot x 2, first at node 'first'"
    ) as error:
        converter.convert()
    assert "MatrixLogarithm x 1, first at node 'second'" in str(error.value)
    assert len(str(error.value).splitlines()) <= 15
    converter.allow_custom_ops = True
    with pytest.warns(UserWarning, match="the custom operators MatrixLogarithm, MatrixSquareRoot"):
        content = converter.convert()
    operators = schema_model.load(content).subgraphs[0].operators
    assert [op.custom_code for op in operators] == [
        "MatrixSquareRoot",
        "MatrixLogarithm",
        "MatrixSquareRoot",
    ]


def test_drawings(tmp_path):
    graph = small_graph(operation="Relu")
    converter = TFLiteConverter(graph, None, None, [("x", [None, 4])], ["y"])
    converter.dump_graphviz_dir = tmp_path / "drawings"
    converter.convert()
    before, after = (
        (tmp_path / "drawings" / f"{name}.dot").read_text()
        for name in ("before_passes", "after_passes")
    )
    assert 'label="RELU"' in before
    assert 'label="RELU"' not in after
    assert "FULLY_CONNECTED" in after
    converter.dump_graphviz_video = True
    converter.convert()
    changed = [one.changes for one in converter.pass_statistics.values()]
    steps = sorted((tmp_path / "drawings").glob("pass_*.dot"))
    assert 0 < len(steps) <= sum(changed)
    assert any(path.stem.endswith("_fuse_activation") for path in steps)
    assert steps[-1].read_text() == after
    assert all(one.runs and one.seconds >= 0 for one in converter.pass_statistics.values())
    converter.output_format = flatlite.lite.constants.GRAPHVIZ_DOT
    drawn = converter.convert()
    assert drawn.decode() == after
    assert after.startswith("digraph model {")
    assert r'[label="x\nfloat32[?,4]", shape=oval];' in after
    assert after.count("{") == after.count("}")


SIGNATURES = ["nested", "serving_default", "many_results", "skips"]


def orders(request):
    return request.path.parent / "tf/saved_models" / "orders"


@pytest.mark.parametrize("keys", [SIGNATURES, ["many_results", "serving_default"]])
def test_several_signatures_in_one_file(keys, request, litert):
    converter = TFLiteConverter.from_saved_model(orders(request), signature_keys=keys)
    content = converter.convert()
    assert converter.verified is True
    interpreter = Interpreter(model_content=content)
    assert set(interpreter.get_signature_list()) == set(keys)
    assert interpreter.num_subgraphs() == len(keys)
    with np.load(orders(request) / "cases.npz") as archive:
        cases = {key: archive[key] for key in archive}
    for key in keys:
        inputs, want = (
            {k.rsplit("/", 1)[1]: v for k, v in cases.items() if k.startswith(f"{key}/{part}/")}
            for part in ("in", "out")
        )
        ours = interpreter.get_signature_runner(key)(**inputs)
        (theirs,) = litert.run(content, [inputs], signature=key)
        assert ours.keys() == theirs.keys() == want.keys()
        for name, value in want.items():
            np.testing.assert_allclose(ours[name], value, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(theirs[name], value, rtol=1e-5, atol=1e-6)


def test_signatures_share_their_weights(request):
    folder = request.path.parent.parent / "corpus/C/lenet_k3/saved_model"
    one = len(TFLiteConverter.from_saved_model(folder).convert())
    converter = TFLiteConverter.from_saved_model(folder)
    twin = TFLiteConverter.from_saved_model(folder)._sources[0]
    converter._sources.append(type(twin)("twin", twin.graph, twin.inputs, twin.outputs))
    both = converter.convert()
    assert list(Interpreter(model_content=both).get_signature_list()) == ["serving_default", "twin"]
    assert len(both) < 1.1 * one


def samples(*arrays):
    return lambda: iter(arrays)


GOOD = np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    "sample", [[GOOD], (GOOD,), {"x": GOOD}, {"x:0": GOOD}, [GOOD.tolist()]], ids=repr
)
def test_forms_of_samples(converter, sample):
    for dataset in (samples(sample), RepresentativeDataset(samples(sample))):
        converter.representative_dataset = dataset
        assert converter.convert()
        assert converter.verified is True


def one_row_table():
    """x, an index that must be -5"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("i4"), "shape": (9,)}).outputs[0]
    table = graph.constant(np.ones((1, 3), np.float32), "table")
    moved = graph.add("AddV2", "moved", [x, graph.constant(np.int32(5), "five")]).outputs[0]
    graph.add("GatherV2", "y", [table, moved, graph.constant(np.int32(0), "axis")])
    return TFLiteConverter(to_graph_def(graph), None, None, [("x", [9])], ["y"])


def test_samples_feed_the_verification():
    converter = one_row_table()
    with pytest.warns(UserWarning, match="not verified: the source refuses the inputs") as caught:
        assert converter.convert()
    assert caught[0].filename == __file__
    assert converter.verified is False
    converter.representative_dataset = samples([np.full(9, -5, np.int32)])
    assert converter.convert()
    assert converter.verified is True


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (lambda: None, "must return an iterable of samples, got NoneType; `yield`"),
        (samples(), "gave no samples"),
        (
            samples(GOOD),
            r"sample 0 .* must be a list with one array for each .* got ndarray; yield",
        ),
        (samples([GOOD, GOOD]), "sample 0 of .* must have 1 arrays, for 'x', got 2"),
        (samples([GOOD], []), "sample 1 of .* must have 1 arrays, for 'x', got 0"),
        (samples({"z": GOOD}), "must have the keys 'x', got 'z'"),
        (samples({"x": GOOD, "z": GOOD}), "must have the keys 'x', got 'x', 'z'"),
        (samples([GOOD.reshape(8)]), r"input 'x' must have the shape \(\?, 4\), got \(8,\)$"),
        (samples([GOOD[:1].T]), r"input 'x' must have the shape \(\?, 4\), got \(4, 1\)$"),
        (samples([GOOD[:, :3]]), r"must have the shape \(\?, 4\), got \(2, 3\)$"),
        (
            samples([GOOD.astype(np.float64)]),
            r"type float32, got float64; use x.astype\(np.float32",
        ),
        (samples([GOOD * np.nan]), "input 'x' must be finite, got NaN or infinity"),
        (samples(("other", {"x": GOOD})), "sample 0 .* is for the signature 'other'"),
    ],
)
def test_samples_that_do_not_fit(converter, dataset, words):
    converter.representative_dataset = dataset
    with pytest.raises(CalibrationError, match=words):
        converter.convert()
    converter.verify = False
    assert converter.convert()


def test_samples_name_their_signature(request):
    converter = TFLiteConverter.from_saved_model(
        orders(request), signature_keys=["skips", "nested"]
    )
    three, two = np.ones(3, np.float32), np.ones(2, np.float32)
    nested = "nested", {"p": two, "q": two, "z": two}
    converter.representative_dataset = samples(nested, ("skips", {"a": three, "skipped": three}))
    assert converter.convert()
    converter.representative_dataset = samples(nested)
    assert converter.convert()
    converter.representative_dataset = samples([three, three])
    with pytest.raises(CalibrationError, match=r"does not say which signature.*'skips', 'nested'"):
        converter.convert()


def test_without_verification_nothing_is_run():
    converter = one_row_table()
    converter.verify = False
    assert converter.convert()
    assert converter.verified is False


def test_inputs_to_verify_on_go_to_their_signatures(request):
    converter = TFLiteConverter.from_saved_model(
        request.path.parent / "tf/saved_models/several", signature_keys=["scalar", "subtract"]
    )
    two = np.float32([1, 2])
    counts = []
    for rows in ([("subtract", {"a": two, "b": -two})], None):
        converter.verify_inputs = rows
        converter.convert()
        counts.append([len(done.ran) for done in converter.verified_on.values()])
    assert np.subtract(*counts).tolist() == [0, 1]
