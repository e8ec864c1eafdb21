# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.queue`."""

from ...graph.functions.resources.queues import FIFOQueue as FIFOQueue
from ...graph.functions.resources.queues import PaddingFIFOQueue as PaddingFIFOQueue
from ...graph.functions.resources.queues import PriorityQueue as PriorityQueue
from ...graph.functions.resources.queues import QueueBase as QueueBase
from ...graph.functions.resources.queues import RandomShuffleQueue as RandomShuffleQueue
