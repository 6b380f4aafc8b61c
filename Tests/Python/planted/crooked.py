"""A planted defect: Tests/Python/check must notice that this is not laid out as the formatter does."""

LENGTHS = [ 1,2,
    3 ]
