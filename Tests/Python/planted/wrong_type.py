"""A planted defect: Tests/Python/check must notice that a text is no number."""


def seconds(milliseconds: int) -> float:
    return milliseconds / 1000


print(seconds("250"))
