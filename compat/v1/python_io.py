"""`tf.python_io`: files of records."""

from ...facade import facade

HOMES = {
    "training.tf_record": (
        "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"
    )
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
