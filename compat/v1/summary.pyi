# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.summary`."""

from ...graph.functions.summaries import all_v2_summary_ops as all_v2_summary_ops
from ...graph.functions.summaries import audio as audio
from ...graph.functions.summaries import get_summary_description as get_summary_description
from ...graph.functions.summaries import histogram as histogram
from ...graph.functions.summaries import image as image
from ...graph.functions.summaries import merge as merge
from ...graph.functions.summaries import merge_all as merge_all
from ...graph.functions.summaries import scalar as scalar
from ...graph.functions.summaries import tensor_summary as tensor_summary
from ...graph.functions.summaries import text as text
from ...schema.proto import Event as Event
from ...schema.proto import SessionLog as SessionLog
from ...schema.proto import Summary as Summary
from ...schema.proto import SummaryDescription as SummaryDescription
from ...schema.proto import TaggedRunMetadata as TaggedRunMetadata
from ...training.summary_writer import FileWriter as FileWriter
from ...training.summary_writer import FileWriterCache as FileWriterCache
