"""Entry points, options and the command of TensorFlow's converter, as TensorFlow 2.21 has them."""

import base64
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from conversion_metadata import field, follow, metadata
from drafting import Draft

from flatlite.commands import tflite_convert
from flatlite.compat.v1 import lite as v1
from flatlite.converter.api.authoring import CompatibilityError, compatible
from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.settings import Settings
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, OpsSet, Optimize, TargetSpec, TFLiteConverter
from flatlite.schema import model as schema_model
from flatlite.schema import proto

RECORDED = json.loads(Path(__file__).with_name("entry_points.json").read_text())
DEFAULT, SPARSITY = Optimize.DEFAULT, Optimize.EXPERIMENTAL_SPARSITY
MODES = {  # int8 weights beside float inputs stay dense here: LiteRT refuses sparse ones
    "trained": ("trained", [DEFAULT], False),
    "trained, with samples": ("trained", [DEFAULT], True),
    "blocks": ("blocks", [SPARSITY], False),
    "random": ("random", [SPARSITY], False),
}


def graph_def(name):
    return base64.b64decode(RECORDED["graphs"][name])


def converter_of(name, inputs=None, outputs=("y",)):
    return v1.TFLiteConverter.from_frozen_graph(graph_def(name), inputs, list(outputs))


def halves():
    converter = converter_of("half_float", ["a", "b"], ["sum", "rounded"])
    converter.optimizations = [DEFAULT]
    converter.representative_dataset = lambda: [
        [np.full((1, 8), i, np.float32)] * 2 for i in (-2, 1, 2)
    ]
    return converter


@pytest.mark.parametrize("name", MODES)
def test_optimization_modes(name):
    graph, optimizations, is_measured = MODES[name]
    converter = converter_of(graph)
    converter.optimizations = optimizations
    if is_measured:
        rows = [[np.full((2, 4), i / 4, np.float32)] for i in (-3, 1, 2)]
        converter.representative_dataset = lambda: rows
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "samples? ")
        warnings.filterwarnings("ignore", "representative_dataset")
        assert metadata(converter.convert())[1] == RECORDED["modes"][name]


@pytest.mark.parametrize("name", RECORDED["ends"])
def test_quantizers_leave_ends_in_float(name):
    quantizer, dtype = name.split()
    converter = halves()
    converter.experimental_new_quantizer = quantizer == "True"
    converter.inference_input_type = converter.inference_output_type = np.dtype(dtype)
    interpreter = Interpreter(model_content=converter.convert())
    details = interpreter.get_input_details(), interpreter.get_output_details()
    types = [[np.dtype(row["dtype"]).name for row in rows] for rows in details]
    assert types == RECORDED["ends"][name]


@pytest.mark.parametrize("number", [0, 1])
def test_statistics_of_integer_inputs(number):
    converter = converter_of("faked_output")
    types = (np.uint8, None), (np.float32, np.int8)
    converter.inference_type, converter.inference_input_type = types[number]
    with pytest.raises(ValueError, match="flag must be defined") as error:
        converter.convert()
    kind, text = RECORDED["errors"]["statistics"][number]
    assert (type(error.value).__name__, str(error.value)) == (kind, text)


@pytest.mark.parametrize(("case", "name"), [("wrong name", "w"), ("one of two", "x")])
def test_wrong_names_alone_are_errors_of_convert(case, name):
    converter = TFLiteConverter(graph_def("doubled"), None, None, [(name, [1, 4])], ["y"])
    assert converter.get_input_arrays() == [name]
    with pytest.raises(ConverterError) as error:
        converter.convert()
    assert [type(error.value).__name__] == RECORDED["errors"][case]


def test_too_few_inputs_of_a_saved_model_of_version_1(request):
    folder = request.path.parent / "tf/saved_models" / "several"
    converter = v1.TFLiteConverter.from_saved_model(
        folder, input_arrays=["subtract_a"], signature_key="subtract"
    )
    with pytest.raises(ConverterError, match="need the placeholders 'subtract_b'"):
        converter.convert()


def test_a_trained_model_that_always_gives_the_same_is_a_warning():
    converter = converter_of("faked_output")
    converter.inference_type = np.int8
    converter.quantized_input_stats = {"x": (128, 128.0)}  # negative inputs
    with pytest.warns(UserWarning, match=r"always gives .*; do quantized_input_stats and the ra"):
        assert converter.convert()


def test_operations_for_the_users_tensorflow():
    message = proto.parse("GraphDef", graph_def("dataset"))
    node = next(node for node in message.node if node.op == "RangeDataset")
    node.attr["_output_types"].list.type.append(21)  # a variant
    converter = v1.TFLiteConverter.from_frozen_graph(message, [], ["y"])
    converter.target_spec = TargetSpec([OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    with pytest.raises(UnsupportedOps, match="RangeDataset x 1") as error:
        converter.convert()
    assert (list(error.value.missing), error.value.flex) == (["RangeDataset"], set())
    converter.target_spec.experimental_select_user_tf_ops = ["RangeDataset"]
    with pytest.warns(UserWarning, match="nobody registered the custom operators FlexRangeData"):
        model = schema_model.load(converter.convert())
    codes = [op.custom_code for op in model.subgraphs[0].operators]
    assert codes == RECORDED["codes"]


def test_errors_say_what_flex_could_run():
    draft = Draft()
    inverse = draft.op("MatrixSquareRoot", draft.input("x", (4, 4)))
    with pytest.raises(UnsupportedOps) as error:
        Conversion(Settings(), [draft.source(inverse)], 2).run()
    assert error.value.missing.keys() == error.value.flex == {"MatrixSquareRoot"}


def tables(content, vector):
    """The positions of the tables in a vector of them."""
    start = follow(content, vector)
    n = int.from_bytes(content[start : start + 4], "little")
    return [follow(content, start + 4 + 4 * i) for i in range(n)]


def debug_names(content):
    """For each operator of each subgraph the name of its location, or its kind without one."""
    (conversion,) = tables(content, field(content, follow(content, 0), 1))
    attributes = tables(content, field(content, conversion, 2))
    rows = []
    for subgraph in tables(content, field(content, conversion, 0)):
        operators = tables(content, field(content, subgraph, 0))
        places = [follow(content, field(content, operator, 0)) for operator in operators]
        numbers = [int.from_bytes(content[p + 4 : p + 8], "little") for p in places]
        rows.append([name_at(content, attributes[number]) for number in numbers])
    return rows


def name_at(content, location):
    kind = content[field(content, location, 0)]
    if kind != 4:
        return kind
    text = follow(content, field(content, follow(content, field(content, location, 1)), 0))
    n = int.from_bytes(content[text : text + 4], "little")
    return content[text + 4 : text + 4 + n].decode()


def test_debug_metadata():
    (theirs,) = debug_names(base64.b64decode(RECORDED["debug"]))
    assert theirs == [3] * len(theirs)  # fused locations of lines in a program
    converter = converter_of("half_float", ["a", "b"], ["sum", "rounded"])
    plain = schema_model.load(converter.convert())
    assert "debug_metadata" not in plain.metadata
    converter.serialize_debug_metadata = True
    model = schema_model.load(converter.convert())
    (ours,) = debug_names(bytes(model.metadata["debug_metadata"]))
    assert sorted(ours) == ["Ceil", "Tanh", "rounded", "sum"]
    assert len(ours) == len(theirs) == len(model.subgraphs[0].operators)


@pytest.mark.parametrize("make", [v1.TFLiteConverter, TFLiteConverter])
def test_positions_are_the_sources_unless_asked_for(make, request):
    folder = request.path.parent / "tf/saved_models" / "orders"
    names = {}
    for order in (None, "source", "tensorflow"):
        converter = make.from_saved_model(folder)
        converter.io_order = order or converter.io_order
        details = Interpreter(model_content=converter.convert()).get_input_details()
        names[order] = [row["name"] for row in details]
    assert names[None] == names["source"] != names["tensorflow"]
    assert sorted(names["source"]) == sorted(names["tensorflow"])


class Location:
    def __init__(self, line):
        self.filename, self.lineno = "program.py", line


class Operation:
    """An operation of a running TensorFlow, as far as flatlite asks for it."""

    def __init__(self, node, enums):
        self.name, self.type = node.name, node.op
        self.traceback = [Location(1), Location(2)]
        self.outputs = [Result(enum) for enum in enums]


class Result:
    def __init__(self, enum):
        self.dtype = type("DType", (), {"as_datatype_enum": enum})
        self.shape = type("Shape", (), {"as_proto": lambda: proto.message("TensorShapeProto")()})


class ConcreteFunction:
    """A concrete function of a running TensorFlow, as far as flatlite asks for it."""

    captures, variables, python_function = (), (), None

    def __init__(self, message, types, inputs=()):
        self.graph, self.name = self, "f"
        self.message, self.types = message, types
        self.inputs = [type("Tensor", (), {"name": name}) for name in inputs]
        self.outputs = [type("Tensor", (), {"name": "y:0"})]

    def as_graph_def(self):
        return self.message

    def get_operations(self):
        return [Operation(node, self.types.get(node.op, ())) for node in self.message.node]

    def get_concrete_function(self):
        return self

    def __get__(self, instance, owner):
        return self

    def __call__(self):
        return "called"


def dataset_function():
    return ConcreteFunction(proto.parse("GraphDef", graph_def("dataset")), {"RangeDataset": [21]})


@pytest.mark.parametrize("raises", [False, True])
def test_a_function_says_what_has_no_form(raises, capsys):
    function = compatible(dataset_function(), raise_exception=raises)
    with pytest.raises(RuntimeError, match="target compatibility isn't verified yet"):
        function.get_compatibility_log()
    if raises:
        with pytest.raises(CompatibilityError, match="CompatibilityException at <"):
            function()
    assert function() == "called"
    (words, location) = function.get_compatibility_log()
    (theirs,) = RECORDED["authoring"]
    assert words == theirs.replace(
        "tf.DummySeedGenerator, tf.RangeDataset, tf.ShuffleDatasetV3", "tf.RangeDataset"
    )
    assert location == "Op: tf.RangeDataset\n  - program.py:2\n  - program.py:1\n"
    assert capsys.readouterr().out == f"{words}\n{location}\n"


def test_functions_with_a_form_say_nothing(capsys):
    spec = TargetSpec([OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    spec.experimental_select_user_tf_ops = {"RangeDataset"}
    function = compatible(converter_target_spec=spec)(dataset_function())
    assert function() == function() == "called"
    assert function.get_compatibility_log() == []
    function = compatible(converter_allow_custom_ops=True)(dataset_function())
    assert function() == "called"
    assert function.get_compatibility_log() == []
    assert capsys.readouterr().out == ""


def test_what_flex_runs_is_a_warning():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 2)}).outputs
    graph.add("MatrixSquareRoot", "y", x, {})

    class Module:
        method = compatible(ConcreteFunction(to_graph_def(graph), {}, ["x:0"]))

    first, second = Module(), Module()
    assert first.method() == "called"
    words = (
        "COMPATIBILITY WARNING: op 'tf.MatrixSquareRoot' require(s) \"Select TF Ops\" for model "
    )
    assert first.method.get_compatibility_log()[0].startswith(words)
    with pytest.raises(RuntimeError, match="isn't verified yet"):
        second.method.get_compatibility_log()


@pytest.mark.parametrize("flags", RECORDED["commands"])
def test_flags_that_the_command_refuses(flags, capsys):
    status = tflite_convert.main(["--output_file=o", *flags.split()])
    recorded_status, text = RECORDED["commands"][flags]
    assert status == recorded_status
    assert text in capsys.readouterr().err


def frozen_file(tmp_path, name):
    path = tmp_path / f"{name}.pb"
    path.write_bytes(graph_def(name))
    return path


def test_the_command_converts_a_frozen_graph(tmp_path):
    path, target = frozen_file(tmp_path, "half_float"), tmp_path / "out.tflite"
    flags = ["--input_arrays=a,b", "--output_arrays=sum", f"--output_file={target}"]
    flags += [f"--graph_def_file={path}", "--input_shapes=1,8:1,8", "--enable_v1_converter"]
    assert tflite_convert.main(flags) == 0
    interpreter = Interpreter(str(target))
    assert [row["name"] for row in interpreter.get_input_details()] == ["a", "b"]


def test_the_command_quantizes(tmp_path, capsys):
    path, target = frozen_file(tmp_path, "trained"), tmp_path / "out.tflite"
    flags = ["--enable_v1_converter", f"--graph_def_file={path}", f"--output_file={target}"]
    flags += ["--input_arrays=x", "--output_arrays=y", "--mean_values=128", "--std_dev_values=127"]
    for options, dtype in (
        (["--inference_type=UINT8"], np.uint8),
        (["--inference_type=QUANTIZED_UINT8", "--inference_input_type=FLOAT"], np.float32),
        (["--inference_type=int8"], np.int8),
    ):
        assert tflite_convert.main([*flags, *options]) == 0
        assert Interpreter(str(target)).get_input_details()[0]["dtype"] == dtype
    assert tflite_convert.main([*flags, "--inference_type=INT4"]) == 1
    assert "Unsupported value for `inference_type` flag" in capsys.readouterr().err
    assert tflite_convert.main([*flags, "--target_ops=TFLITE"]) == 1
    assert "Invalid value for --target_ops. Options: TFLITE_BUILTINS," in capsys.readouterr().err
    for wrong, message in (
        ("--mean_values=x", "--mean_values must be whole numbers, got 'x'"),
        ("--std_dev_values=y", "--std_dev_values must be numbers, got 'y'"),
        ("--input_shapes=1,z", "--input_shapes must be whole numbers, got '1,z'"),
    ):
        assert tflite_convert.main([*flags, "--inference_type=INT8", wrong]) == 1
        assert message in capsys.readouterr().err
    graph = ["--output_format=graphviz_dot"]
    assert tflite_convert.main([*flags, *graph]) == 0
    assert target.read_text().startswith("digraph")


def test_the_command_of_version_2(tmp_path, capsys, request):
    folder, target = request.path.parent / "tf/saved_models" / "several", tmp_path / "out.tflite"
    flags = [f"--saved_model_dir={folder}", f"--output_file={target}", "--input_arrays=a"]
    assert tflite_convert.main(flags) == 0
    assert "--input_arrays=a: not a flag of TensorFlow 2, and ignored" in capsys.readouterr().err
    assert set(Interpreter(str(target)).get_signature_list()) == {"add", "scalar", "subtract"}
    assert tflite_convert.main([*flags, "--saved_model_signature_key=add"]) == 0
    assert set(Interpreter(str(target)).get_signature_list()) == {"add"}
    assert tflite_convert.main([*flags, "--saved_model_tag_set=train"]) == 1


def test_the_command_learns_types_of_custom_operations(tmp_path):
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 3)}).outputs
    attrs = {"_output_shapes": [(2, 3)], "T": np.dtype("f4"), "n": 1}
    graph.add("Mine", "y", x, attrs, n_outputs=1)
    path, target = tmp_path / "g.pb", tmp_path / "out.tflite"
    path.write_bytes(to_graph_def(graph).SerializeToString())
    flags = ["--enable_v1_converter", f"--graph_def_file={path}", f"--output_file={target}"]
    flags += ["--input_arrays=x", "--output_arrays=y", "--allow_custom_ops"]
    assert tflite_convert.main(flags) == 1
    definition = "name: 'Mine' output_arg { name: 'y' type_attr: 'T' number_attr: 'n' }"
    assert tflite_convert.main([*flags, f"--custom_opdefs={definition}"]) == 0
    (operator,) = schema_model.load(target.read_bytes()).subgraphs[0].operators
    assert operator.custom_code == "Mine"
    assert tflite_convert.main([*flags, "--custom_opdefs=name: Mine"]) == 1
