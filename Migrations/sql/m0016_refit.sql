-- Time maps that were computed anew from the evidence (`eegsync refit`), and what they were before: nothing is lost silently.

CREATE TABLE refit (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- when
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- of the program
    version TEXT NOT NULL CHECK (version <> ''),
    -- how many arrivals the new map rests on
    evidence_count INTEGER NOT NULL CHECK (evidence_count >= 0),
    -- by how much times moved, forth or back: at most, and in the mean
    shift_max_ns REAL NOT NULL CHECK (shift_max_ns >= 0),
    shift_mean_ns REAL NOT NULL CHECK (shift_mean_ns >= 0)
) STRICT;

CREATE INDEX refit_by_stream ON refit (stream_id, id);

-- The segments that a refit has replaced, as they were.
CREATE TABLE replaced_segment (
    refit_id INTEGER NOT NULL REFERENCES refit (id),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    reference_n INTEGER NOT NULL,
    reference_boottime_ns INTEGER NOT NULL,
    period_ns REAL NOT NULL,
    residual_ns REAL,
    observation_count INTEGER NOT NULL,
    uncertainty_ns REAL,
    PRIMARY KEY (refit_id, first_n)
) STRICT, WITHOUT ROWID;
