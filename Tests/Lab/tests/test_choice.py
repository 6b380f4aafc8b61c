"""Which scenarios are performed."""

from __future__ import annotations

import pytest

from lab.choice import KERNEL, chosen, one_route, share
from scenarios import ALL


def test_two_seeds_in_a_row_perform_every_scenario_and_a_pair_once_each() -> None:
    everything = {scenario.name for scenario in chosen(ALL, [], with_long=False)}
    first, second = ({s.name for s in one_route(chosen(ALL, [], with_long=False), seed)} for seed in (7, 8))
    assert first | second == everything
    pairs = {name for name in everything if KERNEL + name in everything}
    assert len(pairs) > 50
    assert all((name in first) != (KERNEL + name in first) for name in pairs)
    assert first & second == everything - pairs - {KERNEL + name for name in pairs}


def test_four_seeds_in_a_row_perform_every_scenario_in_halves() -> None:
    everything = {scenario.name for scenario in chosen(ALL, [], with_long=False)}
    runs = [{s.name for s in share(one_route(chosen(ALL, [], with_long=False), seed), 2, seed)} for seed in (6, 7, 8, 9)]
    assert set().union(*runs) == everything
    assert all(len(run) < 0.4 * len(everything) for run in runs)


def test_scenarios_are_named_by_number_name_and_beginning() -> None:
    assert [s.name for s in chosen(ALL, ["away-5s"], with_long=False)] == ["away-5s"]
    assert len(chosen(ALL, ["away"], with_long=False)) > 3
    assert {s.number for s in chosen(ALL, ["30"], with_long=False)} == {30}
    with pytest.raises(LookupError, match="no scenario nowhere"):
        chosen(ALL, ["nowhere"], with_long=False)
