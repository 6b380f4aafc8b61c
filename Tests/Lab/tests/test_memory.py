"""What a ring memory holds."""

from headsets.buffered_messages import GapReason
from headsets.memory import RingMemory


def _begun(capacity: int = 10) -> RingMemory:
    memory = RingMemory(capacity)
    memory.begin(0)
    return memory


def test_an_empty_memory_has_no_oldest_sample() -> None:
    assert RingMemory(10).oldest(0) == 0


def test_the_newest_sample_takes_the_place_of_the_oldest() -> None:
    memory = _begun()
    assert memory.settle(10) == 0
    assert memory.settle(13) == 3
    assert memory.oldest(13) == 3
    assert memory.content(0, 13) == (3, GapReason.OVERWRITTEN)
    assert memory.content(3, 13) == (13, None)


def test_what_was_acknowledged_is_not_lost_when_it_is_overwritten() -> None:
    memory = _begun()
    memory.acknowledge(8)
    assert memory.settle(20) == 2
    assert memory.lost == 2


def test_an_older_acknowledgement_changes_nothing() -> None:
    memory = _begun()
    memory.acknowledge(5)
    memory.acknowledge(2)
    assert memory.oldest(8) == 5


def test_a_pause_is_told_as_not_sampled() -> None:
    memory = _begun(100)
    memory.stop(10)
    memory.begin(30)
    assert memory.content(5, 40) == (10, None)
    assert memory.content(10, 40) == (30, GapReason.NOT_SAMPLED)
    assert memory.content(30, 40) == (40, None)


def test_a_pause_is_not_counted_as_lost() -> None:
    memory = _begun()
    memory.stop(5)
    memory.begin(50)
    assert memory.settle(60) == 5


def test_all_was_acknowledged() -> None:
    memory = _begun()
    memory.acknowledge(7)
    assert memory.oldest(7) == 7
