-- Recordings can be deleted. What is left of one says that it was, so that nobody takes it for lost: neither its key nor those of
-- its streams are used again. What another machine has confirmed to hold stands beside the streams.

CREATE TABLE deletion (
    id INTEGER PRIMARY KEY,
    -- the key that the recording had
    recording_id INTEGER NOT NULL UNIQUE,
    -- delete: a person deleted it; prune: by a rule; forget: a participant was erased, of whom nothing more is said
    means TEXT NOT NULL CHECK (means IN ('delete', 'prune', 'forget')),
    -- the user of this machine
    requested_by TEXT NOT NULL CHECK (requested_by <> ''),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- whose it was, how many rows it had, and its first and last sample as the clocks were known then; NULL where that is erased
    -- or was not known
    headset_id INTEGER REFERENCES headset (id),
    row_count INTEGER,
    start_unix_ns INTEGER,
    end_unix_ns INTEGER,
    -- 1 once nothing of it is left: it goes in many small transactions
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

CREATE TABLE deleted_stream (
    -- the key that the stream had
    stream_id INTEGER PRIMARY KEY,
    deletion_id INTEGER NOT NULL REFERENCES deletion (id),
    -- by which manifests, witnesses and other databases know it
    uuid TEXT
) STRICT;

CREATE INDEX deleted_stream_by_uuid ON deleted_stream (uuid);

-- How far somebody else has the blocks of a stream.
CREATE TABLE confirmation (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    chain TEXT NOT NULL CHECK (chain IN ('live', 'late')),
    -- who has them, such as the address of a server
    destination TEXT NOT NULL CHECK (destination <> ''),
    -- the last block of the chain that is there, and how many of its rows: the last block grows
    number INTEGER NOT NULL CHECK (number >= 0),
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (stream_id, chain, destination)
) STRICT, WITHOUT ROWID;
