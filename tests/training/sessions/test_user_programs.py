"""Programs of TF1's users run after a change of the import, and train as in TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import kept_programs, user_programs
from .user_programs import results_of

MODULES = {"user_programs": user_programs, "kept_programs": kept_programs}
PROGRAMS = [function for module in MODULES.values() for function in module.PROGRAMS]
RECORDED = {
    program: results
    for name in MODULES
    for program, results in json.loads(Path(__file__).with_name(f"{name}.json").read_text()).items()
}


@pytest.mark.filterwarnings("ignore")  # of what is deprecated: the programs use it
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_results(function, tmp_path, monkeypatch):
    """Losses of each step, results, names."""
    monkeypatch.chdir(tmp_path)
    results, recorded = results_of(tf, function), RECORDED[function.__name__]
    assert results.keys() == recorded.keys()
    for key, expected in recorded.items():
        if np.asarray(expected).dtype.kind in "fi":
            np.testing.assert_allclose(results[key], expected, rtol=1e-4, atol=1e-5, err_msg=key)
        else:
            assert results[key] == expected, key
