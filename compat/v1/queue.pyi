# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.queue`."""

from ...graph.functions.queues import FIFOQueue as FIFOQueue
from ...graph.functions.queues import PaddingFIFOQueue as PaddingFIFOQueue
from ...graph.functions.queues import PriorityQueue as PriorityQueue
from ...graph.functions.queues import QueueBase as QueueBase
from ...graph.functions.queues import RandomShuffleQueue as RandomShuffleQueue
