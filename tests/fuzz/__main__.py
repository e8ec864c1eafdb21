"""python tests/fuzz [FUZZER ...] [SEED/NUMBER] [--seeds A..B] [--processes P]; `make fuzz`."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:1] = [str(TESTS / "support"), str(TESTS)]

from fuzz.campaign import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
