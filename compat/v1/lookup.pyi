# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.lookup`."""

from ...compat.v1 import lookup_experimental as experimental
from ...graph.functions.resources.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from ...graph.functions.resources.lookup import StaticHashTable as StaticHashTable
from ...graph.functions.resources.lookup import StaticVocabularyTable as StaticVocabularyTable
from ...graph.functions.resources.lookup import TextFileIndex as TextFileIndex
from ...graph.functions.resources.lookup import TextFileInitializer as TextFileInitializer
