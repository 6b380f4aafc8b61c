"""The package installs with pip, and says what it needs."""

import ast
import pathlib
import re
import shutil
import subprocess
import sys

from databases import DEMO, PACKAGE, TOP

READ = """
import sys, eegsync
assert "pandas" not in sys.modules and "mne" not in sys.modules
samples = eegsync.read(eegsync.recording(sys.argv[1]), stop=100)
print(eegsync.__file__, samples.values.shape)
"""


def test_pip_installs_it(tmp_path: pathlib.Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(PACKAGE, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--target", target, source], check=True)
    assert (target / "eegsync/py.typed").is_file()
    said = subprocess.run(
        [sys.executable, "-c", READ, DEMO],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(target)},
    )
    assert said.stdout == f"{target}/eegsync/__init__.py (100, 8)\n"


def test_its_version_is_the_programs() -> None:
    program = re.search(r'static let number = "(.*)"', (TOP / "Sources/eegsync/Eegsync.swift").read_text())
    package = re.search(r'^version = "(.*)"', (PACKAGE / "pyproject.toml").read_text(), re.MULTILINE)
    assert program is not None and package is not None and program[1] == package[1]


def too_long(text: str) -> list[str]:
    """What is longer than Tests/TidyTests allows for Swift."""
    functions = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
    found = [each.name for each in functions if (each.end_lineno or 0) - each.lineno + 1 > 70]
    return [*found, "the file"] if len(text.splitlines()) > 400 else found


def test_no_function_is_too_long_and_no_file() -> None:
    for path in [*PACKAGE.rglob("*.py"), *(TOP / "Tests/PythonPackage").glob("*.py")]:
        assert too_long(path.read_text()) == [], path
    assert too_long("def f():\n" + "    pass\n" * 70) == ["f"]
    assert too_long("a = 1\n" * 401) == ["the file"]
