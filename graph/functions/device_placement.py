"""The switch that TensorFlow has for logging where operations run."""

from __future__ import annotations

_is_logged: list[bool] = [False]


def get_log_device_placement() -> bool:
    """What `set_log_device_placement` was given last."""
    return _is_logged[0]


def set_log_device_placement(enabled: bool) -> None:
    """Notes whether placements are to be logged; graphs run on one device, so nothing is."""
    _is_logged[0] = bool(enabled)
