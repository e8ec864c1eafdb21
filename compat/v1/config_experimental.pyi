# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.config.experimental`: devices and their memory."""

from ...graph.session.devices import get_memory_growth as get_memory_growth
from ...graph.session.devices import get_visible_devices as get_visible_devices
from ...graph.session.devices import list_logical_devices as list_logical_devices
from ...graph.session.devices import list_physical_devices as list_physical_devices
from ...graph.session.devices import set_memory_growth as set_memory_growth
from ...graph.session.devices import set_visible_devices as set_visible_devices
