"""The picture of the schema is that of a real database."""

import pathlib
import sqlite3

import pytest

import schema_picture
from databases import DEMO, change, copy


def test_it_is_that_of_a_database() -> None:
    said = "run Tests/PythonPackage/schema_picture.py DATABASE --write"
    assert schema_picture.PICTURE.read_text() == schema_picture.picture(str(DEMO)), said


@pytest.mark.parametrize("statement", ["ALTER TABLE gap ADD COLUMN weather TEXT", "ALTER TABLE stream DROP COLUMN uuid"])
def test_another_column_is_noticed(tmp_path: pathlib.Path, statement: str) -> None:
    path = copy(DEMO, tmp_path)
    views = "SELECT name FROM sqlite_schema WHERE type = 'view'"
    change(path, *(f"DROP VIEW {name}" for name in names(path, views)), "DROP INDEX IF EXISTS stream_by_uuid", statement)
    assert schema_picture.PICTURE.read_text() != schema_picture.picture(str(path))


def names(path: pathlib.Path, sql: str) -> list[str]:
    with sqlite3.connect(path) as connection:
        found = [row[0] for row in connection.execute(sql)]
    connection.close()
    return found


def test_another_table_is_noticed(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    change(path, "CREATE TABLE weather (a)")
    with pytest.raises(SystemExit, match="weather"):
        schema_picture.picture(str(path))
