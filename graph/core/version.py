"""The versions that programs ask for: of TensorFlow as it is followed here, and of its graphs."""

from __future__ import annotations

import platform

VERSION = "2.21.0"
"""Of the TensorFlow whose functions and files these are."""
GIT_VERSION = "flatlite"
COMPILER_VERSION = platform.python_compiler()
GRAPH_DEF_VERSION = 2474
"""Of the graphs that are written."""
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
"""The oldest reader that can read them."""
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
"""The oldest writer whose graphs are read."""
