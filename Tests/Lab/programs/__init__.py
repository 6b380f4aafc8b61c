"""Programs of others, from PyPI, that connect to `eegsync imitate` in the machine; each runs in an environment of its own."""
