"""The table of symbols: what counts as there, and as alike."""

import json

import symbols


def row(symbol, kind="function", params=(), area="core"):
    return {
        "symbol": symbol,
        "kind": kind,
        "signature": "()",
        "params": [{"name": name} for name in params],
        "area": area,
    }


def test_table(tmp_path, capsys):
    path = tmp_path / "api.json"
    rows = [
        row("tf.compat.v1.clip_by_value", params=("t", "clip_value_min", "clip_value_max", "name")),
        row("tf.compat.v1.clip_by_norm", params=("t", "norm")),
        row("tf.compat.v1.Session.graph", "property", area="session"),
        row("tf.lite.Interpreter.invoke", "method", area="session"),
        row("tf.compat.v1.no_such_function"),
        row("tf.mul"),
        row("tf.train.AdamOptimizer.GATE_OP", "constant", area="session"),
    ]
    path.write_text(json.dumps(rows))
    symbols.main(str(path), ["core"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["core", "4", "2", "1"]
    assert lines[2].strip().startswith("tf.compat.v1.clip_by_norm(t, clip_norm, axes, name), not")
    assert lines[3].strip() == "tf.compat.v1.no_such_function (function) is not there"
    assert lines[4].strip() == (
        "tf.mul (function) is not there: it is tf.multiply since TensorFlow 1.0"
    )
    assert lines[5].split() == ["session", "3", "3", "3"]
    assert lines[6].split() == ["all", "7", "5", "4"]


def test_attributes_of_instances():
    class Base:
        declared: int

    class Owner(Base):
        def __init__(self):
            self.assigned = 1

    assert {"declared", "assigned"} <= symbols.instance_attributes(Owner)
    assert symbols.member(Owner, "assigned") is not symbols.ABSENT
    assert symbols.member(Owner, "other") is symbols.ABSENT


def test_fields_of_messages():
    saver_def = symbols.resolved("tf.compat.v1.train.SaverDef")
    assert symbols.member(saver_def, "max_to_keep") is None
    assert symbols.member(saver_def, "other") is symbols.ABSENT


def test_names_without_a_module():
    assert symbols.resolved("TFLITE") == symbols.resolved("tf.lite.constants.TFLITE")
    assert symbols.resolved("GraphDef") is symbols.resolved("tf.GraphDef")
    assert symbols.resolved("NoSuchName") is symbols.ABSENT
