-- Recordings that end by themselves, and recordings that begin by themselves.

-- When an open recording is to end. A person who stops it before is obeyed, and the row means nothing then.
CREATE TABLE recording_end (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- by the clock of that boot, which nobody sets; in another boot, UTC decides
    boottime_ns INTEGER NOT NULL
) STRICT;

-- Starts at a time of the day. The recording ends after its duration, by recording_end.
CREATE TABLE schedule (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- by the wall clock of time_zone
    minute_of_day INTEGER NOT NULL CHECK (minute_of_day BETWEEN 0 AND 1439),
    -- bit 0 is Monday, bit 6 is Sunday
    days INTEGER NOT NULL CHECK (days BETWEEN 1 AND 127),
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds >= 1),
    -- such as Europe/Berlin
    time_zone TEXT NOT NULL,
    -- what the recordings are called; NULL for nothing
    label TEXT,
    -- UTC in seconds since 1970; starts up to then are none of it
    created_unix INTEGER NOT NULL
) STRICT;

-- What became of each start. Written in the transaction that begins its recording: of each it is decided once, whatever the clock
-- is set to.
CREATE TABLE schedule_start (
    -- in the order in which it was decided
    id INTEGER PRIMARY KEY,
    schedule_id INTEGER NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
    -- UTC in seconds since 1970
    due_unix INTEGER NOT NULL,
    -- a recording began, in time or late; the headset was being recorded already; all of its time had passed
    decision TEXT NOT NULL CHECK (decision IN ('started', 'wasRecording', 'missed')),
    -- the recording that began
    recording_id INTEGER REFERENCES recording (id),
    UNIQUE (schedule_id, due_unix)
) STRICT;
