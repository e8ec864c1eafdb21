"""How TensorFlow's ops become rows of the engine's programs; see registry.py."""

FAMILIES: tuple[str, ...] = ()
"""The modules that hold rows; all are imported when a Session first compiles."""
