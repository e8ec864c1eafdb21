"""models/control: a loop and a branch that TensorFlow saved become WHILE and IF."""

from pathlib import Path

import numpy as np
import pytest

import flatlite
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import load

FOLDER = Path(flatlite.__file__).parent / "models" / "control"


@pytest.mark.parametrize(("name", "kind"), [("loop", "WHILE"), ("branch", "IF")])
def test_tensorflows_answers(name, kind, litert):
    converter = TFLiteConverter.from_saved_model(FOLDER / name)
    content = converter.convert()
    assert kind in [op.op for op in load(content).subgraphs[0].operators]
    runner = Interpreter(model_content=content).get_signature_runner()
    recorded = np.load(FOLDER / "example.npz")
    for i in range(2):
        inputs = {"x": recorded[f"{name}/{i}/x"]}
        ours = runner(**inputs)
        (theirs,) = litert.run(content, [inputs], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
        for key, got in ours.items():
            want = recorded[f"{name}/{i}/{key}"]
            np.testing.assert_allclose(got, want, 1e-6, 1e-6)
            np.testing.assert_allclose(theirs[key], want, 1e-6, 1e-6)
