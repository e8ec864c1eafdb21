"""The derivatives of TensorFlow's ops by family; see registry.py for what a row is.

They lie beside ops/ rather than in it: a program that does not train never loads them.
"""
