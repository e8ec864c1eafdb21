"""`tf.python_io`; texts of errors are TensorFlow 2.21's. tests/schema/test_records.py has bytes."""

import zlib

import pytest

import flatlite.compat.v1 as tf
from flatlite.schema.tensorflow.records import frame

RECORDS = [b"one", "zwei", b"", b"x" * 3000]
CONTENT = [b"one", b"zwei", b"", b"x" * 3000]
io = tf.python_io
KINDS = [None, "", "ZLIB", "GZIP", io.TFRecordCompressionType.GZIP, io.TFRecordOptions("ZLIB")]


@pytest.mark.parametrize("options", KINDS, ids=["None", "", "ZLIB", "GZIP", "2", "options"])
def test_written_and_read(tmp_path, options):
    path = str(tmp_path / "file")
    with io.TFRecordWriter(path, options) as writer:
        for record in RECORDS:
            writer.write(record)
    assert list(io.tf_record_iterator(path, options)) == CONTENT


def test_what_was_flushed_is_there(tmp_path):
    path = tmp_path / "file"
    writer = io.TFRecordWriter(str(path), "ZLIB")
    writer.write(b"one")
    writer.flush()
    assert zlib.decompressobj().decompress(path.read_bytes()) == frame(b"one")
    writer.close()
    writer.close()
    for call in (writer.flush, lambda: writer.write(b"two")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
            call()


def test_options():
    of = io.TFRecordOptions.get_compression_type_string
    assert [of(kind) for kind in (None, "", 0, 1, 2, "GZIP")] == [
        "",
        "",
        "",
        "ZLIB",
        "GZIP",
        "GZIP",
    ]
    assert of(io.TFRecordOptions(io.TFRecordOptions("GZIP"))) == "GZIP"
    assert io.TFRecordOptions.compression_type_map == {0: "", 1: "ZLIB", 2: "GZIP"}


def test_level_and_window(tmp_path):
    path = tmp_path / "file"
    options = io.TFRecordOptions("ZLIB", window_bits=-9, compression_level=9)
    with io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
    assert zlib.decompress(path.read_bytes(), wbits=-9) == frame(b"one")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda path: io.TFRecordOptions("foo"), ValueError, 'Not a valid compression_type: "foo"'),
        (lambda path: io.TFRecordWriter(path, 7), ValueError, 'Not a valid compression_type: "7"'),
        (
            lambda path: io.TFRecordWriter(path, io.TFRecordOptions("ZLIB", compression_level=12)),
            ValueError,
            "zlib refuses compression_level=12",
        ),
        (
            lambda path: io.TFRecordWriter(path / "nope" / "x"),
            tf.errors.NotFoundError,
            "nope/x; No such file or directory",
        ),
        (
            lambda path: list(io.tf_record_iterator(path / "nope")),
            tf.errors.NotFoundError,
            "nope; No such file or directory",
        ),
        (lambda path: io.TFRecordWriter(path / "f").write(3), TypeError, "record must be bytes"),
    ],
)
def test_errors(tmp_path, call, kind, words):
    with pytest.raises(kind, match=words):
        call(tmp_path)


def test_damaged_files(tmp_path):
    path, content = tmp_path / "file", frame(b"one") + frame(b"two")
    path.write_bytes(content[:-2])
    records = io.tf_record_iterator(path)
    assert next(records) == b"one"
    with pytest.raises(tf.errors.DataLossError, match=r"^truncated record at 19"):
        next(records)
    path.write_bytes(b"\x01" + content[1:])
    with pytest.raises(
        tf.errors.DataLossError, match=r"^corrupted record at 0 \(Is this even a TFRecord file\?\)"
    ):
        next(io.tf_record_iterator(path))


def test_examples(tmp_path):
    train, path = tf.train, str(tmp_path / "file")
    label = train.Feature(int64_list=train.Int64List(value=[3]))
    example = train.Example(features=train.Features(feature={"label": label}))
    with io.TFRecordWriter(path) as writer:
        writer.write(example.SerializeToString())
    (content,) = io.tf_record_iterator(path)
    assert content == bytes.fromhex("0a100a0e0a056c6162656c12051a030a0103")  # TensorFlow's
    read = train.Example.FromString(content)
    assert list(read.features.feature["label"].int64_list.value) == [3]
