"""The page of the documentation that has the report's tables."""

from __future__ import annotations

from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parents[3] / "Sources/eegsync/eegsync.docc"
PAGE = DOCUMENTATION / "Lab.md"


def replaced(page: str, tables: dict[str, str]) -> str:
    """The page with new tables, each between `<!-- NAME table begin -->` and its end; others stay as they are.

    Raises ValueError where the page has no place for a table.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name} table begin -->", f"<!-- {name} table end -->"
        before, found, rest = page.partition(begin + "\n")
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise ValueError(f"the page has no lines {begin} and {end}")
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


def write(tables: dict[str, str]) -> None:
    """Puts the tables into the page."""
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
