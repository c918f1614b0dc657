"""``python -m skde``."""

import sys

from skde.cli import main

sys.exit(main())
