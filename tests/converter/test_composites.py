"""Functions of SavedModels: those that say which operation they implement become it, as in
TensorFlow; calls in loops and branches; images resampled and coloured.
"""

import io
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import load

CONTENT = lzma.decompress(Path(__file__).with_name("composites.npz.xz").read_bytes())
RECORDED = np.load(io.BytesIO(CONTENT))
CASES = list(dict.fromkeys(key.partition("/")[0] for key in RECORDED))


def arrays(case, word):
    return [RECORDED[key] for key in RECORDED if key.startswith(f"{case}/{word}")]


def converted(case, folder):
    (folder / "saved_model.pb").write_bytes(RECORDED[f"{case}/model"].tobytes())
    (folder / "variables").mkdir()
    return TFLiteConverter.from_saved_model(str(folder))


@pytest.mark.filterwarnings("ignore:the converted model was not verified")
@pytest.mark.parametrize("case", CASES)
def test_as_tensorflow(case, tmp_path, litert):
    content = converted(case, tmp_path).convert()
    operators = load(content).subgraphs[0].operators
    names = [op.custom_code or op.op for op in operators]
    if f"{case}/ops" in RECORDED:
        assert len(names) <= len(RECORDED[f"{case}/ops"])
    for op in operators:
        if op.custom_code:
            options = json.loads(str(RECORDED[f"{case}/options"]))
            assert flexbuffers.Loads(bytes(op.custom_options)) == options
    want = arrays(case, "out")
    if not want:
        assert "my_gate" in names
        return
    inputs = {f"x{i}": x for i, x in enumerate(arrays(case, "in"))}
    ours = Interpreter(model_content=content).get_signature_runner()(**inputs)
    theirs = litert.run(content, [list(inputs.values())])[0]
    for i, y in enumerate(want):
        np.testing.assert_allclose(ours[f"y{i}"], y, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(theirs[i], y, rtol=1e-5, atol=1e-6)
