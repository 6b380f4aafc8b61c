"""A planted defect: Tests/Python/check must notice that lists of unequal lengths would be called equal."""


def agree(stored: list[int], sampled: list[int]) -> bool:
    return all(a == b for a, b in zip(stored, sampled))


print(agree([], [1, 2, 3]))
