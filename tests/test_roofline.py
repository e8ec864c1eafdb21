"""`flatlite benchmark --roofline`: work, limits and the picture."""

import json
from xml.etree import ElementTree

import pytest

from flatlite import cli as command_line
from flatlite.engine.machine import Limits
from flatlite.lite import Interpreter
from flatlite.schema.operators import known
from flatlite.tools import roofline

LIMITS = Limits(1, {"float32": 1e9, "int8": 4e9, "int16": 2e9}, ((1 << 20, 1e9), (1 << 27, 1e8)))


@pytest.mark.parametrize(
    ("kind", "operands", "results", "products"),
    [
        ("CONV_2D", [(2, 9, 9, 3), (8, 5, 3, 3), (8,)], [(2, 5, 7, 8)], 2 * 5 * 7 * 8 * 5 * 3 * 3),
        ("CONV_2D", [(1, 4, 4, 8), (6, 1, 1, 4), None], [(1, 4, 4, 6)], 4 * 4 * 6 * 4),  # 2 groups
        ("CONV_3D", [(1, 4, 4, 4, 2), (3, 3, 3, 2, 5)], [(1, 2, 2, 2, 5)], 8 * 5 * 27 * 2),
        ("DEPTHWISE_CONV_2D", [(1, 9, 9, 3), (1, 3, 3, 6)], [(1, 7, 7, 6)], 49 * 6 * 9),
        ("TRANSPOSE_CONV", [(4,), (8, 2, 2, 3), (1, 5, 5, 3)], [(1, 10, 10, 8)], 25 * 3 * 8 * 4),
        ("FULLY_CONNECTED", [(4, 6), (5, 6), (5,)], [(4, 5)], 4 * 5 * 6),
        ("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], [(2, 3, 5)], 2 * 3 * 4 * 5),
        ("BATCH_MATMUL", [(2, 4, 3), (4, 5)], [(2, 3, 5)], 2 * 3 * 4 * 5),  # adj_x
        ("UNIDIRECTIONAL_SEQUENCE_RNN", [(2, 7, 4), (5, 4), (5, 5), (5,), (2, 5)], [(2, 7, 5)],
         2 * 7 * (5 * 4 + 5 * 5)),
        ("SVDF", [(3, 4), (8, 4), (8, 10), None, (3, 80)], [(3, 8)], 3 * (8 * 4 + 8 * 10)),
        ("ADD", [(4, 6), (4, 6)], [(4, 6)], 0),
        ("SOFTMAX", [(4, 6)], [(4, 6)], 0),
    ],
)  # fmt: skip
def test_products(kind, operands, results, products):
    assert known(kind).products(operands, results) == products


def test_products_of_an_lstm():
    row = known("UNIDIRECTIONAL_SEQUENCE_LSTM")
    names = [operand.name for operand in row.operands]
    shapes = {"x": (2, 7, 4), "input_bias": (5,), "cell_state": (2, 5)}
    shapes |= {name: (5, 4) for name in names if name.startswith("input_to")}
    shapes |= {name: (5, 5) for name in names if name.startswith("recurrent_to")}
    operands = [shapes.get(name) for name in names]
    assert row.products(operands, [(2, 7, 5)]) == 2 * 7 * 4 * (5 * 4 + 5 * 5)


def rows_of(path, limits=LIMITS):
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    profiled = [
        {
            "index": row["index"],
            "operator": row["op_name"],
            "name": "<a&b>",
            "ms": 2.0,
            "share": 0.1,
        }
        for row in interpreter._get_ops_details()
    ]
    return roofline.roofline_rows(interpreter, profiled, limits)


def test_rows(lenet):
    rows = rows_of(lenet)
    convolution = next(row for row in rows if row["operator"] == "CONV_2D")
    assert convolution["numbers"] == "float32"
    assert convolution["limited_by"] == "products"
    assert convolution["limit_ms"] == pytest.approx(convolution["products"] / 1e6)
    assert convolution["of_limit"] == pytest.approx(convolution["limit_ms"] / 2)
    pool = next(row for row in rows if row["operator"].endswith("POOL_2D"))
    assert (pool["products"], pool["numbers"], pool["limited_by"]) == (0, "", "memory")
    assert pool["limit_ms"] == pytest.approx(pool["bytes"] / 1e6)
    whole = roofline.summary(rows)
    assert whole["of_limit"] == pytest.approx(sum(r["limit_ms"] for r in rows) / (2 * len(rows)))


def test_a_picture_is_svg_whatever_names_there_are(lenet):
    rows = rows_of(lenet)
    tree = ElementTree.fromstring(roofline.picture(rows, LIMITS, "<lenet> & co"))
    titles = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == sum(row["products"] > 0 for row in rows)
    assert all("<a&b>" in title for title in titles)
    ElementTree.fromstring(roofline.picture([], LIMITS, "nothing runs"))


def test_the_command(lenet, tmp_path, capsys):
    picture = tmp_path / "lenet.svg"
    command = ["benchmark", str(lenet), "--runs", "3", "--roofline", str(picture)]
    assert command_line.main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["roofline"]["products"]) == {"float32", "int8", "int16"}
    assert all(row["of_limit"] > 0 for row in result["operators"])
    ElementTree.parse(picture)
    assert command_line.main(command[:-1]) == 0
    assert f"drawn in {picture}" not in capsys.readouterr().out
    assert command_line.main(command) == 0
    out = capsys.readouterr().out
    assert "limits of 1 thread: G products/s float32" in out
    assert "of limit" in out


def test_a_picture_is_an_svg_file(lenet, capsys):
    for model in ([str(lenet)], []):
        with pytest.raises(SystemExit):
            command_line.main(["benchmark", "--roofline", str(lenet), *model])
        message = f"--roofline: draws an .svg file, got '{lenet}'; name the model first"
        assert message in capsys.readouterr().err
