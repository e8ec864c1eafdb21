<<<<<<< HEAD
"""The names of `tf.python_io`."""

from ...facade import facade
from .homes import PYTHON_IO

__all__, __getattr__, __dir__ = facade(__name__, PYTHON_IO)
=======
"""`tf.python_io`: files of records."""

from ...facade import facade

HOMES = {
    "training.tf_record": (
        "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"
    )
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
>>>>>>> main
