"""`python -m flatlite.engine.build`: builds kernel modules (driver.py, `main`)."""

from .driver import main

if __name__ == "__main__":
    raise SystemExit(main())
