"""Programs of TF1's users run after a change of the import, and train as in TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import (
    input_programs,
    kept_programs,
    model_programs,
    paper_programs,
    pipeline_programs,
    user_programs,
)
from .user_programs import results_of

MODULES = {
    "user_programs": user_programs,
    "input_programs": input_programs,
    "kept_programs": kept_programs,
    "model_programs": model_programs,
    "paper_programs": paper_programs,
    "pipeline_programs": pipeline_programs,
}
PROGRAMS = [function for module in MODULES.values() for function in module.PROGRAMS]
RECORDED = {
    program: results
    for name in MODULES
    for program, results in json.loads(Path(__file__).with_name(f"{name}.json").read_text()).items()
}


SLOW = (
    *("attention_and_beam_search", "attention_by_hand", "factorization_machine"),
    "stacked_bidirectional",
)
"""Those whose loops take seconds to be compiled, as those of others do."""


def _listed(function):
    marks = [pytest.mark.slow] if function.__name__ in SLOW else []
    return pytest.param(function, id=function.__name__, marks=marks)


@pytest.mark.filterwarnings("ignore")  # of what is deprecated: the programs use it
@pytest.mark.parametrize("function", [*map(_listed, PROGRAMS)])
def test_results(function, tmp_path, monkeypatch):
    """Losses of each step, results, names."""
    monkeypatch.chdir(tmp_path)
    results, recorded = results_of(tf, function), RECORDED[function.__name__]
    assert results.keys() == recorded.keys()
    for key, expected in recorded.items():
        _compare(results[key], expected, key)


def _compare(actual, expected, where):
    """Numbers are close, all else is equal."""
    if isinstance(expected, list) and not _is_numeric(expected):
        assert len(actual) == len(expected), where
        for i, (item, other) in enumerate(zip(actual, expected, strict=True)):
            _compare(item, other, f"{where}[{i}]")
    elif _is_numeric(expected):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=where)
    else:
        assert actual == expected, where


def _is_numeric(value):
    try:
        return np.asarray(value).dtype.kind in "fi"
    except ValueError:  # lists of unequal lengths
        return False
