# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.io`."""

from ...compat.v1 import io_gfile as gfile
from ...graph.functions.io.decoding import decode_compressed as decode_compressed
from ...graph.functions.io.decoding import decode_csv as decode_csv
from ...graph.functions.io.decoding import decode_json_example as decode_json_example
from ...graph.functions.io.decoding import decode_raw as decode_raw
from ...graph.functions.io.decoding import deserialize_many_sparse as deserialize_many_sparse
from ...graph.functions.io.decoding import parse_tensor as parse_tensor
from ...graph.functions.io.decoding import serialize_many_sparse as serialize_many_sparse
from ...graph.functions.io.decoding import serialize_sparse as serialize_sparse
from ...graph.functions.io.decoding import serialize_tensor as serialize_tensor
from ...graph.functions.io.features import FixedLenFeature as FixedLenFeature
from ...graph.functions.io.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from ...graph.functions.io.features import RaggedFeature as RaggedFeature
from ...graph.functions.io.features import SparseFeature as SparseFeature
from ...graph.functions.io.features import VarLenFeature as VarLenFeature
from ...graph.functions.io.files import match_filenames_once as match_filenames_once
from ...graph.functions.io.files import matching_files as matching_files
from ...graph.functions.io.files import read_file as read_file
from ...graph.functions.io.files import write_file as write_file
from ...graph.functions.io.parsing import parse_example as parse_example
from ...graph.functions.io.parsing import parse_sequence_example as parse_sequence_example
from ...graph.functions.io.parsing import parse_single_example as parse_single_example
from ...graph.functions.io.parsing import parse_single_sequence_example as parse_single_sequence_example
from ...graph.functions.resources.queues import PaddingFIFOQueue as PaddingFIFOQueue
from ...graph.functions.resources.queues import PriorityQueue as PriorityQueue
from ...graph.functions.resources.queues import QueueBase as QueueBase
from ...graph.functions.resources.queues import RandomShuffleQueue as RandomShuffleQueue
from ...graph.functions.strings import decode_base64 as decode_base64
from ...graph.functions.strings import encode_base64 as encode_base64
from ...training.export.write_graph import write_graph as write_graph
from ...training.tf_record import TFRecordCompressionType as TFRecordCompressionType
from ...training.tf_record import TFRecordOptions as TFRecordOptions
from ...training.tf_record import TFRecordWriter as TFRecordWriter
from ...training.tf_record import tf_record_iterator as tf_record_iterator
