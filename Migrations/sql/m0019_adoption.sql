-- Addresses of headsets that prove nothing about themselves: who was heard, and who decided.

-- One of a headset's model at an address at which the headset was never reached.
CREATE TABLE candidate (
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('classic', 'public', 'random')),
    -- the local name that it advertised
    name TEXT,
    -- dBm
    rssi INTEGER,
    -- when it was heard last
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (headset_id, address, address_type)
) STRICT, WITHOUT ROWID;

-- Changes of a headset's address that nothing proves. One that was taken by itself is provisional until a person confirms it.
CREATE TABLE adoption (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    recording_id INTEGER REFERENCES recording (id),
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('classic', 'public', 'random')),
    replaced_address TEXT,
    replaced_address_type TEXT CHECK (replaced_address_type IN ('classic', 'public', 'random')),
    -- operator: a person said so; automatic: it was the only one in sight; withdrawn: the headset is where it was before
    decision TEXT NOT NULL CHECK (decision IN ('operator', 'automatic', 'withdrawn')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX adoption_by_headset ON adoption (headset_id, id);
