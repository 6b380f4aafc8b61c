-- What machines, headsets, recordings, annotations and links are called in databases of many machines: a UUID (RFC 9562,
-- version 4), made once. Streams have theirs since m0023. Who inserts a row may give it one; where nobody does, a trigger makes
-- it.

ALTER TABLE headset ADD COLUMN uuid TEXT;
ALTER TABLE recording ADD COLUMN uuid TEXT;
ALTER TABLE annotation ADD COLUMN uuid TEXT;
ALTER TABLE link ADD COLUMN uuid TEXT;

UPDATE headset SET uuid = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));

CREATE TRIGGER headset_is_identified AFTER INSERT ON headset WHEN NEW.uuid IS NULL BEGIN
    UPDATE headset SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

UPDATE recording SET uuid = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));

CREATE TRIGGER recording_is_identified AFTER INSERT ON recording WHEN NEW.uuid IS NULL BEGIN
    UPDATE recording SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

UPDATE annotation SET uuid = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));

CREATE TRIGGER annotation_is_identified AFTER INSERT ON annotation WHEN NEW.uuid IS NULL BEGIN
    UPDATE annotation SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

UPDATE link SET uuid = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));

CREATE TRIGGER link_is_identified AFTER INSERT ON link WHEN NEW.uuid IS NULL BEGIN
    UPDATE link SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

CREATE UNIQUE INDEX headset_by_uuid ON headset (uuid);
CREATE UNIQUE INDEX recording_by_uuid ON recording (uuid);

-- The machines that have acquired into this database, in the order in which they came: a card that was moved or copied to
-- another machine is found by a further row.
CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
    -- digests (128 bits, hexadecimal) of the board's serial number and of /etc/machine-id; NULL where there is none. A copied
    -- card has the machine-id of the first one, so the board counts where it has a number
    board TEXT,
    installation TEXT,
    -- created: the database, or its account of machines, began here; moved, copied: a person has said that it came so; NULL: it
    -- came from another machine, and nobody has said how
    origin TEXT CHECK (origin IN ('created', 'moved', 'copied')),
    -- when it was seen first
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    CHECK (board IS NOT NULL OR installation IS NOT NULL)
) STRICT;

-- Whose boot it was. Boots without a row were before machines were noted, and of the first machine.
CREATE TABLE machine_boot (
    host_boot_id INTEGER PRIMARY KEY REFERENCES host_boot (id),
    machine_id INTEGER NOT NULL REFERENCES machine (id)
) STRICT;
