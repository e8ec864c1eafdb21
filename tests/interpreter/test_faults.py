"""What operators say about values they meet only when they run."""

import numpy as np
import pytest
from cases import Case, content, f32, floats, i32, i64

from flatlite.lite import Interpreter

SCALES = {0: (0.01, -3), "out0": (0.02, 5)}
FAULTS = [
    Case("gather", "GATHER", {"axis": 1}, [floats(2, 3), i32([0, 3])],
        why="indices must be in [0, 3), got 3 at position 1"),
    Case("gather/negative", "GATHER", {}, [floats(2, 3), i64([[1, -1]])],
        why="indices must be in [0, 2), got -1 at position 1"),
    Case("gather/batch", "GATHER", {"axis": 1, "batch_dims": 1},
        [floats(2, 3), i32([[0, 1], [5, 0]])],
        why="indices must be in [0, 3), got 5 at position 2"),
    Case("gather_nd", "GATHER_ND", {}, [floats(2, 3), i32([[1, 2], [0, 3]])],
        why="indices must be in [0, 3), got 3 at position 3"),
    Case("scatter_nd", "SCATTER_ND", {}, [i32([[0], [4]]), f32([1, 2]), i32([4])],
        outputs=[np.float32], why="indices must be in [0, 4), got 4 at position 1", constants=(2,)),
    Case("embedding_lookup", "EMBEDDING_LOOKUP", {}, [i32([0, 2]), floats(2, 3)],
        outputs=[np.float32], why="indices must be in [0, 2), got 2 at position 1"),
    Case("div", "DIV", {}, [i32([1, 2]), i32([1, 0])],
        why="division by zero at position 1"),
    Case("floor_div", "FLOOR_DIV", {}, [i32([1, 2]), i32(0)],
        why="division by zero at position 0"),
    Case("floor_mod", "FLOOR_MOD", {}, [i64([1, 2]), i64([3, 0])],
        why="division by zero at position 1"),
    Case("pow", "POW", {}, [i32([2, 3]), i32([1, -1])],
        why="values must not be negative, got -1 at position 1"),
    Case("slice", "SLICE", {}, [floats(4, 3), i32([3, 0]), i32([2, 3])],
        why="indices must be in [0, 3), got 3 at position 0", constants=(2,)),
    Case("strided_slice", "STRIDED_SLICE", {"shrink_axis_mask": 1},
        [floats(4, 3), i32([-5]), i32([-4]), i32([1])],
        why="indices must be in [0, 4), got -5 at position 0", constants=(3,)),
    Case("reverse_sequence", "REVERSE_SEQUENCE", {"seq_dim": 1, "batch_dim": 0},
        [floats(2, 3), i32([1, 4])],
        why="values must be below 4, got 4 at position 1"),
    Case("segment_sum", "SEGMENT_SUM", {}, [floats(3, 2), i32([1, 0, 2])],
        why="values must not decrease, got 0 at position 1 after 1"),
    Case("unsorted_segment_sum", "UNSORTED_SEGMENT_SUM", {},
        [floats(3, 2), i32([1, 3, 2]), i32(3)],
        why="values must be below 3, got 3 at position 1", constants=(2,)),
    *(Case(f"{op.lower()}/{dtype}", op, {}, [np.array([-3, 100, -4], dtype)], quantization=SCALES,
        why="values must not be negative, got -1 at position 2")
      for op in ("SQRT", "RSQRT") for dtype in ("int8", "int16")),
]  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.name)
def test_fault_names_value_and_place(case):
    interpreter = Interpreter(model_content=content(case))
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), case.feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    with pytest.raises(RuntimeError) as raised:
        interpreter.invoke()
    words = str(raised.value)
    assert case.why in words
    assert f"Node number 0 ({case.op}) failed to invoke" in words


def test_runs_again_after_a_fault():
    case = FAULTS[0]
    interpreter = Interpreter(model_content=content(case))
    interpreter.allocate_tensors()
    params, indices = interpreter.get_input_details()
    interpreter.set_tensor(params["index"], case.inputs[0])
    interpreter.set_tensor(indices["index"], case.inputs[1])
    with pytest.raises(RuntimeError, match="got 3 at position 1"):
        interpreter.invoke()
    interpreter.set_tensor(indices["index"], i32([2, 0]))
    interpreter.invoke()
    got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(got, case.inputs[0][:, [2, 0]])
