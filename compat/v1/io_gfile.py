"""The names of `tf.io.gfile`."""

from ...facade import facade

HOMES = {
    "schema.gfile": "GFile",
    "schema.gfile_v2": (
        "copy exists glob isdir join listdir makedirs mkdir remove rename rmtree stat walk"
    ),
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
