"""The messages: TensorFlow's field numbers, checked on bytes and texts TensorFlow wrote."""

import subprocess
import sys
from pathlib import Path

import pytest

from flatlite.schema import proto

CORPUS = Path(__file__).parents[1] / "corpus"
SAVED_MODELS = sorted(CORPUS.glob("[CD]/*/saved_model/saved_model.pb"))


def unknown_fields(message, path="") -> list[str]:
    """The fields of a message and those in it that its .proto file does not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    paths = [f"{path}.{field.field_number}" for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            values = (
                value.values() if field.message_type.fields_by_name["value"].message_type else ()
            )
        else:
            values = value if field.is_repeated else [value]
        for item in values:
            paths += unknown_fields(item, f"{path}.{field.name}")
    return paths


def test_corpus_is_here():
    assert len(SAVED_MODELS) >= 4


@pytest.mark.parametrize("path", SAVED_MODELS, ids=lambda path: path.parts[-3])
def test_every_field_of_a_saved_model_is_known(path):
    content = path.read_bytes()
    saved = proto.parse("SavedModel", content)
    assert unknown_fields(saved) == []
    assert saved.saved_model_schema_version == 1
    meta = saved.meta_graphs[0]
    assert meta.meta_info_def.tags == ["serve"]
    assert "serving_default" in meta.signature_def
    assert len(meta.graph_def.node) > 2
    again = proto.parse("SavedModel", saved.SerializeToString())
    assert again == saved


def test_binary_and_text_of_a_graph():
    folder = CORPUS / "C/tf1_checkpoint_sharded"
    frozen = proto.parse("GraphDef", (folder / "frozen.pb").read_bytes())
    assert unknown_fields(frozen) == []
    whole = proto.parse_text("GraphDef", (folder / "graph.pbtxt").read_bytes())
    assert {"x", "net/probs"} <= {node.name for node in whole.node}
    kernel = next(node for node in whole.node if node.name == "net/conv1/kernel")
    assert [dim.size for dim in kernel.attr["shape"].shape.dim] == [3, 3, 2, 8]
    assert kernel.attr["dtype"].type == proto.enum("DataType")["DT_FLOAT"]


def test_meta_graph_and_state_file():
    folder = CORPUS / "C/tf1_checkpoint_unsharded/ckpt"
    meta = proto.parse("MetaGraphDef", (folder / "model.ckpt-14.meta").read_bytes())
    assert unknown_fields(meta) == []
    assert meta.saver_def.restore_op_name == "save/restore_all"
    assert meta.saver_def.version == proto.SaverDef.V2
    state = proto.parse_text("CheckpointState", (folder / "checkpoint").read_bytes())
    assert state.model_checkpoint_path == "model.ckpt-14"
    assert list(state.all_model_checkpoint_paths) == ["model.ckpt-7", "model.ckpt-14"]


def fill_features(features):
    features.feature["i"].int64_list.value.extend([1, 10])
    features.feature["f"].float_list.value.append(1.5)
    features.feature["b"].bytes_list.value.append(b"xy")


# What TensorFlow's own classes, filled with the same values, gave.
FEATURES = "0a290a0b0a016212060a040a0278790a0d0a0166120812060a040000c03f0a0b0a016912061a040a02010a"
FEATURE_LISTS = "12170a150a016c12100a0e1a0c0a0affffffffffffffffff01"
EVENT = """
09000000000000294010072ab7010a0b0a046c6f7373150000003f0a560a01682a5109000000000000f0bf11000000000000
004019000000000000084021000000000000f83f290000000000001440321000000000000000000000000000000840
3a10000000000000f03f00000000000000400a1e0a0174420a080112002a040000803f4a0d0a090a077363616c617273
20010a100a0169220b0801100218032203706e670a1e0a016132190d0000fa451001180222037761762a09617564696f2f
776176
"""


def test_examples():
    example, sequence = proto.Example(), proto.SequenceExample()
    fill_features(example.features)
    fill_features(sequence.context)
    steps = sequence.feature_lists.feature_list["l"]
    steps.feature.add().int64_list.value.append(-1)
    assert example.SerializeToString(deterministic=True).hex() == FEATURES
    assert sequence.SerializeToString(deterministic=True).hex() == FEATURES + FEATURE_LISTS


def test_event():
    event = proto.Event(wall_time=12.5, step=7)
    event.summary.value.add(tag="loss", simple_value=0.5)
    event.summary.value.add(tag="h").histo.CopyFrom(
        proto.HistogramProto(
            min=-1, max=2, num=3, sum=1.5, sum_squares=5, bucket_limit=[0, 3], bucket=[1, 2]
        )
    )
    value = event.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name = "scalars"
    value.metadata.data_class = proto.enum("DataClass")["DATA_CLASS_SCALAR"]
    value.tensor.dtype = proto.enum("DataType")["DT_FLOAT"]
    value.tensor.tensor_shape.SetInParent()
    value.tensor.float_val.append(1)
    image = event.summary.value.add(tag="i").image
    image.height, image.width, image.colorspace = 1, 2, 3
    image.encoded_image_string = b"png"
    audio = event.summary.value.add(tag="a").audio
    audio.sample_rate, audio.num_channels, audio.length_frames = 8000, 1, 2
    audio.encoded_audio_string, audio.content_type = b"wav", "audio/wav"
    assert event.SerializeToString(deterministic=True) == bytes.fromhex(EVENT)


def test_no_clash_with_messages_of_the_same_name():
    from google.protobuf import descriptor_pool

    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tensorflow.GraphDef")
    assert proto.GraphDef.DESCRIPTOR.file.pool is proto.pool()


def test_nested_messages_and_unknown_names():
    assert proto.message("TensorShapeProto.Dim")(size=3).size == 3
    with pytest.raises(AttributeError, match="no message 'GraphDeff'"):
        _ = proto.GraphDeff
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = proto.__wrapped__


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xff", "2 bytes that are not a GraphDef"),
        (b"\x0a\x7f", "2 bytes that are not a GraphDef"),
    ],
)
def test_damaged_bytes(content, words):
    with pytest.raises(ValueError, match=words):
        proto.parse("GraphDef", content)


def test_nesting_is_limited():
    def nested(depth):
        content = b""
        for _ in range(depth):
            size = len(content)
            content = b"\x12" + bytes([size & 0x7F | 0x80, size >> 7]) + content
        return content

    assert proto.parse("FullTypeDef", nested(90)).args[0].args
    with pytest.raises(ValueError, match="not a FullTypeDef"):
        proto.parse("FullTypeDef", nested(101))


@pytest.mark.parametrize("text", [b"node { nme: 'x' }", b"\xff\xfe", b"node {"])
def test_damaged_text(text):
    with pytest.raises(ValueError, match="text that is not a GraphDef"):
        proto.parse_text("GraphDef", text)


def test_protobuf_is_imported_on_use():
    code = "import sys, flatlite.schema.proto; sys.exit('google.protobuf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_descriptor_set_is_what_the_proto_files_give():
    pytest.importorskip(
        "grpc_tools", reason="grpcio-tools, of the dev extra, compiles .proto files"
    )
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    from flatlite.schema.proto import generate

    def rewritten(content):
        files = FileDescriptorSet.FromString(content).file
        return {file.name: file for file in files if file.package == proto.PACKAGE}

    recorded = generate.HERE.joinpath(proto.DESCRIPTORS).read_bytes()
    assert rewritten(recorded) == rewritten(generate.compile_protos())
