# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.strings`."""

from ...graph.functions.strings import join as join
from ...graph.functions.strings import length as length
from ...graph.functions.strings import lower as lower
from ...graph.functions.strings import regex_full_match as regex_full_match
from ...graph.functions.strings import regex_replace as regex_replace
from ...graph.functions.strings import string_to_hash_bucket_strong as to_hash_bucket_strong
from ...graph.functions.strings import strip as strip
from ...graph.functions.strings import substr as substr
from ...graph.functions.strings import to_number as to_number
from ...graph.functions.strings import upper as upper
