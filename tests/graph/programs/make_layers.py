"""Writes layers.npz: what TensorFlow's layers make of the programs in layer_programs.py.

Run it in an environment with TensorFlow and tf_keras, which the tests themselves do without:

    TF_USE_LEGACY_KERAS=1 python tests/graph/programs/make_layers.py
"""

import json
import sys
from pathlib import Path

import layer_programs
import numpy as np
import tensorflow.compat.v1 as tf

GOLDENS = Path(__file__).with_name("layers.npz")


def main() -> None:
    """Records every program."""
    tf.disable_v2_behavior()
    arrays, facts = {}, {"programs": {}, "refusals": {}}
    for name, expression in layer_programs.PROGRAMS.items():
        built = layer_programs.run(tf, expression)
        for key in ("values", "after"):
            listed = built.pop(key)
            built[key] = len(listed)
            arrays |= {f"{name}:{key}:{i}": np.asarray(a) for i, a in enumerate(listed)}
        facts["programs"][name] = built
    for name, expression in layer_programs.REFUSALS.items():
        facts["refusals"][name] = layer_programs.refusal(tf, expression)
    np.savez_compressed(GOLDENS, facts=np.array(json.dumps(facts)), **arrays)
    sys.stdout.write(f"{GOLDENS.name}: {len(facts['programs'])} programs\n")


if __name__ == "__main__":
    main()
