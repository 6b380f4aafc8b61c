-- Pauses: while one lasts, nothing is recorded, whatever is wanted and whatever restarts. Recordings stay open.

CREATE TABLE pause (
    id INTEGER PRIMARY KEY,
    began_host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    began_boottime_ns INTEGER NOT NULL,
    -- NULL while it lasts
    ended_host_boot_id INTEGER REFERENCES host_boot (id),
    ended_boottime_ns INTEGER,
    CHECK ((ended_host_boot_id IS NULL) = (ended_boottime_ns IS NULL))
) STRICT;

CREATE UNIQUE INDEX pause_that_lasts ON pause (ended_host_boot_id IS NULL) WHERE ended_host_boot_id IS NULL;
