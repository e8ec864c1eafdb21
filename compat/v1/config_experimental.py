"""`tf.config.experimental`: devices and their memory."""

from ...facade import facade

HOMES = {
    "graph.session.devices": (
        "get_memory_growth get_visible_devices list_logical_devices list_physical_devices "
        "set_memory_growth set_visible_devices"
    )
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
