"""Models that skl2onnx exports of scikit-learn: ONNX Runtime's recorded answers."""

from pathlib import Path

import numpy as np
import pytest

from flatlite.lite import Interpreter, TFLiteConverter

RECORDED = np.load(Path(__file__).with_name("sklearn_models.npz"))
MODELS = sorted({key.split()[0] for key in RECORDED.files})
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


def arrays(name, kind):
    prefix = f"{name} {kind} "
    return {k.removeprefix(prefix): RECORDED[k] for k in RECORDED.files if k.startswith(prefix)}


@pytest.mark.filterwarnings("ignore:.*there are no random values")
@pytest.mark.parametrize("name", MODELS)
def test_answers(name, litert):
    converter = TFLiteConverter.from_onnx_model(RECORDED[f"{name} model"].tobytes())
    feeds = {
        k: x.astype(object) if x.dtype.kind == "S" else x for k, x in arrays(name, "in").items()
    }
    converter.verify_inputs = [feeds]
    content = converter.convert()
    assert converter.verified
    ours = Interpreter(model_content=content).get_signature_runner()(**feeds)
    theirs = litert.run(content, [feeds], REFERENCE, "serving_default")
    assert not isinstance(theirs, str), theirs
    for results in (ours, theirs[0]):
        for key, want in arrays(name, "out").items():
            assert results[key].shape == want.shape
            if want.dtype.kind == "f":
                np.testing.assert_allclose(results[key], want, 1e-5, 1e-5)
            else:
                np.testing.assert_array_equal(results[key], want)
