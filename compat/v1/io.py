"""The names of `tf.io`."""

from ...facade import facade

HOMES = {
    "graph.functions.io.decoding": (
        "decode_compressed decode_csv decode_json_example decode_proto decode_raw "
        "deserialize_many_sparse encode_proto parse_tensor serialize_many_sparse "
        "serialize_sparse serialize_tensor"
    ),
    "graph.functions.io.features": (
        "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"
    ),
    "graph.functions.io.files": "match_filenames_once matching_files read_file write_file",
    "graph.functions.io.parsing": (
        "parse_example parse_sequence_example parse_single_example parse_single_sequence_example"
    ),
    "graph.functions.image.files": (
        "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png "
        "encode_jpeg encode_png extract_jpeg_shape is_jpeg"
    ),
    "graph.functions.resources.queues": (
        "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"
    ),
    "graph.functions.strings": "decode_base64 encode_base64",
    "training.tf_record": (
        "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"
    ),
    "training.export.write_graph": "write_graph",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, modules={"gfile": "compat.v1.io_gfile"})
