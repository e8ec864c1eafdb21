# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.strings`."""

from ...graph.functions.math.special import as_string as as_string
from ...graph.functions.strings import bytes_split as bytes_split
from ...graph.functions.strings import format as format
from ...graph.functions.strings import join as join
from ...graph.functions.strings import lower as lower
from ...graph.functions.strings import reduce_join as reduce_join
from ...graph.functions.strings import regex_full_match as regex_full_match
from ...graph.functions.strings import regex_replace as regex_replace
from ...graph.functions.strings import split as split
from ...graph.functions.strings import string_length as length
from ...graph.functions.strings import string_to_hash_bucket as to_hash_bucket
from ...graph.functions.strings import string_to_hash_bucket_fast as to_hash_bucket_fast
from ...graph.functions.strings import string_to_hash_bucket_strong as to_hash_bucket_strong
from ...graph.functions.strings import strip as strip
from ...graph.functions.strings import substr as substr
from ...graph.functions.strings import to_number as to_number
from ...graph.functions.strings import unicode_transcode as unicode_transcode
from ...graph.functions.strings import upper as upper
from ...graph.functions.unicode import ngrams as ngrams
from ...graph.functions.unicode import unicode_decode as unicode_decode
from ...graph.functions.unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from ...graph.functions.unicode import unicode_encode as unicode_encode
from ...graph.functions.unicode import unicode_script as unicode_script
from ...graph.functions.unicode import unicode_split as unicode_split
from ...graph.functions.unicode import unicode_split_with_offsets as unicode_split_with_offsets
from ...graph.functions.unicode import unsorted_segment_join as unsorted_segment_join
