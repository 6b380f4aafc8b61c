"""The checks of a runner: each is said when it is done, and the runner ends with what all came to."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

passed: list[str] = []
failed: list[str] = []


def check(name: str, test: Callable[[], object]) -> None:
    """Performs a check; whatever it raises is its failure, and the next one is performed all the same."""
    began = time.monotonic()
    try:
        test()
    except Exception:  # noqa: BLE001 - whatever went wrong is a failure of this check alone
        failed.append(name)
        print(f"failed: {name}\n{traceback.format_exc()}", flush=True)
    else:
        passed.append(name)
        print(f"passed: {name} ({time.monotonic() - began:.1f} s)", flush=True)


def notices(test: Callable[[], object], *errors: type[Exception]) -> None:
    """A check must fail over a planted defect, by an assertion or by one of these errors."""
    expected: tuple[type[Exception], ...] = (AssertionError, *errors)
    try:
        test()
    except expected:
        return
    raise RuntimeError("a planted defect was not noticed")


def conclude() -> int:
    """Names what has failed, prints the closing line, and returns the exit code. Without any check it has not passed."""
    for name in failed:
        print(f"failed: {name}")
    print(f"{len(passed)} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0
