"""Checkpoints: TensorFlow's own read and rewritten byte for byte, and damaged or hostile ones."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from flatlite.errors import DataLossError, NotFoundError, UnimplementedError
from flatlite.schema import proto
from flatlite.schema.tensorflow import sstable
from flatlite.schema.tensorflow.bundle import (
    Slice,
    build_bundle,
    data_path,
    open_bundle,
    slice_key,
    write_bundle,
)

HERE = Path(__file__).parent
BUNDLES = HERE / "bundles"
CORPUS = HERE.parent / "corpus"
GOLDEN = runpy.run_path(str(HERE / "make_bundles.py"))
TYPES, SLICED = GOLDEN["values"](), GOLDEN["sliced"]()
SINGLE = [
    *CORPUS.glob("[CD]/*/saved_model/variables/variables.index"),
    *CORPUS.glob("C/tf1_checkpoint_unsharded/ckpt/*.index"),
    BUNDLES / "types.index",
]


def key_of(name):
    return name.encode("latin-1").decode("utf-8", "surrogateescape")


def assert_same(value, expected):
    expected = np.asarray(expected)
    assert value.dtype == expected.dtype
    assert value.shape == expected.shape
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("key", TYPES)
def test_types(key):
    bundle = open_bundle(BUNDLES / "types")
    assert key in bundle
    assert bundle.shape(key) == np.shape(TYPES[key])
    assert bundle.dtype(key) == np.asarray(TYPES[key]).dtype
    value = bundle.read(key)
    assert_same(value, TYPES[key])
    assert not value.flags.writeable
    assert value.flags.aligned


@pytest.mark.parametrize("name", SLICED)
def test_slices_are_put_together(name):
    bundle = open_bundle(BUNDLES / "sliced")
    assert bundle.keys() == sorted(map(key_of, SLICED))
    assert_same(bundle.read(key_of(name)), SLICED[name])


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_is_read_alone(name, monkeypatch):
    bundle = open_bundle(BUNDLES / "sliced")
    read = []
    monkeypatch.setattr(
        bundle,
        "_value",
        lambda entry, key, take=bundle._value: read.append(entry.size) or take(entry, key),
    )
    for spec in GOLDEN["SLICES"][name]:
        indices = GOLDEN["cut"](spec)
        expected = SLICED[name][indices]
        start = tuple(index.start for index in indices)
        assert_same(bundle.read_slice(key_of(name), Slice(start, expected.shape)), expected)
        assert read == [expected.nbytes]
        read.clear()


def test_any_part_of_a_tensor_is_read():
    expected = SLICED["rows"][60:70, 1:]
    assert_same(
        open_bundle(BUNDLES / "sliced").read_slice("rows", Slice((60, 1), (10, 2))), expected
    )
    with pytest.raises(ValueError, match=r"must lie in its shape \(100, 3\), got start \(99, 0\)"):
        open_bundle(BUNDLES / "sliced").read_slice("rows", Slice((99, 0), (2, 3)))


@pytest.mark.parametrize("kind", ["sharded", "unsharded"])
def test_corpus(kind):
    folder = CORPUS / f"C/tf1_checkpoint_{kind}"
    with np.load(folder / "data.npz") as data:
        expected = {key[4:]: data[key] for key in data if key.startswith("var:")}
    bundle = open_bundle(folder / "ckpt/model.ckpt-14")
    assert bundle.keys() == sorted(expected)
    for key, value in expected.items():
        assert_same(bundle.read(key), value)


@pytest.mark.parametrize("path", SINGLE, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_written_byte_for_byte_as_tensorflow_does(path, tmp_path):
    bundle = open_bundle(path.with_suffix(""))
    tensors = {key: bundle.read(key) for key in bundle}
    ordered = sorted(tensors, key=lambda key: bundle._entry(key).offset)
    write_bundle(tmp_path / "copy", {key: tensors[key] for key in ordered})
    assert (tmp_path / "copy.index").read_bytes() == path.read_bytes()
    data = data_path(str(path.with_suffix("")), 0, 1)
    assert (tmp_path / "copy.data-00000-of-00001").read_bytes() == Path(data).read_bytes()


def test_views_share_the_file():
    bundle = open_bundle(BUNDLES / "types")
    first, second = bundle.read("int8"), bundle.read("int8")
    assert np.shares_memory(first, second)


def test_many_keys_fill_many_blocks(tmp_path):
    names = [f"layer{i:05d}/" + "x" * 200 for i in range(3000)]
    entries = [(name.encode(), name[::-1].encode() * 2) for name in names]
    content = sstable.build_table(entries)
    assert len(content) > 3 * sstable.BLOCK_SIZE
    assert list(sstable.read_table(content, "t").items()) == entries
    assert sstable.read_table(sstable.build_table([]), "t") == {}


def test_big_endian(tmp_path):
    header = proto.BundleHeaderProto(num_shards=1, endianness=1)
    tensors = {
        "a": np.float32([1, -2]),
        "c": np.complex64([1 + 2j]),
        "s": np.array([b"xy"], object),
    }
    parts = [tensors["a"].astype(">f4").tobytes(), tensors["c"].astype(">c8").tobytes()]
    index, (data,) = build_bundle(
        {"a": np.frombuffer(parts[0], "u1"), "c": np.frombuffer(parts[1], "u1")}
    )
    entries = sstable.read_table(index, "t")
    entries[b""] = header.SerializeToString()
    for key in "ac":
        entry = proto.BundleEntryProto.FromString(entries[key.encode()])
        entry.dtype = {"a": 1, "c": 8}[key]
        entry.shape.dim[0].size = len(tensors[key])
        entries[key.encode()] = entry.SerializeToString()
    write(tmp_path, entries, data)
    bundle = open_bundle(tmp_path / "b")
    for key in "ac":
        assert_same(bundle.read(key), tensors[key])


def write(tmp_path, entries, data):
    (tmp_path / "b.index").write_bytes(sstable.build_table(sorted(entries.items())))
    (tmp_path / "b.data-00000-of-00001").write_bytes(data)


def test_missing_files(tmp_path):
    with pytest.raises(
        NotFoundError, match=r"none.index' does not exist; the folder holds no check"
    ):
        open_bundle(tmp_path / "none")
    with pytest.raises(NotFoundError, match="the folder holds sliced, types"):
        open_bundle(BUNDLES / "none")
    (tmp_path / "b.index").write_bytes((BUNDLES / "types.index").read_bytes())
    bundle = open_bundle(tmp_path / "b")
    with pytest.raises(
        NotFoundError, match=r"data-00000-of-00001', which holds tensor 'int8', does"
    ):
        bundle.read("int8")


def test_missing_tensor():
    bundle = open_bundle(BUNDLES / "types")
    assert "" not in bundle
    with pytest.raises(
        NotFoundError, match=r"Key nox not found in checkpoint '.*'; its 19 are: bfloat16, bool, "
    ):
        bundle.read("nox")


def test_every_cut_and_every_flipped_bit_of_an_index_is_found(tmp_path):
    content = (BUNDLES / "sliced.index").read_bytes()
    padding = range(len(content) - sstable.FOOTER_SIZE, len(content) - 8)
    for size in range(0, len(content), 7):
        (tmp_path / "b.index").write_bytes(content[:size])
        with pytest.raises(DataLossError, match=r"b.index'.* copy or save the checkpoint again"):
            open_bundle(tmp_path / "b")
    for i in range(len(content)):
        damaged = bytearray(content)
        damaged[i] ^= 1 << i % 8
        (tmp_path / "b.index").write_bytes(damaged)
        if i in padding:
            continue
        with pytest.raises((DataLossError, UnimplementedError)):
            open_bundle(tmp_path / "b")


def test_every_cut_and_flipped_byte_of_the_data_is_found(tmp_path):
    data = (BUNDLES / "types.data-00000-of-00001").read_bytes()
    (tmp_path / "b.index").write_bytes((BUNDLES / "types.index").read_bytes())
    path = tmp_path / "b.data-00000-of-00001"
    for i in range(0, len(data), 5):
        path.write_bytes(data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :])
        with pytest.raises(DataLossError, match=r"checksum|bytes for|without end"):
            read_all(tmp_path / "b")
        path.write_bytes(data[:i])
        with pytest.raises(DataLossError, match="must lie in"):
            read_all(tmp_path / "b")


def read_all(prefix):
    bundle = open_bundle(prefix)
    return [bundle.read(key) for key in bundle]


def hostile(tmp_path, change, value=None, name=b"a"):
    """Reads a checkpoint of a tensor "a" whose index entry was changed before its sealing."""
    index, (data,) = build_bundle({"a": np.zeros((2, 3), np.float32) if value is None else value})
    entries = sstable.read_table(index, "t")
    kind = proto.BundleEntryProto if name else proto.BundleHeaderProto
    message = kind.FromString(entries[name])
    change(message)
    entries[name] = message.SerializeToString()
    write(tmp_path, entries, data)
    return open_bundle(tmp_path / "b").read("a")


def extents(message, *slices):
    del message.slices[:]
    for one in slices:
        added = message.slices.add()
        for start, length in one:
            added.extent.add(start=start, length=length)


ENTRIES = {
    "offset": (lambda m: setattr(m, "offset", 1), r"must lie in \[0, 24\).*got \[1, 25\)"),
    "negative offset": (
        lambda m: setattr(m, "offset", -1),
        r"must lie in \[0, 24\).*got \[-1, 23\)",
    ),
    "huge offset": (lambda m: setattr(m, "offset", 2**62), r"must lie in \[0, 24\)"),
    "negative size": (lambda m: setattr(m, "size", -4), r"must lie in"),
    "size": (lambda m: setattr(m, "size", 20), r"has 20 bytes for shape \(2, 3\) of float32"),
    "shape": (lambda m: setattr(m.shape.dim[0], "size", 2**40), r"has 24 bytes for shape"),
    "negative shape": (
        lambda m: setattr(m.shape.dim[0], "size", -2),
        r"known shape, got \(-2, 3\)",
    ),
    "unknown shape": (lambda m: setattr(m.shape, "unknown_rank", True), r"must have a known shape"),
    "shard": (lambda m: setattr(m, "shard_id", 1), r"must lie in one of 1 data files, got 1"),
    "negative shard": (lambda m: setattr(m, "shard_id", -1), r"data files, got -1"),
    "type": (lambda m: setattr(m, "dtype", 99), r"has an unknown type \(.*got 99\)"),
    "string": (lambda m: setattr(m, "dtype", 7), r"string lengths with a wrong checksum"),
    "rank": (lambda m: m.shape.dim.extend([m.shape.dim[0]] * 300), r"must have a known shape"),
    "slice without data": (lambda m: extents(m, [(0, 2), (0, 3)]), r"has no data for slice 0"),
    "slice beyond": (lambda m: extents(m, [(0, 3), (0, 3)]), r"beyond shape \(2, 3\)"),
    "slice of rank 1": (
        lambda m: extents(m, [(0, 2)]),
        r"slice of 1 dimensions for shape \(2, 3\)",
    ),
    "gap": (lambda m: extents(m, [(0, 1), (0, 3)]), r"slices that do not fill its shape \(2, 3\)"),
    "overlap": (
        lambda m: extents(m, [(0, 1), (0, 3)], [(0, 1), (0, 3)]),
        r"has a slice 1 that overlaps another one",
    ),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_hostile_entry(case, tmp_path):
    change, words = ENTRIES[case]
    with pytest.raises(DataLossError, match=rf"b.index': tensor 'a' .*{words}"):
        hostile(tmp_path, change)


def test_resources_are_not_values(tmp_path):
    with pytest.raises(UnimplementedError, match="tensor 'a' is a resource or variant"):
        hostile(tmp_path, lambda m: setattr(m, "dtype", 20))


def test_hostile_string_count(tmp_path):
    with pytest.raises(DataLossError, match="bytes for 4294967296 strings"):
        hostile(
            tmp_path, lambda m: setattr(m.shape.dim[0], "size", 2**32), np.array([b"x"], object)
        )


def test_slices_that_share_bytes(tmp_path):
    """Entries of one tensor that all point at the same data do not become a huge tensor."""
    index, (data,) = build_bundle({"a": np.zeros(1024, np.float32)})
    entries = sstable.read_table(index, "t")
    entry = proto.BundleEntryProto.FromString(entries[b"a"])
    whole = proto.BundleEntryProto(dtype=1)
    whole.shape.dim.add(size=1024 * 50)
    extents(whole, *([(1024 * i, 1024)] for i in range(50)))
    for one in whole.slices:
        entries[slice_key("a", one)] = entry.SerializeToString()
    entries[b"a"] = whole.SerializeToString()
    write(tmp_path, entries, data)
    with pytest.raises(DataLossError, match="slices of 204800 bytes in data files of 4096"):
        open_bundle(tmp_path / "b").read("a")


def test_header(tmp_path):
    with pytest.raises(DataLossError, match="must lie in one of 0 data files"):
        hostile(tmp_path, lambda m: setattr(m, "num_shards", 0), name=b"")
    (tmp_path / "b.index").write_bytes(sstable.build_table([(b"a", b"")]))
    with pytest.raises(DataLossError, match="tensor '' must be the first key, and is missing"):
        open_bundle(tmp_path / "b")
    (tmp_path / "b.index").write_bytes(sstable.build_table([(b"", b"\xff")]))
    with pytest.raises(DataLossError, match="1 bytes that are not a BundleHeaderProto"):
        open_bundle(tmp_path / "b")


def test_hostile_tables(monkeypatch):
    monkeypatch.setattr(sstable, "RESTART_INTERVAL", 1 << 20)
    long = [(b"k" * 20000 + bytes([i // 256, i % 256]), b"") for i in range(4000)]
    with pytest.raises(DataLossError, match="keys of over 100 times its own size"):
        sstable.read_table(sstable.build_table(long), "t")
    with pytest.raises(DataLossError, match="keys that are not in order"):
        sstable.read_table(sstable.build_table([(b"b", b""), (b"a", b"")]), "t")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "80"),
        (63, "bf"),
        (64, "c040"),
        (-1, "7f"),
        (-64, "40"),
        (-65, "3fbf"),
        (8191, "dfff"),
        (8192, "e02000"),
        (2**62, "ffc04000000000000000"),
    ],
)
def test_ordered_numbers(number, expected):
    extent = proto.TensorSliceProto.Extent(start=number)
    key = slice_key("", proto.TensorSliceProto(extent=[extent]))
    assert key.hex() == "00" + "0001" + "0101" + expected + "7f"
