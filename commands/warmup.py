"""`flatlite warmup`."""

from __future__ import annotations

import argparse

from ..converter.api.progress import Progress
from ..tools.terminal import show_json

SUMMARY = "Compile all kernels for this machine now instead of when first needed."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """None but those of every command."""


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite warmup`."""
    from ..engine.build import cache, driver, image

    modules = cache.modules()
    missing = image.missing(modules)
    with Progress("compiling kernels", len(missing), quiet=arguments.json) as progress:
        driver.build_all(lambda done, total, remaining: progress.reach(done))
    if arguments.json:
        return show_json({"modules": modules, "compiled": missing})
    print(f"{len(modules)} kernel modules are ready, {len(missing)} of them compiled now")
    return None
