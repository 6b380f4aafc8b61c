-- Impedances of electrodes as the headset says them, and wishes to have them measured. A command asks; the acquisition, which
-- has the radio, has the headset measure, and stores what it says.

INSERT INTO gap_cause (cause, meaning) VALUES
    ('impedance', 'the headset measured the impedance of its electrodes instead');

CREATE TABLE impedance_measurement (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- what the operator wants; the acquisition follows
    desired_state TEXT NOT NULL CHECK (desired_state IN ('measuring', 'stopped')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns INTEGER NOT NULL,
    -- ends at the latest then; the command moves it on while it runs, so that no measurement outlives it for long
    end_boottime_ns INTEGER NOT NULL,
    -- 1 once the headset samples again, or was told to
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

-- Written in the transaction of samples, so nothing here refuses a surprising value.
CREATE TABLE impedance (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- the channel's name, or another one of the headset's profile, such as reference
    electrode TEXT NOT NULL,
    -- as the headset says it
    kilohms REAL NOT NULL
) STRICT;

CREATE INDEX impedance_by_recording ON impedance (recording_id, id);

-- The same with times.
CREATE VIEW impedance_time AS
SELECT i.recording_id AS recording_id, k.offset_ns + i.boottime_ns AS unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + i.boottime_ns) / 1e9, 'unixepoch') AS time,
    i.electrode AS electrode, i.kilohms AS kilohms
FROM impedance AS i JOIN host_boot_clock AS k ON k.host_boot_id = i.host_boot_id;
