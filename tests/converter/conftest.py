"""All that these tests write is run in LiteRT."""

import pytest


@pytest.fixture(autouse=True)
def files_run_in_litert(runs_in_litert):
    """Whatever a test converts."""
