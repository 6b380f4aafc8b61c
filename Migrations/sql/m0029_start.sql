-- Starts of the daemon that have not proven themselves yet: one that has run for a minute, or was ended in order, removes all
-- rows. So a row that a new process finds is an early death of one before it, and their number says how long to wait.
CREATE TABLE early_start (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

-- Copies of this database that were made before a newer version changed its schema.
CREATE TABLE schema_snapshot (
    -- the name of the file, in the directory of the database
    file TEXT PRIMARY KEY NOT NULL,
    -- processes from this one on have run with the new schema; what they have lived says when the copy is needed no more
    first_process_id INTEGER NOT NULL
) STRICT;
