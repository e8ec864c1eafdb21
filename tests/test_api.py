"""Every public name is there, sorted, and exported from one place."""

import importlib
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from write_stubs import FACADES, RAW_OPS, path_of, raw_ops_stub, stub_of

from flatlite import lite

MODULES = tuple(
    f"flatlite{n}"
    for n in ("", ".lite", ".litert", ".experimental", ".train", ".errors", ".compat.v1.lite")
)


@pytest.mark.parametrize("name", MODULES)
def test_public_names(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__, key=lambda n: (not n.isupper(), n))
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", MODULES)
def test_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = importlib.import_module(name).no_such_name


def test_compat_imports_its_modules_when_asked(monkeypatch):
    compat = importlib.import_module("flatlite.compat")
    for name in ("v1", "v2"):
        monkeypatch.delattr(compat, name, raising=False)
        assert getattr(compat, name) is importlib.import_module(f"flatlite.compat.{name}")


def test_compat_has_the_same_objects():
    lite = importlib.import_module("flatlite.lite")
    v1 = importlib.import_module("flatlite.compat.v1").lite
    for name in set(lite.__all__) - {"TFLiteConverter"}:
        assert getattr(v1, name) is getattr(lite, name)
    assert issubclass(v1.TFLiteConverter, lite.TFLiteConverter)


@pytest.mark.parametrize("name", ["", ".math", ".nn", ".bitwise"])
def test_names_of_tensorflow_1(name):
    module = importlib.import_module(f"flatlite.compat.v1{name}")
    assert dir(module) == sorted(module.__all__)
    functions = {n: f for n in dir(module) if inspect.isfunction(f := getattr(module, n))}
    assert all(pickle.loads(pickle.dumps(function)) is function for function in functions.values())
    assert all(function.__doc__ for function in functions.values())
    with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'no_such'"):
        _ = module.no_such


def test_the_stub_of_raw_ops():
    assert path_of(RAW_OPS).read_text() == raw_ops_stub(), "run `make stubs`"


def test_every_facade_has_a_stub():
    root = Path(lite.__file__).parent
    users = [p for p in (*root.glob("*.py"), *root.glob("compat/**/*.py")) if p.name != "facade.py"]
    facades = {path for path in users if "facade(" in path.read_text()}
    assert facades == {path_of(name).with_suffix(".py") for name in FACADES}


@pytest.mark.parametrize("name", FACADES)
def test_editors_see_every_name(name):
    """The checked-in stub has the names of dir(), from where they live."""
    stub, module = path_of(name).read_text(), importlib.import_module(name)
    assert stub == stub_of(name), "run `make stubs`"
    shown = re.findall(r"^from \S+ import \w+ as (\w+)$|^(\w+): str$", stub, re.MULTILINE)
    assert {"".join(pair) for pair in shown} == set(dir(module)) | set(module.__all__)


def test_every_name_has_its_module_written_down():
    """In fresh imports, the rows of operations, lowerings, gradients and layers come from there."""
    script = Path(__file__).with_name("write_homes.py")
    run = [sys.executable, "-W", "ignore", script, "--check"]
    checked = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


DOCUMENTED = {
    "TFLiteConverter": {  # in TensorFlow 2 funcs and trackable_obj=None
        "graph_def": ...,
        "input_tensors": None,
        "output_tensors": None,
        "input_arrays_with_shape": None,
        "output_arrays": None,
    },
    "TFLiteConverter.from_frozen_graph": {
        "graph_def_file": ...,
        "input_arrays": None,
        "output_arrays": None,
        "input_shapes": None,
    },
    "TFLiteConverter.from_saved_model": {
        "saved_model_dir": ...,
        "input_arrays": None,
        "input_shapes": None,
        "output_arrays": None,
        "tag_set": None,
        "signature_key": None,
    },
    "RepresentativeDataset": {"input_gen": ...},
    "TargetSpec": {"supported_ops": None},
}
"""Positional arguments, in order, and their defaults; `...` for none. All else is by keyword."""


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_arguments(name):
    function = lite
    for part in name.split("."):
        function = getattr(function, part)
    actual = {
        parameter.name: ... if parameter.default is parameter.empty else parameter.default
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.KEYWORD_ONLY
    }
    documented = DOCUMENTED[name]
    assert list(actual.items())[: len(documented)] == list(documented.items())


def test_enums_and_constants():
    assert lite.OpsSet("TFLITE_BUILTINS") is lite.OpsSet.TFLITE_BUILTINS
    assert str(lite.OpsSet.SELECT_TF_OPS) == "SELECT_TF_OPS"
    assert "TFLITE_BUILTINS_INT8" in lite.OpsSet.get_options()
    assert {option.value for option in lite.Optimize} == {
        "DEFAULT",
        "OPTIMIZE_FOR_SIZE",
        "OPTIMIZE_FOR_LATENCY",
        "EXPERIMENTAL_SPARSITY",
    }
    assert np.float32 == lite.constants.FLOAT
    assert np.uint8 == lite.constants.QUANTIZED_UINT8
    assert (lite.constants.TFLITE, lite.constants.GRAPHVIZ_DOT) == (2, 3)


def test_a_target_supports_builtins_by_default():
    spec = lite.TargetSpec()
    assert spec.supported_ops == {lite.OpsSet.TFLITE_BUILTINS}
    assert spec.supported_types == set()
    assert lite.TargetSpec([lite.OpsSet.SELECT_TF_OPS]).supported_ops == {lite.OpsSet.SELECT_TF_OPS}


def test_a_dataset_must_be_callable():
    assert list(lite.RepresentativeDataset(lambda: [1, 2]).input_gen()) == [1, 2]
    with pytest.raises(ValueError, match=r"must be a callable .* got list; wrap it"):
        lite.RepresentativeDataset([1, 2])


def test_experimental_names():
    assert lite.experimental.OpResolverType is lite.OpResolverType
    assert lite.experimental.load_delegate is lite.load_delegate
    with pytest.raises(AttributeError, match=r"'flatlite\.lite\.experimental' has no attribute"):
        _ = lite.experimental.Analyser
