# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.config`: devices and threads."""

from ...compat.v1 import config_experimental as experimental
from ...compat.v1 import config_threading as threading
from ...graph.session.devices import LogicalDevice as LogicalDevice
from ...graph.session.devices import PhysicalDevice as PhysicalDevice
from ...graph.session.devices import get_soft_device_placement as get_soft_device_placement
from ...graph.session.devices import get_visible_devices as get_visible_devices
from ...graph.session.devices import list_logical_devices as list_logical_devices
from ...graph.session.devices import list_physical_devices as list_physical_devices
from ...graph.session.devices import set_soft_device_placement as set_soft_device_placement
from ...graph.session.devices import set_visible_devices as set_visible_devices
