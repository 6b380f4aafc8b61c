"""Each check notices the defect that it is for, and nothing in a perfect recording."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.inspection import inspect
from lab.findings import Findings
from lab.marks import Goal, Mark
from recorded_share import COUNT, LOST, RETURNED, SCENARIO, SECOND, RecordedShare


@pytest.fixture
def share(tmp_path: Path) -> RecordedShare:
    return RecordedShare(tmp_path)


def checked(share: RecordedShare, audit: Callable[[], tuple[int, str]] = lambda: (0, "")) -> Findings:
    return inspect(SCENARIO, share.path, audit)


def notices(findings: Findings, text: str) -> bool:
    return any(text in problem for problem in findings.problems)


def test_a_perfect_recording_has_no_finding(share: RecordedShare) -> None:
    findings = checked(share)
    assert findings.problems == []
    assert (findings.rows, findings.gaps, findings.recovered, findings.missing) == (COUNT, 1, RETURNED - LOST, 0)


def test_latency_and_noticed_loss_are_measured(share: RecordedShare) -> None:
    findings = checked(share)
    assert [mark.latency for mark in findings.marks] == [0.25]
    assert findings.losses_noticed == [0.5]


def test_a_missed_goal_fails_where_the_scenario_demands_it(share: RecordedShare) -> None:
    demanding = dataclasses.replace(SCENARIO, must_meet_goals=True)
    found = inspect(demanding, share.path, lambda: (0, ""))
    assert found.problems == []
    Mark("left", "slow", Goal.WARM, available=0, first_sample=300_000_000).append_to(share.path / "marks.jsonl")
    assert not notices(checked(share), "the goal is")
    found = inspect(demanding, share.path, lambda: (0, ""))
    assert notices(found, "slow: p50 0.300 s, p95 0.300 s of 1 returns; the goal is p50 ≤ 0.25 s, p95 ≤ 0.5 s")


def test_a_row_that_is_missing_without_a_trace(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n = 2000")
    assert notices(checked(share), "1 samples are neither stored nor ledgered, the first at n (2000, 2001)")


def test_the_last_rows_missing_without_a_trace(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n >= 2900")
    assert notices(checked(share), "neither stored nor ledgered")


def test_samples_given_up_that_the_headset_still_had(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n BETWEEN 1100 AND 1199")
    share.execute("UPDATE gap SET recovered = recovered - 100")
    assert notices(checked(share), "100 samples of boot 0 are missing")


def test_samples_that_the_headset_overwrote_may_be_missing(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n BETWEEN 1000 AND 1099")
    share.execute("UPDATE gap SET recovered = recovered - 100")
    share.journal(RETURNED, "overrun", stream=0, lost=100)
    assert checked(share).problems == []


def test_samples_that_a_restart_of_the_headset_took_may_be_missing_but_no_earlier_ones(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n BETWEEN 1000 AND 1499")
    share.execute("UPDATE gap SET recovered = 0, cause = 'headsetRestarted'")
    share.execute("DELETE FROM sample WHERE n >= 1500")
    share.execute("UPDATE recording SET stop_requested_boottime_ns = ?", share.time(RETURNED))
    share.journal(RETURNED - 1, "poweredOff")
    assert checked(share).problems == []
    share.execute("DELETE FROM sample WHERE n BETWEEN 500 AND 509")
    share.execute(
        "INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)"
        " VALUES (1, 500, 0, 10, 'packetLost', 0, 1, 0)"
    )
    assert notices(checked(share), "10 samples of boot 0 are missing")


def test_a_wrong_value(share: RecordedShare) -> None:
    share.execute("UPDATE sample SET c2 = c2 + 1 WHERE n = 1234")
    assert notices(checked(share), "row n 1234 is")


def test_rows_shifted_by_one(share: RecordedShare) -> None:
    share.execute("UPDATE epoch SET first_index = 1")
    assert notices(checked(share), "row n 0 is")


def test_rows_of_the_stranger(share: RecordedShare) -> None:
    for n in range(2000, 2010):
        share.execute("UPDATE sample SET c1 = ?, c2 = ? WHERE n = ?", *share.values(n, seed=666), n)
    assert notices(checked(share), "row n 2000 is")


def test_the_stranger_as_the_headset(share: RecordedShare) -> None:
    share.execute("UPDATE headset SET serial_number = 'LAB-0666'")
    assert notices(checked(share), "was recorded from the headset LAB-0666")


def test_a_boot_that_never_was(share: RecordedShare) -> None:
    share.execute("UPDATE epoch SET boot_identifier = 99")
    assert notices(checked(share), "which never was")


def test_a_headset_that_never_ran(share: RecordedShare) -> None:
    (share.path / "journals" / "BEEG-0001.jsonl").write_text('{"time": 0, "event": "machineBooted", "shift": 0}\n')
    assert notices(checked(share), "which never was")


def test_a_sample_that_was_never_taken(share: RecordedShare) -> None:
    share.execute("INSERT INTO sample (stream_id, n, c1, c2) VALUES (1, ?, ?, ?)", COUNT, *share.values(COUNT))
    assert notices(checked(share), "were never sampled")


def test_a_wrong_time(share: RecordedShare) -> None:
    share.execute("UPDATE segment SET reference_boottime_ns = reference_boottime_ns + ?", SECOND // 5)
    assert notices(checked(share), "time is wrong by 0.200 s")


def test_a_value_missing_without_a_trace(share: RecordedShare) -> None:
    share.execute("UPDATE sample SET c2 = NULL WHERE n = 77")
    assert notices(checked(share), "channel 2 lacks n (77, 78)")
    share.execute(
        "INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)"
        " VALUES (1, 77, 2, 1, 'packetLost', 0, 1, 0)"
    )
    assert not notices(checked(share), "channel 2")


def test_a_return_that_took_too_long_or_never_came(share: RecordedShare) -> None:
    share.mark(Mark("left", "slow", Goal.RADIO, 0, 10 * SECOND))
    share.mark(Mark("left", "never", Goal.RADIO, 0, None))
    findings = checked(share)
    assert notices(findings, "left returned after 10.0 s (slow)")
    assert notices(findings, "left never returned after: never")


def test_an_audit_that_does_not_hold(share: RecordedShare) -> None:
    assert notices(checked(share, lambda: (65, "off by 1")), "eegsync audit: exit 65: off by 1")


def test_a_headset_that_was_never_recorded(share: RecordedShare) -> None:
    share.execute("UPDATE headset SET name = 'other'")
    findings = checked(share)
    assert notices(findings, "is of other, which nobody configured")
    assert notices(findings, "left was never recorded")
