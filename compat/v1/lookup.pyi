# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.lookup`."""

from ...compat.v1 import lookup_experimental as experimental
from ...graph.functions.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from ...graph.functions.lookup import StaticHashTable as StaticHashTable
from ...graph.functions.lookup import StaticVocabularyTable as StaticVocabularyTable
from ...graph.functions.lookup import TextFileIndex as TextFileIndex
from ...graph.functions.lookup import TextFileInitializer as TextFileInitializer
