"""Makes the packages of the lab importable: `python -m pytest Tests/Lab/tests`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
