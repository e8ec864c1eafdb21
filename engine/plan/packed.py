"""Packed constants: what the constant instructions of a serialized program have made, once for all.

The programs of one plan in a process share their packed constants. With a cache entry, all
processes do: the first one stores them beside the plan, and each maps that file after its digest
was checked. Mapped constants lie in the system's page cache, in one copy and in small pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, ref

import numpy as np

if TYPE_CHECKING:
    from ..run.disk_cache import CacheEntry


class PackedConstants:
    """The packed constants of one plan.

    Args:
        entry: that of the plan, where they are shared among processes.
    """

    def __init__(self, entry: CacheEntry | None = None):
        self._entry = entry
        self._region: ref[np.ndarray] | None = None

    def find(self, n_bytes: int) -> np.ndarray | None:
        """The constants, as bytes that nobody may write to; None when they are to be made."""
        region = None if self._region is None else self._region()
        if region is None and self._entry is not None:
            region = self._entry.mapped(n_bytes)
            if region is not None:
                self._region = ref(region)
        return region

    def keep(self, region: np.ndarray) -> np.ndarray:
        """Stores constants that were just made; what to use instead of them, as bytes."""
        if self._entry is not None and self._entry.store_mapped(region):
            mapped = self._entry.mapped(region.nbytes)
            region = region if mapped is None else mapped
        self._region = ref(region)
        return region


_IN_PROCESS: WeakValueDictionary[tuple[str, bool], PackedConstants] = WeakValueDictionary()


def packed_constants(entry: CacheEntry, shared: bool) -> PackedConstants:
    """Those of the plan with this entry; all its programs in this process get the same object."""
    key = entry.key, shared
    packed = _IN_PROCESS.get(key)
    if packed is None:
        # Two threads may be here at once; both get the object of the first.
        packed = _IN_PROCESS.setdefault(key, PackedConstants(entry if shared else None))
    return packed
