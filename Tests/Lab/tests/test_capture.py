"""The comparison of a replayed capture with its recording notices what it must."""

from __future__ import annotations

from scenarios.capture import is_contained

_WHOLE: list[tuple[int | None, ...]] = [(n, n * 7, n * 11, n * 13) for n in range(1000)]


def test_a_part_is_found() -> None:
    assert is_contained(_WHOLE[300:500], _WHOLE)
    assert is_contained([(None, None, 299 * 11, None), *_WHOLE[300:500]], _WHOLE)


def test_the_check_bites() -> None:
    part = _WHOLE[300:500]
    changed = [*part[:50], (1, 2, 3, 4), *part[51:]]
    assert not is_contained(changed, _WHOLE)
    assert not is_contained([*part[:50], *part[51:]], _WHOLE)
    assert not is_contained([(5, None, None, None), *part], _WHOLE)
    assert not is_contained([], _WHOLE)
    assert not is_contained([*_WHOLE[990:], (0, 0, 0, 0)], _WHOLE)
