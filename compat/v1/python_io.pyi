# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.python_io`: files of records."""

from ...training.tf_record import TFRecordCompressionType as TFRecordCompressionType
from ...training.tf_record import TFRecordOptions as TFRecordOptions
from ...training.tf_record import TFRecordWriter as TFRecordWriter
from ...training.tf_record import tf_record_iterator as tf_record_iterator
