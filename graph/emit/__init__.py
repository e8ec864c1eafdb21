"""How TensorFlow's ops become instructions of the engine's programs; see registry.py."""

FAMILIES = (
    *("array", "elementwise", "formulas", "nn", "normalization", "optimizers", "places"),
    *("products", "reduce", "rows", "update"),
)
"""The modules that hold rows; all are imported when a Session first compiles."""
