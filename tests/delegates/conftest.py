"""A tiny delegate in numpy, the one of examples/delegate.py, that claims what a test says."""

import runpy
from pathlib import Path

import pytest

import flatlite

EXAMPLE = Path(flatlite.__file__).parent / "examples" / "delegate.py"
NumpyDelegate = runpy.run_path(str(EXAMPLE))["NumpyDelegate"]


class Chosen(NumpyDelegate):
    """Claims the operators whose first output's name is in `names`."""

    def __init__(self, names, **options):
        super().__init__(**options)
        self.names = set(names)

    def reason_against(self, op):
        return super().reason_against(op) if op.name in self.names else "it was not chosen"


@pytest.fixture
def chosen():
    """The class Chosen."""
    return Chosen
