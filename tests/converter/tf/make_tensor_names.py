"""Records the names of tensors in files that TensorFlow 2.21's converter writes.

python tests/converter/tf/make_tensor_names.py      # needs tensorflow
"""

import json
import sys
from pathlib import Path

import tensorflow as tf

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

from tensor_names import MODELS, WAYS, names_of  # noqa: E402

recorded = {
    f"{model} {way}": names_of(model, way, tf.compat.v1, tf.compat.v1.lite)
    for model in MODELS
    for way in WAYS
}
(HERE / "tensor_names.json").write_text(json.dumps(recorded, indent=0) + "\n")
