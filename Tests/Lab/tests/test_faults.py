"""What happens between a firmware and the air."""

from headsets.faults import NotificationFaults
from headsets.firmware import Notification

ONE, TWO = Notification("a", b"1"), Notification("b", b"2")


def test_without_a_fault_all_pass() -> None:
    assert NotificationFaults().pass_through([ONE, TWO]) == [(ONE, None), (TWO, None)]


def test_the_next_of_one_characteristic_are_lost() -> None:
    faults = NotificationFaults(lose={"a": 1})
    assert faults.pass_through([TWO, ONE, ONE]) == [(TWO, None), (ONE, "lost"), (ONE, None)]


def test_the_next_of_one_characteristic_come_twice() -> None:
    faults = NotificationFaults(duplicate={"b": 1})
    assert faults.pass_through([ONE, TWO, TWO]) == [(ONE, None), (TWO, None), (TWO, "duplicated"), (TWO, None)]


def test_a_stall_loses_nothing_and_keeps_the_order() -> None:
    faults = NotificationFaults(stalled=True)
    assert faults.pass_through([ONE, TWO, ONE]) == []
    assert faults.release(2) == [ONE, TWO]
    assert faults.pass_through([TWO]) == []
    assert faults.release(2) == [ONE, TWO]
    assert faults.pass_through([ONE]) == [(ONE, None)]
