import numpy as np
import pytest

from flatlite.converter.ir.builder import Builder, as_array, make_options
from flatlite.converter.ir.graph import Graph
from flatlite.errors import ConverterError


@pytest.fixture
def b():
    return Builder(Graph())


def test_unknown_dimensions_stay_unknown(b):
    x = b.input("x", np.float32, (None, 8, None, 3))
    assert list(map(str, x.sizes)) == ["n", "8", "w", "3"]
    y = b.CONV_2D(x, np.ones((4, 3, 3, 3), np.float32), stride_h=2, stride_w=2)
    assert y.shape == (None, 4, None, 4)
    assert list(map(str, y.sizes)) == ["n", "4", "floor(w+1, 2)", "4"]
    assert y.producer.options.padding == 0


def test_shape_arithmetic_is_computed_along(b):
    x = b.input("x", np.float32, (None, 4, 5))
    shape = b.SHAPE(x)
    assert shape.value is None
    batch = b.STRIDED_SLICE(shape, [0], [1], [1], shrink_axis_mask=1)
    assert str(batch.elements.extents.item()) == "n"
    others = b.STRIDED_SLICE(shape, [1], [3], [1])
    assert others.value.tolist() == [4, 5]
    y = b.RESHAPE(x, b.PACK(batch, 20, values_count=2))
    assert y.shape == (None, 20)


def test_several_results(b):
    x = b.input("x", np.float32, (4, 6))
    parts = b.SPLIT(1, x, num_splits=3)
    assert [part.shape for part in parts] == [(4, 2)] * 3
    values, indices = b.TOPK_V2(x, 2)
    assert (values.dtype, indices.dtype) == (np.float32, np.int32)
    assert b.graph.ops[0].outputs == list(parts)


def test_result_type_comes_from_prepare_or_the_caller(b):
    x = b.input("x", np.float32, (4,))
    assert b.LESS(x, 0.5).dtype == bool
    assert b.CAST(x, dtype=np.int64).dtype == np.int64
    _, indices = b.TOPK_V2(x, b.input("k", np.int32, ()), dtype=(np.float32, np.int16))
    assert indices.dtype == np.int16


def test_numbers_become_constants(b):
    x = b.input("x", np.float32, (4,))
    y = b.MUL(x, 2.0, fused_activation_function="RELU6")
    assert y.producer.inputs[1].value == np.float32(2)
    assert y.producer.options.fused_activation_function == 3
    assert as_array([1, -1]).dtype == np.int32
    assert as_array(np.float64(1)).dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        as_array(np.zeros(3))[0] = 1


def test_the_callers_array_stays_writable():
    array = np.zeros(3)
    as_array(array)
    array[0] = 1


def test_ops_go_before_the_op_given(b):
    x = b.input("x", np.float32, (4,))
    b.origin("layer/Relu")
    y = b.RELU(x)
    inner = Builder(b.graph, before=y.producer)
    z = inner.NEG(x)
    assert [op.kind for op in b.graph.ops] == ["NEG", "RELU"]
    assert z.name == z.producer.origin == "layer/Relu"


def test_errors_name_the_source_node(b):
    x = b.input("x", np.float32, (5, 4))
    b.origin("head/Reshape")
    with pytest.raises(ConverterError, match=r"RESHAPE 'head/Reshape': .*7"):
        b.RESHAPE(x, [7, -1])
    assert b.graph.ops == []


def test_values_out_of_range_name_the_source_node(b):
    b.origin("embed/Gather")
    with pytest.raises(ConverterError, match=r"GATHER 'embed/Gather'.*7"):
        b.GATHER(np.zeros((3, 2), np.float32), [7])


def test_an_op_the_interpreter_lacks(b):
    x = b.input("x", np.float32, (4,))
    b.origin("node")
    message = "DELEGATE 'node': operator DELEGATE is not supported"
    with pytest.raises(ConverterError, match=message):
        b.DELEGATE(x)


def test_unknown_names(b):
    with pytest.raises(AttributeError, match="TFLite has no operator 'CONV'"):
        b.CONV(1)
    with pytest.raises(TypeError, match=r"got \{'stride': 1\}"):
        make_options("CONV_2D", {"stride": 1})
    with pytest.raises(TypeError, match="FLOOR has no options, got stride"):
        make_options("FLOOR", {"stride": 1})


def test_what_only_the_run_can_tell_is_unknown(b):
    assert b.NEG(b.input("any", np.float32, None)).shape is None
    x = b.input("x", np.float32, (6,))
    y = b.RESHAPE(x, b.input("shape", np.int32, (2,)))
    assert y.shape == (None, None)
    assert all(size.data_dependent for size in y.sizes)
    assert b.NEG(y).shape == (None, None)
    assert b.ADD(y, b.input("z", np.float32, (2, 3))).shape == (2, 3)
    clash = b.DEPTH_TO_SPACE(b.RESHAPE(x, b.input("four", np.int32, (4,))), block_size=11)
    assert (clash.shape, clash.dtype) == ((None,) * 4, np.float32)
    assert b.LESS(clash, 0.0).dtype == bool
    assert b.ARG_MAX(clash, 0, output_type="INT32").dtype == np.int32


def test_late_dimensions_differ_from_all_others(b):
    x = b.input("x", np.bool_, (6,))
    first, second = b.WHERE(x), b.WHERE(x)
    assert first.shape == (None, 1)
    assert first.dtype == np.int64
    assert first.sizes[0] != second.sizes[0]


def test_custom_operator(b):
    x = b.input("x", np.float32, (None, 4))
    (y,) = b.custom("Foo", x, outputs=[(np.int8, (None, 2))], options=b"\1")
    assert (y.dtype, y.shape) == (np.int8, (None, 2))
    assert (y.producer.custom_code, y.producer.custom_options) == ("Foo", b"\1")


def test_type_numbers(b):
    assert b.tensor_type(np.int64) == 4
