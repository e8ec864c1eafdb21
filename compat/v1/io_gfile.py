"""The names of `tf.io.gfile`."""

from ...facade import facade

HOMES = {
    "schema.tensorflow.gfile": "GFile",
    "schema.tensorflow.gfile_v2": (
        "copy exists glob isdir join listdir makedirs mkdir remove rename rmtree stat walk"
    ),
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
