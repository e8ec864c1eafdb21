from inspect import signature as pysignature

__all__ = ["pysignature"]
