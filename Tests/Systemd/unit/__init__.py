"""eegsync's unit under a real systemd, as process 1 of a machine that can lose its power."""
