"""HDF5 files are read by another process, whose end is an error and no more."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from keras_files import h5

from flatlite.converter.keras.files import hdf5_process
from flatlite.converter.keras.files.hdf5_process import Store
from flatlite.errors import ModelError

MODELS = Path(__file__).parent / "models"
ARRAYS = {
    "half": np.float16([[1.5, -2]]),
    "big": np.arange(6, dtype=">i4").reshape(2, 3),
    "flag": np.array([True, False]),
    "number": np.float64(2.5),
    "empty": np.zeros((0, 3), np.float32),
    "group/inner": np.arange(1 << 20, dtype=np.float32),
}


def process_of(store):
    return store._server.process


def reader_of(server):
    (reader,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return int(reader)


def test_values_attributes_and_names():
    def edit(file):
        file.attrs["text"] = "Grüße"
        file["group"].attrs["names"] = [b"a", b"b"]

    store = Store(h5(ARRAYS, edit), "'file'")
    for path, array in ARRAYS.items():
        assert store.shape(path) == array.shape
        values = store.array(path)
        assert values.dtype == array.dtype
        np.testing.assert_array_equal(values, array)
    assert store.names("group") == ["inner"] and store.names("none") == []
    assert store.text("", "text") == "Grüße" and store.text("", "none") is None
    assert store.texts("group", "names") == ["a", "b"]
    assert store.shape("group/none") is None


def test_a_process_serves_one_file_after_another_and_two_at_once():
    first, second = (Store(h5({name: ARRAYS[name]}), name) for name in ("half", "flag"))
    assert process_of(first) is not process_of(second)
    assert first.shape("half") == (1, 2) and second.shape("flag") == (2,)
    process = process_of(first)
    del first
    third = Store(h5({"big": ARRAYS["big"]}), "third")
    assert process_of(third) is process
    assert third.shape("big") == (2, 3) and third.shape("half") is None


@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(999)])
def test_what_is_no_hdf5(content):
    with pytest.raises(ModelError, match="'it' cannot be read as HDF5"):
        Store(content, "'it'")
    assert Store(h5(ARRAYS), "another").shape("half") == (1, 2)


def test_a_reader_that_a_signal_ends():
    store = Store(h5(ARRAYS), "'it'")
    server = process_of(store)
    os.kill(reader_of(server), signal.SIGSEGV)
    for _ in range(2):
        with pytest.raises(ModelError, match="'it' cannot be read as HDF5: libhdf5 ended with"):
            store.shape("half")
    del store
    other = Store(h5(ARRAYS), "'other'")
    assert process_of(other) is server and other.shape("half") == (1, 2)


def test_a_server_that_has_ended():
    store = Store(h5(ARRAYS), "'it'")
    server = process_of(store)
    reader = reader_of(server)
    for process in (server.pid, reader):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(ModelError, match="libhdf5 ended with"):
        store.array("half")
    assert hdf5_process.Store(h5(ARRAYS), "'other'").shape("half") == (1, 2)


def test_damage_anywhere_is_an_error_or_a_value():
    rng = np.random.default_rng(8)
    good = np.frombuffer((MODELS / "nested_keras3.h5").read_bytes(), np.uint8)
    n_errors = 0
    for _ in range(40):
        content = good.copy()
        content[rng.integers(0, 2048, 3)] = rng.integers(0, 256, 3)
        try:
            Store(content.tobytes(), "'it'").texts("model_weights", "layer_names")
        except ModelError:
            n_errors += 1
    assert n_errors
