"""Writes variables.npz: what TensorFlow's variables do in the programs of variable_programs.py.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/graph/programs/make_variables.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
import variable_programs as programs

GOLDENS = Path(__file__).with_name("variables.npz")


def main() -> None:
    """Records every program, on references and on resources."""
    tf.disable_v2_behavior()
    arrays, facts = {}, {}
    for kind in (False, True):
        for name, expression in programs.PROGRAMS.items():
            try:
                listed = programs.run(tf, expression, kind)
            except (AttributeError, NotImplementedError):
                continue  # TensorFlow lacks it for this kind
            facts[f"{kind}:{name}"] = len(listed)
            arrays |= {f"{kind}:{name}:{i}": np.asarray(array) for i, array in enumerate(listed)}
        for name, expression in programs.FACTS.items():
            facts[f"{kind}:{name}"] = programs.fact(tf, expression, kind)
        for name, expression in programs.REFUSALS.items():
            facts[f"{kind}:{name}"] = programs.refusal(tf, expression, kind)
    np.savez_compressed(GOLDENS, facts=np.array(json.dumps(facts)), **arrays)
    sys.stdout.write(f"{GOLDENS.name}: {len(facts)} programs\n")


if __name__ == "__main__":
    main()
