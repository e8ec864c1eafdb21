"""`tf.config`: devices and threads."""

from ...facade import facade

HOMES = {
    "graph.session.devices": (
        "LogicalDevice PhysicalDevice get_soft_device_placement get_visible_devices "
        "list_logical_devices list_physical_devices set_soft_device_placement "
        "set_visible_devices"
    )
}
MODULES = {
    "experimental": "compat.v1.config_experimental",
    "threading": "compat.v1.config_threading",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, modules=MODULES)
