"""The notebook runs, and its pictures show something."""

import base64
import io
import pathlib
from typing import Any

import matplotlib.image
import nbclient
import nbformat
import pytest

from databases import DAY, DEMO, PACKAGE

NOTEBOOK = PACKAGE / "notebooks/night.ipynb"


@pytest.mark.parametrize("database", [DEMO, DAY], ids=["demo", "day"])
def test_it_runs_and_draws_three_pictures(
    database: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("EEGSYNC_DATABASE", str(database))
    # What the kernel keeps, it keeps here.
    for variable in ("IPYTHONDIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(notebook, timeout=300).execute()
    outputs: list[Any] = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 3
    for picture in pictures:
        pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(picture)))
        assert pixels.shape[0] > 300 and pixels.std() > 0.05


def test_it_is_kept_without_what_a_run_leaves() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None
