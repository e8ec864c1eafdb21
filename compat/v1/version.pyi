# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.version`: the versions of TensorFlow and its graphs that are followed here."""

from ...graph.core.version import COMPILER_VERSION as COMPILER_VERSION
from ...graph.core.version import GIT_VERSION as GIT_VERSION
from ...graph.core.version import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from ...graph.core.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from ...graph.core.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from ...graph.core.version import VERSION as VERSION
