"""Sets of integers as sorted, disjoint ranges from ... up to but not including ... ."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]


def of_numbers(ascending: Iterable[int]) -> list[Range]:
    """The ranges of ascending numbers."""
    ranges: list[Range] = []
    for number in ascending:
        if ranges and ranges[-1][1] == number:
            ranges[-1] = (ranges[-1][0], number + 1)
        else:
            ranges.append((number, number + 1))
    return ranges


def union(ranges: Iterable[Range]) -> list[Range]:
    """Overlapping and touching ranges become one."""
    joined: list[Range] = []
    for start, end in sorted(r for r in ranges if r[0] < r[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def without(ranges: Iterable[Range], removed: Iterable[Range]) -> list[Range]:
    """What is in the first and not in the second; both are sorted and disjoint."""
    holes = list(removed)
    left = []
    for start, end in ranges:
        reached = start
        for hole_start, hole_end in holes:
            if hole_end <= reached or hole_start >= end:
                continue
            if hole_start > reached:
                left.append((reached, hole_start))
            reached = max(reached, hole_end)
        if reached < end:
            left.append((reached, end))
    return left


def clipped(ranges: Iterable[Range], start: int, end: int) -> list[Range]:
    """What lies within bounds."""
    return [(max(a, start), min(b, end)) for a, b in ranges if max(a, start) < min(b, end)]


def size(ranges: Iterable[Range]) -> int:
    """How many numbers there are."""
    return sum(end - start for start, end in ranges)
