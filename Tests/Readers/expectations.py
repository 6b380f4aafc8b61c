"""What the files in the directory that EEGSYNC_EXPORT_FIXTURES names must hold; `swift test --filter ReaderFixtureTests` writes both."""

import json
import os
import pathlib

DIRECTORY = pathlib.Path(os.environ["EEGSYNC_EXPORT_FIXTURES"])
EXPECTATIONS = json.loads((DIRECTORY / "expectations.json").read_text())
assert len(EXPECTATIONS) > 12


def path(expectation):
    return str(DIRECTORY / expectation["file"])
