"""SELECT_TF_OPS: what builtins cannot express becomes operators of TensorFlow's Flex delegate."""

import numpy as np
import pytest
from drafting import Draft
from flatbuffers import flexbuffers

from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.options import OpsSet, TargetSpec
from flatlite.converter.api.settings import Settings
from flatlite.converter.sources.op_defs import note_types, parsed_op_defs
from flatlite.converter.tf.flex import OTHERS, strings
from flatlite.errors import ConverterError, UnsupportedOps
from flatlite.graph.core.signatures.signatures import signature_of
from flatlite.lite import Interpreter
from flatlite.schema import model as schema_model
from flatlite.schema import proto

TENSORFLOWS = (
    b"\x02Qr\x00*\x12\x02Qr\x1a\x00*\x07\n\x01T\x12\x020\x01*\x13\n\rfull_matrices\x12\x02(\x002\x04\n\x02Qr\x00\x020"
    b"-\x14\x14\x04(\x01"
)
"""The options that TensorFlow 2.21's converter wrote for tf.linalg.qr of float32."""


def converted(draft, *outputs, allow_custom_ops=False):
    settings = Settings()
    settings.allow_custom_ops = allow_custom_ops
    settings.target_spec = TargetSpec([OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    return Conversion(settings, [draft.source(*outputs)], 2)


def operators_of(draft, *outputs, allow_custom_ops=False):
    content = converted(draft, *outputs, allow_custom_ops=allow_custom_ops).run()
    return schema_model.load(content).subgraphs[0].operators


def test_the_file_is_compared_with_its_source():
    draft = Draft()
    x = draft.input("x", (None, 3, 3))
    factors = draft.graph.add("Qr", "qr", [x], {"full_matrices": False}).outputs
    conversion = converted(draft, draft.op("BatchMatMulV2", *factors))
    interpreter = Interpreter(model_content=conversion.run())
    assert conversion.verified
    matrices = np.random.default_rng(0).standard_normal((2, 3, 3)).astype(np.float32)
    interpreter.resize_tensor_input(0, matrices.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, matrices)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_allclose(result, matrices, 1e-4, 1e-5)


def texts(options):
    vector = flexbuffers.GetRoot(bytes(options)).AsVector
    return [vector[i].AsStringBytes for i in range(len(vector))]


def test_options_are_those_of_tensorflow():
    draft = Draft()
    attrs = {"full_matrices": False}
    _, triangle = draft.graph.add("Qr", "qr", [draft.input("x", (4, 4))], attrs).outputs
    operators = operators_of(draft, draft.op("Neg", triangle))
    assert [op.op for op in operators] == ["CUSTOM", "NEG"]
    assert operators[0].custom_code == "FlexQr"
    kinds, nodes = zip(*map(texts, (operators[0].custom_options, TENSORFLOWS)), strict=True)
    assert kinds[0] == kinds[1] == b"Qr"
    ours, theirs = (proto.parse("NodeDef", node) for node in nodes)
    assert ours.op == theirs.op
    assert list(ours.input) == list(theirs.input)
    assert {name: value.SerializeToString() for name, value in ours.attr.items()} == {
        name: value.SerializeToString() for name, value in theirs.attr.items()
    }


@pytest.mark.parametrize("lengths", [(0, 0), (1, 300), (70_000, 5)])
def test_strings_of_any_bytes_and_lengths(lengths):
    contents = [bytes(range(256)) * (n // 256) + bytes(n % 256) for n in lengths]
    assert texts(strings(contents)) == contents


def test_an_operation_that_cannot_be_lowered_as_it_is_used():
    draft = Draft()
    x = draft.input("x", (3, 4))
    sums = draft.op("Cumprod", x, draft.input("axis", (), np.int32))
    assert [op.custom_code for op in operators_of(draft, sums)] == ["FlexCumprod"]


def test_what_tensorflow_does_not_have_is_custom_or_refused():
    draft = Draft()
    attrs = {"_output_types": [np.dtype(np.float32)], "_output_shapes": [(3,)]}
    x = draft.input("x", (3,))
    y = draft.graph.add("MyOwn", "mine", [x], attrs, n_outputs=1).outputs[0]
    with pytest.raises(UnsupportedOps, match="MyOwn x 1, first at node 'mine'"):
        operators_of(draft, y)
    with pytest.warns(UserWarning, match="the custom operators MyOwn"):
        operators = operators_of(draft, y, allow_custom_ops=True)
    assert [op.custom_code for op in operators] == ["MyOwn"]


def test_what_flatlite_does_not_run_is_written():
    draft = Draft()
    attrs = {"_output_types": [np.dtype(np.float32)], "_output_shapes": [(4, 4)]}
    x = draft.input("x", (4, 4))
    exponential = draft.graph.add("MatrixExponential", "e", [x], attrs).outputs[0]
    with pytest.warns(UserWarning, match="was not verified: nobody registered"):
        (operator,) = operators_of(draft, exponential)
    assert operator.custom_code == "FlexMatrixExponential"
    assert texts(operator.custom_options)[0] == b"MatrixExponential"
    with pytest.raises(UnsupportedOps, match="MatrixExponential x 1"):
        Conversion(Settings(), [draft.source(exponential)], 2).run()


def test_what_has_a_signature_is_not_listed_as_without():
    assert not [name for name in OTHERS if signature_of(name)]


def test_types_of_results_are_those_of_an_op_def():
    definition = parsed_op_defs(
        "name: 'DecodeWebP' input_arg {name: 'images' type_attr: 'T'} output_arg {name: 'output' "
        "type_attr: 'T'} attr {name: 'T' type: 'type' default_value {type: DT_FLOAT}}"
    )
    nodes = [proto.message("NodeDef")(op="DecodeWebP") for _ in range(2)]
    nodes[1].attr["T"].type = 19
    note_types(nodes, definition)
    assert [list(node.attr["_output_types"].list.type) for node in nodes] == [[1], [19]]


def test_float64_is_computed_by_flex_operators_where_builtins_do_not():
    draft = Draft()
    x = draft.op("Cast", draft.input("x", (2,)), DstT=np.dtype(np.float64))
    third = draft.op("RealDiv", x, np.float64(3))
    operators = operators_of(draft, draft.op("Sub", draft.op("Sqrt", x), third))
    kinds = [op.custom_code or op.op for op in operators]
    assert sorted(kinds) == ["CAST", "FlexRealDiv", "FlexSqrt", "FlexSub"]  # those of TensorFlow


def test_float64_without_flex_operators_is_refused_by_name():
    draft = Draft()
    x = draft.op("Cast", draft.input("x", (2,)), DstT=np.dtype(np.float64))
    conversion = Conversion(Settings(), [draft.source(draft.op("Mul", x, x))], 2)
    with pytest.raises(ConverterError, match=r"MUL .*no kernel for \(float64, float64\)"):
        conversion.run()


def test_what_tensorflows_runtime_does_not_slice_is_sliced_by_flex_operators():
    draft = Draft()
    x = draft.input("x", (4,))
    bounds = [np.int32([i]) for i in (0, 2, 1)]
    for dtype in (np.float64, np.complex64):
        part = draft.op("StridedSlice", draft.op("Cast", x, DstT=np.dtype(dtype)), *bounds)
        real = part if dtype is np.float64 else draft.op("Real", part)
        kinds = {op.custom_code or op.op for op in operators_of(draft, real)}
        assert "FlexStridedSlice" in kinds and "STRIDED_SLICE" not in kinds
