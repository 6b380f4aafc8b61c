"""What the files in the directory that EEGSYNC_EXPORT_FIXTURES names must hold.

`swift test --filter ReaderFixtureTests` writes both.
"""

import json
import os
import pathlib
from typing import Any

DIRECTORY = pathlib.Path(os.environ["EEGSYNC_EXPORT_FIXTURES"])
# What one file holds, as ReaderFixtureTests writes it.
Expectation = dict[str, Any]
EXPECTATIONS: list[Expectation] = json.loads((DIRECTORY / "expectations.json").read_text())
assert len(EXPECTATIONS) > 12


def path(expectation: Expectation) -> str:
    return str(DIRECTORY / expectation["file"])
