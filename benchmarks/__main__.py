"""Measure every figure that the README states: `make bench`."""

import sys

from benchmarks.show_main import main

sys.exit(main())
