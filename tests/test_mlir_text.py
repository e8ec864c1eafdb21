"""Models as MLIR's text: what TensorFlow's analyzer prints, recorded by make_mlir_texts.py."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from building import Builder, save
from mlir_models import OTHERS, cases, model_of

from flatlite.lite import experimental
from flatlite.tools.mlir_text import mlir_text

TEXTS = json.loads(np.load(Path(__file__).with_name("mlir_texts.npz"))["texts"].tobytes())


@cache
def known():
    return cases()


@pytest.mark.parametrize("name", TEXTS)
def test_text(name, capsys):
    content = OTHERS[name]() if name in OTHERS else model_of(known()[name])
    experimental.Analyzer.analyze(model_content=content, experimental_use_mlir=True)
    assert capsys.readouterr().out.strip() == TEXTS[name].strip()


def test_most_operators_are_among_them():
    assert len({known()[name].op for name in TEXTS if name not in OTHERS}) > 110


def test_an_operator_with_another_form_is_named():
    b = Builder()
    x, y = b.input("x", (2,)), b.tensor("y", (2,))
    b.op("CUSTOM", [x], [y], custom_code="Mine", custom_options=b"")
    with pytest.raises(
        ValueError, match="operator 'Mine' has a form in MLIR that flatlite does not"
    ):
        mlir_text(save(b.outputs(y)))
