"""What judges a case of a test that has several: forgetful.py, faults.py and halves.py."""


class CaseError(Exception):
    """Something was not as it should be."""


def require(condition: object, words: str) -> None:
    if not condition:
        raise CaseError(words)
