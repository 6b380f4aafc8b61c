-- Captures of what goes over the air to and from one headset. A command asks for one and writes its file; the acquisition,
-- which has the radio, leaves the records here for it. The command removes them; they are no part of what was recorded.

CREATE TABLE capture (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- what the operator wants; the acquisition follows
    desired_state TEXT NOT NULL CHECK (desired_state IN ('capturing', 'stopped')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns INTEGER NOT NULL,
    -- ends at the latest then; the command moves it on while it runs, so that a capture does not outlive it for long
    end_boottime_ns INTEGER NOT NULL,
    -- 1 once the acquisition has written everything
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

CREATE TABLE capture_chunk (
    id INTEGER PRIMARY KEY,
    capture_id INTEGER NOT NULL REFERENCES capture (id) ON DELETE CASCADE,
    packet_count INTEGER NOT NULL,
    -- records of a btsnoop file, whole
    records BLOB NOT NULL
) STRICT;

CREATE INDEX capture_chunk_by_capture ON capture_chunk (capture_id, id);
