# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.data`."""

from ...compat.v1 import data_experimental as experimental
from ...training.data.base import AUTOTUNE as AUTOTUNE
from ...training.data.base import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from ...training.data.base import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from ...training.data.dataset import Dataset as Dataset
from ...training.data.iterators import Iterator as Iterator
from ...training.data.iterators import get_output_classes as get_output_classes
from ...training.data.iterators import get_output_shapes as get_output_shapes
from ...training.data.iterators import get_output_types as get_output_types
from ...training.data.iterators import make_initializable_iterator as make_initializable_iterator
from ...training.data.iterators import make_one_shot_iterator as make_one_shot_iterator
from ...training.data.options import Options as Options
from ...training.data.options import ThreadingOptions as ThreadingOptions
from ...training.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from ...training.data.readers import TFRecordDataset as TFRecordDataset
from ...training.data.readers import TextLineDataset as TextLineDataset
from ...training.data.structures import DatasetSpec as DatasetSpec
