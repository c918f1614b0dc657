"""``python -m skde``."""

import sys

from skde.cli.main import main

sys.exit(main())
