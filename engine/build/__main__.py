"""`python -m flatlite.engine.build`: builds kernel modules (driver.py, `main`)."""

from .driver import main

raise SystemExit(main())
