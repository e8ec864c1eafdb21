import numpy as np
import pytest
from rewriting import Rewrite, check

import flatlite.compat.v1 as tf
from flatlite.converter.passes.unfold import unfold_batch_matmul

UNFOLD = [
    Rewrite(
        "unfold/one_matrix_on_the_right",
        unfold_batch_matmul,
        """graph main(x: float32[n,5,4], y: float32[4,3]) {
             z = BATCH_MATMUL(x, y)
             return z
           }""",
        """graph main(x: float32[n,5,4], y: float32[4,3]) {
             w = TRANSPOSE(y, int32[2]{1, 0})
             z = FULLY_CONNECTED(x, w, none; keep_num_dims=true)
             return z
           }""",
    ),
    Rewrite(
        "unfold/transposed_on_both_sides",
        unfold_batch_matmul,
        """graph main(x: float32[n,4,5], y: float32[3,4]) {
             z = BATCH_MATMUL(x, y; adj_x=1, adj_y=1)
             return z
           }""",
        """graph main(x: float32[n,4,5], y: float32[3,4]) {
             t = TRANSPOSE(x, int32[3]{0, 2, 1})
             z = FULLY_CONNECTED(t, y, none; keep_num_dims=true)
             return z
           }""",
    ),
    Rewrite(
        "unfold/stacks_of_two",
        unfold_batch_matmul,
        """graph main(x: float32[2,5,4], y: float32[2,3,4]) {
             z = BATCH_MATMUL(x, y; adj_y=1)
             return z
           }""",
        """graph main(x: float32[2,5,4], y: float32[2,3,4]) {
             a = RESHAPE(x, int32[3]{2, 5, 4})
             a0, a1 = UNPACK(a; num=2, axis=0)
             b = RESHAPE(y, int32[3]{2, 3, 4})
             b0, b1 = UNPACK(b; num=2, axis=0)
             z0 = FULLY_CONNECTED(a0, b0, none)
             z1 = FULLY_CONNECTED(a1, b1, none)
             p = PACK(z0, z1; values_count=2)
             z = RESHAPE(p, int32[3]{2, 5, 3})
             return z
           }""",
    ),
    Rewrite(
        "unfold/broadcast",
        unfold_batch_matmul,
        """graph main(x: float32[1,5,4], y: float32[1,2,3,4]) {
             z = BATCH_MATMUL(x, y; adj_y=1)
             return z
           }""",
        """graph main(x: float32[1,5,4], y: float32[1,2,3,4]) {
             a = RESHAPE(x, int32[2]{5, 4})
             b = RESHAPE(y, int32[3]{2, 3, 4})
             b0, b1 = UNPACK(b; num=2, axis=0)
             z0 = FULLY_CONNECTED(a, b0, none)
             z1 = FULLY_CONNECTED(a, b1, none)
             p = PACK(z0, z1; values_count=2)
             z = RESHAPE(p, int32[4]{1, 2, 5, 3})
             return z
           }""",
    ),
    Rewrite(
        "unfold/stacks_of_unknown_size",
        unfold_batch_matmul,
        """graph main(x: float32[n,5,4], y: float32[n,4,3]) {
             z = BATCH_MATMUL(x, y)
             return z
           }""",
    ),
]


@pytest.mark.parametrize("case", UNFOLD, ids=str)
def test_rewrite(case):
    check(case)


def test_the_converter_unfolds_when_asked():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, (2, 3, 5, 4), "x")
        y = tf.placeholder(tf.float32, (3, 6, 4), "y")
        z = tf.nn.relu(tf.matmul(x, tf.broadcast_to(y, (2, 3, 6, 4)), transpose_b=True))
    with tf.Session(graph=graph) as session:
        converter = tf.lite.TFLiteConverter.from_session(session, [x, y], [z])
    kinds = {}
    for unfolds in (False, True):
        converter.unfold_batchmatmul = unfolds
        interpreter = tf.lite.Interpreter(model_content=converter.convert())
        interpreter.allocate_tensors()
        kinds[unfolds] = [op["op_name"] for op in interpreter._get_ops_details()]
    assert kinds[False].count("BATCH_MATMUL") == 1
    assert "BATCH_MATMUL" not in kinds[True]
    assert kinds[True].count("FULLY_CONNECTED") == 6
    left, right = (np.random.default_rng(i).normal(size=t.shape) for i, t in enumerate((x, y)))
    for detail, value in zip(interpreter.get_input_details(), (left, right), strict=True):
        interpreter.set_tensor(detail["index"], value.astype(np.float32))
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    expected = np.maximum(left @ right.swapaxes(1, 2), 0)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
