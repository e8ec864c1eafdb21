import re

import numpy as np
import pytest

from flatlite.engine.build.declaration import WIDTHS, WIDTHS16, Declaration, expanded
from flatlite.engine.plan.buffer import Buffer, Storage, arena, constant
from flatlite.engine.records import Axis, FixedPoint


def declare(text, **sets):
    return Declaration("kernel", text, sets)


def f32(*shape):
    return arena(shape, np.float32)


SUM = declare("x:float32[n,*] y:float32[n] out:float32[1] axis:i alpha:f")


def test_record_holds_shapes_and_numbers():
    key, record = SUM.bind((f32(2, 3), f32(2), f32(5)), {"axis": -1, "alpha": 0.5})
    bits = np.float64(0.5).view(np.int64)
    assert key == "kernel"
    assert record == [0, 0, 0, 2, 3, 0, 2, 0, 5, -1, bits]


@pytest.mark.parametrize(
    ("buffers", "numbers", "message"),
    [
        ((f32(2, 3), f32(2)), {}, "expected 3 buffers (x, y, out), got 2"),
        ((f32(2, 3), None, f32(1)), {}, "'y' must be a buffer, got None"),
        ((f32(6), f32(2), f32(1)), {}, "'x' must be rank 2, got shape (6,)"),
        ((f32(2, 3), f32(3), f32(1)), {}, "'y' must be n = 2, got shape (3,)"),
        (
            (arena((2, 3), np.float64), f32(2), f32(1)),
            {},
            "'x' must be float32, got float64",
        ),
        (
            (f32(2, 3), f32(2), constant(np.zeros(1, np.float32))),
            {},
            "'out' must be a buffer that may be written, got a constant",
        ),
        (
            (f32(2, 3), f32(2), Buffer(np.float32, (2,), Storage("arena", 8), 4)),
            {},
            "'out' must be at most 8 bytes, got bytes 4 to 12",
        ),
        (
            (f32(2, 3), f32(2), Buffer(np.float32, (1,), Storage("arena", 8), 2)),
            {},
            "'out' must be an offset that 4 divides, got 2",
        ),
        ((f32(2, 3), f32(2), f32(1)), {"axis": 1}, "numbers must be axis, alpha, got axis"),
        (
            (f32(2, 3), f32(2), f32(1)),
            {"axis": 1, "beta": 1},
            "numbers must be axis, alpha, got axis, beta",
        ),
        (
            (f32(2, 3), f32(2), f32(1)),
            {"axis": 1.5, "alpha": 1},
            "'axis' must be a number of int64, got 1.5",
        ),
        (
            (f32(2, 3), f32(2), f32(1)),
            {"axis": 1 << 63, "alpha": 1},
            f"'axis' must be int64 in [{-(1 << 63)}, {(1 << 63) - 1}], got {1 << 63}",
        ),
        (
            (f32(2, 3), f32(2), f32(1)),
            {"axis": 1, "alpha": "x"},
            "'alpha' must be a number of float64, got 'x'",
        ),
    ],
)
def test_wrong_arguments_are_named(buffers, numbers, message):
    with pytest.raises(ValueError, match=re.escape(f"kernel: {message}")):
        SUM.bind(buffers, numbers)


def test_letters_stand_for_one_dtype():
    move = declare("x:T1 i:I1 out:T1", T=WIDTHS, I=(np.int32, "int64"))
    key, _ = move.bind((f32(2), arena((1,), np.int64), arena((3,), np.int32)), {})
    assert key == "kernel[int64,uint32]"
    with pytest.raises(ValueError, match="'out' must be uint32 like the arguments before"):
        move.bind((f32(2), arena((1,), np.int64), arena((3,), np.int8)), {})
    with pytest.raises(ValueError, match="'i' must be one of int32, int64, got int8"):
        move.bind((f32(2), arena((1,), np.int8), f32(2)), {})


def test_width_sets_refuse_what_is_no_width():
    move = declare("x:T1", T=WIDTHS)
    for dtype in (np.complex128, object):
        with pytest.raises(ValueError, match=r"'x' must be one of uint8, uint16, uint32, uint64"):
            move.bind((arena((1,), dtype),), {})
    assert declare("x:T0", T=WIDTHS16).bind((arena((), complex),), {})[0] == "kernel[complex128]"


def test_specialisations_are_the_product_of_the_sets():
    declaration = declare("x:S2 out:D2", S=("int8", "int16"), D=("float32", "float64"))
    keys = [declaration.key(choice) for choice in declaration.specialisations()]
    assert len(keys) == 4
    assert keys[0] == "kernel[float32,int8]"  # in the order of the letters


def test_roles_follow_the_names():
    declaration = declare("x:float32[1] out:float32[1] inout_state:float32[1] scratch:float32[1]")
    assert [a.role for a in declaration.arrays] == ["read", "write", "read-write", "scratch"]


def test_a_result_may_lie_on_operands():
    declaration = declare("x:float32[1] y:float32[1] out~x~y:float32[1] low:f")
    assert [a.over for a in declaration.arguments] == [(), (), ("x", "y"), ()]
    assert declaration.in_place
    assert not declare("x:float32[1] out:float32[1]").in_place


def test_fields_of_a_record_are_words():
    text = expanded("x:float32[1] steps:Axis out:float32[1] beta:f", {"Axis": Axis})
    assert text == "x:float32[1] steps.size:i steps.stride:i out:float32[1] beta:f"
    declaration = declare(text)
    _, record = declaration.bind((f32(4), f32(4)), {"beta": 0.0, "steps": Axis(3, -5)})
    assert record == [0, 0, 0, 4, 3, -5, 0, 4, 0]
    message = "numbers must be steps.size, steps.stride, beta, got beta, steps.multiplier, steps.sh"
    with pytest.raises(ValueError, match=re.escape(message)):
        declaration.bind((f32(4), f32(4)), {"beta": 0.0, "steps": FixedPoint(3, -5)})
    with pytest.raises(ValueError, match=re.escape("'steps.size' must be a number of int64")):
        declaration.bind((f32(4), f32(4)), {"beta": 0.0, "steps": Axis("3", -5)})


def test_declaration_survives_its_description():
    declaration = declare("x:T2 n:int8 out~x:T[a, b]", T=WIDTHS)
    again = Declaration.restore("kernel", declaration.text, declaration.described_sets())
    assert again.in_place
    shapes = arena((2, 3), np.int16), arena((3, 2), np.int16)
    assert declaration.bind(shapes, {"n": -3}) == again.bind(shapes, {"n": -3})


@pytest.mark.parametrize(
    ("text", "sets", "message"),
    [
        ("x", {}, "cannot read 'x'"),
        ("x:float31[1]", {}, "unknown dtype 'float31'"),
        ("x:float32[9]", {}, "more than 8 dimensions"),
        ("x:float32[1] x:i", {}, "'x' is declared twice"),
        ("x:float32[1]", {"T": WIDTHS}, r"sets \['T'\] given, \[\] used"),
        ("x:T1", {"T": ("text",)}, "set T must hold dtypes"),
        ("x:int8[1] out~y:int8[1]", {}, "one result may lie on what is only read, got 'x:int8"),
        ("x:int8[1] out~x:int8[1] scratch:int8[1]", {}, "one result may lie on what is only read"),
        ("x:int8[1] out~x:int8[1] out_y~x:int8[1]", {}, "one result may lie on what is only read"),
        ("inout:int8[1] out~inout:int8[1]", {}, "one result may lie on what is only read"),
    ],
)
def test_wrong_declarations_are_refused(text, sets, message):
    with pytest.raises(ValueError, match=message):
        declare(text, **sets)
