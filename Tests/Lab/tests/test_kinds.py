"""A kind of headset is its file: nothing else lists it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from headsets import explore, kinds
from headsets.description import HeadsetDescription, make_firmware
from headsets.firmware import Firmware
from headsets.journal import Journal
from lab.scenario import lab_headset, room

# As a contributor drops it into the folder.
_NEW = '''"""Firmware of a headset that nobody has."""

from __future__ import annotations

from .explore import KINDS as _EXPLORE
from .kind import Kind, Specimen

_SPECIMEN = Specimen("Planted-1", "C0:00:00:00:99:01", 99, scenario="planted")
KINDS = (Kind("planted", "planted", _EXPLORE[0].make, 99, (_SPECIMEN,)),)
'''


@pytest.mark.parametrize("kind", sorted(kinds.kinds()))
def test_each_kind_makes_its_firmware(kind: str, tmp_path: Path) -> None:
    description = HeadsetDescription("Test", kind, "C0:00:00:00:00:01", 1, serial="S-1")
    assert isinstance(make_firmware(description, Journal(tmp_path / "journal")), Firmware)


def test_a_file_in_the_folder_is_found_and_has_its_headset() -> None:
    file = Path(kinds.__file__).with_name("planted.py")
    file.write_text(_NEW, encoding="utf-8")
    try:
        kinds.kinds.cache_clear()
        importlib.invalidate_caches()
        assert kinds.kind_named("planted").number == 99
        assert lab_headset("planted").address == "C0:00:00:00:99:01"
        assert [headset.alias for headset in room("planted")] == ["left"]
    finally:
        file.unlink()
        kinds.kinds.cache_clear()


def test_two_kinds_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "KINDS", explore.KINDS * 2)
    kinds.kinds.cache_clear()
    with pytest.raises(ValueError, match="one name"):
        kinds.kinds()


def test_an_unknown_kind_is_named_with_those_that_there_are() -> None:
    kinds.kinds.cache_clear()
    with pytest.raises(ValueError, match="no such kind: unknown; there are athena"):
        kinds.kind_named("unknown")
