"""Puts the tables of cases on the path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), *(str(HERE / room) for room in ("programs", "expressions", "ops"))]
