"""`python -m lab.versions RESULTS`: the table of the page Versions, from what Tests/Lab/versions has performed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lab.page import DOCUMENTATION, replaced
from lab.results import Result, Versions, read_results

PAGE = DOCUMENTATION / "Versions.md"
# More of a problem's text is in the output of the run.
_PROBLEM_CHARACTERS = 160


def newest(results: Sequence[Result]) -> dict[tuple[Versions, str], Result]:
    """Of each scenario with each version the last result."""
    return {(result.versions, result.scenario): result for result in results}


def table(results: Sequence[Result]) -> str:
    """Markdown: a row for each scenario, a column for each version; below it, what failed."""
    found = newest(results)
    columns = sorted({result.versions for result in results}, key=_order)
    titles = {result.scenario: result.title for result in results}
    heads = [f"{versions.bluez}, Linux {versions.kernel}" for versions in columns]
    lines = ["| scenario | " + " | ".join(heads) + " |", "|---|" + "---|" * len(columns)]
    for scenario, title in titles.items():
        cells = [_cell(found.get((versions, scenario))) for versions in columns]
        lines.append(f"| `{scenario}`: {title} | " + " | ".join(cells) + " |")
    problems = [
        f"- {result.versions.bluez}, Linux {result.versions.kernel}, `{result.scenario}`: {_shortened(result.problems[0])}"
        for result in found.values()
        if result.problems
    ]
    days = sorted({result.day for result in found.values()})
    period = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return "\n".join([*lines, "", f"Performed {period}.", *(["", "What failed:", "", *problems] if problems else [])])


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    known = [seconds for seconds in result.seconds if seconds is not None]
    figures = f"{median(known):.2f} s, {max(known):.2f} s ({len(known)})" if known else ""
    if result.problems:
        return f"**failed** {figures}".strip()
    return figures or "passed"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PROBLEM_CHARACTERS else line[: _PROBLEM_CHARACTERS - 3] + "..."


def _order(versions: Versions) -> tuple[list[int], list[int]]:
    return _numbers(versions.kernel), _numbers(versions.bluez)


def _numbers(version: str) -> list[int]:
    """Of the program's own version, without Debian's: 5.9 is older than 5.66."""
    return [int(part) for part in version.partition("-")[0].split(".") if part.isdigit()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Lab/versions")
    parser.add_argument("results", type=Path, help="what Tests/Lab/run --results wrote")
    parser.add_argument("--write", action="store_true", help="put the table into the page Versions of the documentation")
    arguments = parser.parse_args()
    results = read_results(arguments.results)
    if not results:
        sys.exit(f"{arguments.results} has no results")
    print(table(results))
    if arguments.write:
        page = replaced(PAGE.read_text(encoding="utf-8"), {"versions": table(results)})
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
