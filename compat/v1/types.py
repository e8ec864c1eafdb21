"""`tf.types`: the types that annotations name."""

from ...facade import facade

__all__, __getattr__, __dir__ = facade(
    __name__, {}, modules={"experimental": "compat.v1.types_experimental"}
)
