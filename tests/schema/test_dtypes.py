"""Element types by number, as TFLite and TensorFlow count them."""

import subprocess
import sys

import numpy as np
import pytest

from flatlite.schema import dtypes, tables


@pytest.mark.parametrize("name", tables.TENSOR_TYPE)
def test_tensor_types(name):
    dtype = dtypes.TENSOR_TYPES[name]
    assert dtypes.numpy_dtype(tables.TENSOR_TYPE[name]) == dtype
    assert dtypes.tensor_type(dtype) == tables.TENSOR_TYPE[name]


@pytest.mark.parametrize("enum", range(1, 34))
def test_tf_types(enum):
    dtype = dtypes.tf_dtype(enum)
    assert dtypes.tf_dtype(100 + enum) == dtype
    assert dtypes.tf_enum(dtype) == enum


def test_what_numpy_takes_for_a_dtype():
    assert dtypes.tensor_type(np.float32) == dtypes.tensor_type("f4") == 0
    assert dtypes.tensor_type(bool) == 6
    assert [dtypes.tensor_type(kind) for kind in (object, str, bytes, "U3")] == [5] * 4
    assert dtypes.tf_enum(np.dtype(">i8")) == 9


def test_types_that_do_not_exist():
    with pytest.raises(ValueError, match=r"tensor type must be in \[0, 23\), got 23"):
        dtypes.numpy_dtype(23)
    with pytest.raises(ValueError, match=r"tensor type must be in \[0, 23\), got -1"):
        dtypes.numpy_dtype(-1)
    with pytest.raises(ValueError, match="dtype must be one TFLite has, got datetime64"):
        dtypes.tensor_type("datetime64[s]")
    with pytest.raises(ValueError, match=r"dtype must be one TFLite has, got .*variant.*x"):
        dtypes.tensor_type(np.dtype([("variant", "i4"), ("x", "i4")]))
    with pytest.raises(ValueError, match="DataType must be in"):
        dtypes.tf_dtype(0)
    with pytest.raises(ValueError, match="dtype must be one TensorFlow has"):
        dtypes.tf_enum("datetime64[s]")
    with pytest.raises(KeyError):
        dtypes.TENSOR_TYPES["FLOAT128"]


def test_ml_dtypes_is_imported_only_for_its_types():
    code = (
        "import sys; from flatlite.schema import dtypes, flatbuffer, model, checks, reader;"
        "dtypes.numpy_dtype(0);"
        "print(sorted({'ml_dtypes', 'flatbuffers', 'google'} & {*sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
