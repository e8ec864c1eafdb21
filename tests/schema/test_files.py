"""Files are read whole or mapped, and replaced in one step."""

import errno
import mmap
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from flatlite.schema import files, model


def test_write_and_read(tmp_path):
    path = tmp_path / "model.tflite"
    files.write_atomic(path, b"first")
    files.write_atomic(str(path), bytearray(b"second"))
    assert files.read_bytes(path) == b"second"
    assert os.listdir(tmp_path) == ["model.tflite"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_map(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"content")
    view = files.map_file(path)
    assert view.readonly
    assert bytes(view) == b"content"


def resident(path):
    """Kilobytes of memory that mappings of a file take in this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    kilobytes, inside = 0, False
    for line in lines:
        if "-" in line.split(" ", 1)[0]:
            inside = line.endswith(str(path))
        elif inside and line.startswith("Rss:"):
            kilobytes += int(line.split()[1])
    return kilobytes


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's smaps")
def test_release(tmp_path):
    path, content = tmp_path / "file", os.urandom(1 << 20)
    path.write_bytes(content)
    mapped = files.map_file(path)
    assert mapped == content
    assert resident(path) == 1024
    files.release(mapped)
    assert resident(path) == 0
    assert mapped == content
    files.release(content)  # is not mapped: nothing happens


def constants_model(arrays):
    """A Model of one subgraph without operators, with these constants."""
    tensors = [model.Tensor(str(i), x.shape, "FLOAT32", data=x) for i, x in enumerate(arrays)]
    return model.Model([model.Subgraph(tensors=tensors)])


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux's smaps")
def test_a_model_of_a_mapped_file_leaves_none_of_it_in_memory(tmp_path):
    path, n = tmp_path / "file", 512
    path.write_bytes(np.random.default_rng(0).standard_normal((4, n, n)).astype("<f4").tobytes())
    mapped = np.frombuffer(files.map_file(path), "<f4").reshape(4, n, n)
    scaled = mapped[2] * np.float32(2)  # its source was read long before the file is written
    memory = mmap.mmap(-1, n * n * 4)  # of no file: a page that is given back would be zeros
    writable = np.frombuffer(memory, "<f4").reshape(n, n)
    writable[...] = mapped[3]
    arrays = [mapped[0], mapped[1].T, mapped[:2, ::3, 5:], scaled, writable]
    content = model.save(constants_model(arrays))
    assert resident(path) < 100
    tensors = model.load(content).subgraphs[0].tensors
    for tensor, array in zip(tensors, arrays, strict=True):
        np.testing.assert_array_equal(tensor.data, array)
    np.testing.assert_array_equal(writable, mapped[3])


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty"
    files.write_atomic(path, b"")
    assert files.read_bytes(path) == b""
    assert bytes(files.map_file(path)) == b""


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    files.write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("read", [files.read_bytes, files.map_file])
def test_what_is_no_file(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="missing"):
        read(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        read(pipe)


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder does not exist: '.*nowhere'"):
        files.write_atomic(tmp_path / "nowhere" / "model", b"")
    with pytest.raises(IsADirectoryError):
        files.write_atomic(tmp_path, b"")


def test_the_file_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    """Not the temporary one, of which nobody knows."""
    opened = os.open

    def refused(path, flags, *arguments, **keywords):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, flags, *arguments, **keywords)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*/model.tflite'"):
        files.write_atomic(tmp_path / "model.tflite", b"")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"old")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, call, fail)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomic(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.tflite"]


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"old")
    opened = files._open

    def grow(name):
        descriptor, size = opened(name)
        path.write_bytes(b"longer")
        return descriptor, size

    monkeypatch.setattr(files, "_open", grow)
    with pytest.raises(OSError, match="changed while it was read"):
        files.read_bytes(path)


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_no_regular_file_is_written_into(tmp_path):
    fifo, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    for path in (fifo, link):
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(fifo.read_bytes)
            files.write_file(path, b"through")
            assert read.result() == b"through"
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    files.write_file("/dev/null", b"away")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_named(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    for path in ("/dev/full", str(link)):
        with pytest.raises(OSError, match="No space left") as caught:
            files.write_file(path, b"too much")
        assert caught.value.filename == path
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert link.is_symlink()


def test_links_are_followed_as_cp_does(tmp_path):
    target, link, lost = tmp_path / "target", tmp_path / "link", tmp_path / "lost"
    target.write_bytes(b"old")
    link.symlink_to(target)
    lost.symlink_to(tmp_path / "nothing")
    files.write_file(link, b"new")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"new")
    with pytest.raises(FileNotFoundError, match="a link that leads to nothing"):
        files.write_file(lost, b"new")
    assert not (tmp_path / "nothing").exists()
