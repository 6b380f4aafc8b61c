-- Blocks are samples alone. That somebody else holds a whole recording, with its marks and times and all else that goes when it is
-- deleted, is noted as a digest of it: whoever deletes it computes that again.

CREATE TABLE whole_confirmation (
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- who has it, such as the address of a server
    destination TEXT NOT NULL CHECK (destination <> ''),
    -- the sum of the SHA-256 of its rows, as they are there; of a recording that has changed since it is another one
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (recording_id, destination)
) STRICT, WITHOUT ROWID;
