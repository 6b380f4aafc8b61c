-- Adapters that a person has switched off, so that the kernel's route with power_on leaves them off after a restart of eegsync or of
-- the machine. An adapter that is seen on again is taken out.

CREATE TABLE switched_off_adapter (
    -- the adapter's own, as written
    address TEXT NOT NULL PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
