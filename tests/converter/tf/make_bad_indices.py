"""Records what TensorFlow gives for the cases of tests/support/bad_indices.py.

    PYTHONPATH=tests/support python tests/converter/tf/make_bad_indices.py

needs TensorFlow; run with 2.21.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
from bad_indices import CASES, PARAMS

recorded = {name: np.array(case(tf.raw_ops, PARAMS)) for name, case in CASES.items()}
np.savez_compressed(Path(__file__).with_name("bad_indices.npz"), **recorded)
