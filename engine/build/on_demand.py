"""Code of kernels, compiled where it is missing; the compiler is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .image import Image


def ensure(requests: Sequence[str]) -> None:
    """Makes the code for `requests` (image.py) available. Raises what `driver.ensure` does."""
    if image.missing(requests):
        from . import driver

        driver.ensure(requests)


def loaded(module: str) -> Image:
    """The image of a whole kernel module, built now when there is none."""
    code = image.complete(module)
    if code is None:
        ensure([module])
        code = image.complete(module)
        assert code is not None  # `ensure` has built it
    return code
