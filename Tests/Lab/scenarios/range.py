"""Out of range, and back."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import RARE_STRANGER, SLOW, Scenario, Step, through


def _paged(lab: Lab, seconds: float, fault: str) -> None:
    """A headset that is paged answers once it has noticed itself that its old link is gone."""
    lost = lab.tell("vanish", "left")
    lab.pass_time(seconds)
    lab.expect_return("left", lab.tell("return", "left"), fault, Goal.GATE, lost, advertising=True)


def away(seconds: float, times: int, is_paged: bool = False) -> Step:
    """Out of range for so long, so many times."""
    fault = f"away {seconds:.0f} s" if seconds < 3600 else f"away {seconds / 3600:.0f} h"
    if is_paged:
        return through(partial(_paged, seconds=seconds, fault=fault), times)
    return through(partial(Lab.away, name="left", seconds=seconds, fault=fault), times)


def _at_layer_change(lab: Lab) -> None:
    """Back while the cached address is given up: 2 to 3 s until the old link is closed, and 4 s after that."""
    for _ in range(20):
        lab.undisturbed(2)
        lab.away("left", lab.random.uniform(5.95, 7.0), "back at a change of the layer")


# A return takes less than this; how far apart the ends are. In seconds.
_RETURN_SECONDS = 0.5
_STEP_SECONDS = 0.02


def _lost_in_every_phase(lab: Lab) -> None:
    """The link ends at one instant after another of a return: in turn by the headset's will, and because it is gone again."""
    for place in range(int(_RETURN_SECONDS / _STEP_SECONDS)):
        lab.tell("vanish", "left")
        lab.pass_time(5)
        lab.tell("return", "left")
        lab.pass_time((place + lab.random.random()) * _STEP_SECONDS)
        if place % 2 == 0:
            since = lab.tell("disconnect", "left")
        else:
            lab.tell("vanish", "left")
            lab.pass_time(4)
            since = lab.tell("return", "left")
        lab.expect_return("left", since, "link lost in every phase of a return", Goal.GATE)


SCENARIOS = [
    Scenario(1, "away-phases", "link lost in every phase of a return", [through(_lost_in_every_phase)]),
    Scenario(1, "away-5s", "out of range for 5 s", [away(5, times=4)]),
    Scenario(1, "away-layer-change", "back while one layer ends and the next begins", [through(_at_layer_change)]),
    Scenario(1, "away-60s", "out of range for 60 s", [away(60, times=2)]),
    Scenario(
        1, "away-1h", "out of range for 1 h", [away(3600, times=1)], headsets=(SLOW, RARE_STRANGER), time_error_seconds=0.15
    ),
]
