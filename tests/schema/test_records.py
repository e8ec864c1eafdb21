"""Record files: TensorFlow's bytes, every compression, every cut, every flipped bit."""

import zlib

import pytest

from flatlite.errors import DataLossError
from flatlite.schema.tensorflow import records
from flatlite.training.tf_record import TFRecordWriter

RECORDS = [b"", b"one", b"x" * 1000]
# What TensorFlow's TFRecordWriter wrote for RECORDS, the last one shortened in PLAIN.
PLAIN = """
000000000000000029039807d8ea82a20300000000000000b099490e6f6e6501405508e8030000000000000795119a
"""
ZLIB = """
789c636080004de619ec375e352d6286f237ccf4e4cbcf4b657408e5780115639f2a38ab62148c825130ecc1aeb5a23e00
b306dffe
"""
GZIP = """
1f8b0800000000000003636080004de619ec375e352d6286f237ccf4e4cbcf4b657408e5780115639f2a38ab62148c8251
30ecc1aeb5a23e000c6f74571b040000
"""


def written(tmp_path, contents, compression=""):
    """The bytes of a file that TFRecordWriter makes."""
    path = tmp_path / "written.tfrecord"
    with TFRecordWriter(path, compression) as writer:
        for content in contents:
            writer.write(content)
    return path.read_bytes()


def read(tmp_path, content, compression=""):
    path = tmp_path / "file.tfrecord"
    path.write_bytes(content)
    return list(records.read_records(path, compression))


@pytest.mark.parametrize(("content", "compression"), [(ZLIB, "ZLIB"), (GZIP, "GZIP")])
def test_reads_what_tensorflow_wrote(tmp_path, content, compression):
    assert read(tmp_path, bytes.fromhex(content), compression) == RECORDS


def test_writes_what_tensorflow_writes(tmp_path):
    content = written(tmp_path, RECORDS)
    assert content.startswith(bytes.fromhex(PLAIN))
    assert content == b"".join(map(records.frame, RECORDS))
    unpacked = zlib.decompress(bytes.fromhex(GZIP), zlib.MAX_WBITS + 16)
    assert content == unpacked


@pytest.mark.parametrize("compression", records.COMPRESSIONS)
def test_round_trip(tmp_path, compression):
    many = [bytes([i % 256]) * (i * 37 % 5000) for i in range(200)]
    assert read(tmp_path, written(tmp_path, many, compression), compression) == many


def test_several_gzip_streams_follow_one_another(tmp_path):
    content = written(tmp_path, RECORDS, "GZIP") + written(tmp_path, [b"more"], "GZIP")
    assert read(tmp_path, content, "GZIP") == [*RECORDS, b"more"]


def test_a_file_that_grows_is_read_on(tmp_path):
    """After the last record, and after a cut one that was completed since."""
    path = tmp_path / "growing.tfrecord"
    first, second, third = (records.frame(name) for name in (b"first", b"second", b"third"))
    path.write_bytes(first)
    iterator = records.RecordIterator(path)
    assert [next(iterator), *iterator] == [b"first"]
    path.write_bytes(first + second)
    assert next(iterator) == b"second"
    path.write_bytes(first + second + third[:-1])
    for _ in range(2):
        with pytest.raises(DataLossError, match="truncated record"):
            next(iterator)
    path.write_bytes(first + second + third)
    assert [*iterator] == [b"third"]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_flushed_records_are_read_before_their_file_is_closed(tmp_path, compression):
    path = tmp_path / "open.tfrecord"
    with TFRecordWriter(str(path), compression) as writer:
        for record in RECORDS:
            writer.write(record)
        writer.flush()
        assert list(records.read_records(path, compression)) == RECORDS


@pytest.mark.parametrize("compression", records.COMPRESSIONS)
def test_empty_file(tmp_path, compression):
    assert read(tmp_path, b"", compression) == []


@pytest.mark.parametrize("compression", records.COMPRESSIONS)
def test_every_cut_is_found(tmp_path, compression):
    content = written(tmp_path, RECORDS[:2], compression)
    whole = {0, 16} if compression == "" else {0}
    for size in range(len(content)):
        if size in whole:
            continue
        with pytest.raises(DataLossError, match=r"(corrupted|truncated) record at \d+.*tfrecord'"):
            read(tmp_path, content[:size], compression)


def test_every_flipped_bit_is_found(tmp_path):
    content = written(tmp_path, RECORDS[:2])
    for i in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[i // 8] ^= 1 << i % 8
        with pytest.raises(DataLossError):
            read(tmp_path, damaged)


def test_records_before_the_damage_are_given(tmp_path):
    path = tmp_path / "file.tfrecord"
    path.write_bytes(written(tmp_path, RECORDS)[:-1])
    reader = records.read_records(path)
    assert [next(reader), next(reader)] == RECORDS[:2]
    with pytest.raises(DataLossError, match="truncated record at 35: 1003 of 1004 bytes are left"):
        next(reader)


def length(size):
    size_bytes = size.to_bytes(8, "little")
    return size_bytes + records.masked_crc32c(size_bytes).to_bytes(4, "little")


def test_length_beyond_the_file(tmp_path):
    with pytest.raises(DataLossError, match="0 of 1099511627780 bytes are left"):
        read(tmp_path, length(1 << 40))


def test_length_beyond_the_limit_of_a_compressed_file(tmp_path):
    with pytest.raises(DataLossError, match="at most 2147483647 bytes, got 1099511627776"):
        read(tmp_path, zlib.compress(length(1 << 40)), "ZLIB")


def test_unknown_compression(tmp_path):
    with pytest.raises(ValueError, match="one of '', 'ZLIB', 'GZIP', got 'LZ4'"):
        read(tmp_path, b"", "LZ4")
    with pytest.raises(DataLossError, match="cannot be unpacked"):
        read(tmp_path, written(tmp_path, RECORDS), "GZIP")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(records.read_records(tmp_path / "none"))
