"""Models for TensorFlow Lite Micro: C++ sources and the size of the arena."""

from .facade import facade

HOMES = {
    "tools.micro.arena": "Arena arena_of",
    "tools.micro.sources": "c_array op_resolver sources",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
