# What editors and type checkers see of this module; tests/write_stubs.py writes it.
<<<<<<< HEAD
"""The names of `tf.python_io`."""

from ...schema.record_options import TFRecordCompressionType as TFRecordCompressionType
from ...schema.record_options import TFRecordOptions as TFRecordOptions
from ...schema.record_options import TFRecordWriter as TFRecordWriter
from ...schema.record_options import tf_record_iterator as tf_record_iterator
=======
"""`tf.python_io`: files of records."""

from ...training.tf_record import TFRecordCompressionType as TFRecordCompressionType
from ...training.tf_record import TFRecordOptions as TFRecordOptions
from ...training.tf_record import TFRecordWriter as TFRecordWriter
from ...training.tf_record import tf_record_iterator as tf_record_iterator
>>>>>>> main
