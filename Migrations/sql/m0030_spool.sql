-- Batches that are not in a transaction yet stand in a spool, a file that outlives the process. This says where, and which of
-- them are committed: what is written with a batch is written in its transaction.

CREATE TABLE spool (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    path TEXT NOT NULL,
    -- of the process that fills it; the file begins with it
    token TEXT NOT NULL,
    -- the boot that instants of its batches belong to
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- of the last batch that is committed
    number INTEGER NOT NULL
) STRICT;
