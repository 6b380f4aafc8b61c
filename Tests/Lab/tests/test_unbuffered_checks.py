"""The checks for headsets without memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from checks.database import Epoch, StoredStream
from checks.inspection import inspect
from checks.placement import place_by_values
from checks.samples import SampleReport, check_values
from headsets.clock import SamplingClock
from headsets.thinkgear import samples
from headsets.truth import TrueBoot, TrueStream, Truth
from headsets.waveform import Waveform
from lab.findings import Findings
from recorded_share import LOST, RETURNED, SCENARIO, RecordedShare

# The values of a Hermes are those of the signal itself, so the recording that was made for a headset with memory serves.
_PLAIN = dataclasses.replace(SCENARIO, headsets=[dataclasses.replace(h, kind="hermes") for h in SCENARIO.headsets])


@pytest.fixture
def share(tmp_path: Path) -> RecordedShare:
    share = RecordedShare(tmp_path)
    share.execute("UPDATE epoch SET boot_identifier = NULL")
    share.execute("DELETE FROM sample WHERE n BETWEEN ? AND ?", LOST, RETURNED - 1)
    share.execute("UPDATE gap SET recovered = 0")
    return share


def checked(share: RecordedShare) -> Findings:
    return inspect(_PLAIN, share.path, lambda: (0, ""))


def test_what_was_sent_while_away_may_be_missing(share: RecordedShare) -> None:
    findings = checked(share)
    assert findings.problems == []
    assert findings.missing == RETURNED - LOST


def test_what_was_heard_may_not_be_missing(share: RecordedShare) -> None:
    share.execute("DELETE FROM sample WHERE n BETWEEN 2000 AND 2099")
    share.execute(
        "INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)"
        " VALUES (1, 2000, 0, 100, 'packetLost', 0, 1, 0)"
    )
    assert any("although the headset was heard" in problem for problem in checked(share).problems)


def test_a_channel_that_is_shifted(share: RecordedShare) -> None:
    for n in range(2000, 2010):
        share.execute("UPDATE sample SET c1 = ? WHERE n = ?", share.values(n + 12)[0], n)
    assert any("row n 2000 is" in problem for problem in checked(share).problems)


def test_rows_that_the_headset_never_measured(share: RecordedShare) -> None:
    share.execute("UPDATE sample SET c1 = 1, c2 = 2 WHERE n = 0")
    assert any("which the headset never measured" in problem for problem in checked(share).problems)


def single_channel() -> tuple[StoredStream, Truth]:
    """Two boots of a headset with one channel, of which the second was stored from its position 100 on."""
    boots = []
    for number in range(2):
        stream = TrueStream(0, SamplingClock(0, 512.0), Waveform(7, number + 1, 0, 1), [(0, 2000)])
        boots.append(TrueBoot(number + 1, number, 0, [stream]))
    rows = samples(boots[1].streams[0].rows(100, 500))
    stored = StoredStream(1, 0, "eeg", 512.0, 1, epochs=[Epoch(None, 0, 0, None, 1, 0)], rows=dict(enumerate(rows)))
    return stored, Truth(boots)


def test_one_channel_is_placed_by_a_run_of_values() -> None:
    stored, truth = single_channel()
    placements, problems = place_by_values(stored, truth, "thinkgear")
    assert problems == [] and [(p.boot.number, p.offset) for p in placements] == [(1, 100)]


def test_one_channel_that_is_shifted() -> None:
    stored, truth = single_channel()
    for n in range(300, 500):
        stored.rows[n] = samples(truth.boots[1].streams[0].rows(101 + n, 1))[0]
    placements, _ = place_by_values(stored, truth, "thinkgear")
    report = SampleReport()
    check_values(stored, placements, report)
    assert any("row n 300 is" in problem for problem in report.problems)
