-- What a recording was made with, what the headset said, and what people say of the recording.

-- Facts that many links share.
CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,
    -- a JSON object, its keys in order; what is not known is absent
    facts TEXT NOT NULL UNIQUE CHECK (json_valid(facts))
) STRICT;

-- A link to a headset that streamed, or on which it said something.
CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when it was there
    began_boottime_ns INTEGER NOT NULL,
    -- NULL while it is there, and where the process or the machine ended first
    ended_boottime_ns INTEGER,
    provenance_id INTEGER NOT NULL REFERENCES provenance (id),
    UNIQUE (headset_id, host_boot_id, began_boottime_ns)
) STRICT;

CREATE INDEX link_by_recording ON link (recording_id, host_boot_id, began_boottime_ns);

-- What a headset said on a link beside samples and statuses: counted, and sampled within a bound.
CREATE TABLE headset_message (
    link_id INTEGER NOT NULL REFERENCES link (id),
    number INTEGER NOT NULL CHECK (number >= 0),
    -- message: text for people; refused: a command that it refused; undecodable: bytes that are no valid message
    kind TEXT NOT NULL,
    -- NULL in the row that counts all further ones of its kind
    text TEXT,
    -- of what was undecodable: the first bytes of a notification that held some; NULL in the row of all further ones
    bytes BLOB,
    count INTEGER NOT NULL CHECK (count >= 1),
    -- how many bytes were undecodable, in all
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    first_boottime_ns INTEGER NOT NULL,
    last_boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (link_id, number)
) STRICT, WITHOUT ROWID;

-- What people say of a recording; a row where they say something.
CREATE TABLE recording_detail (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    session TEXT,
    run TEXT,
    operator TEXT,
    notes TEXT,
    -- of the tz database, such as Europe/Berlin
    time_zone TEXT,
    subject_name TEXT,
    -- BIDS's words: female, male, other
    subject_sex TEXT CHECK (subject_sex IN ('female', 'male', 'other')),
    -- a date as 1990-12-31
    subject_birthdate TEXT CHECK (subject_birthdate GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    -- BIDS's words: left, right, ambidextrous
    subject_handedness TEXT CHECK (subject_handedness IN ('left', 'right', 'ambidextrous'))
) STRICT;

-- Whatever else they say.
CREATE TABLE recording_property (
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    key TEXT NOT NULL CHECK (key <> ''),
    value TEXT NOT NULL,
    PRIMARY KEY (recording_id, key)
) STRICT, WITHOUT ROWID;

-- What they said before.
CREATE TABLE recording_edit (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- a column of recording or recording_detail, or property: and the key
    field TEXT NOT NULL,
    -- NULL where nothing was said
    before TEXT,
    after TEXT,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX recording_edit_by_recording ON recording_edit (recording_id, id);

CREATE VIEW link_provenance AS
SELECT l.id AS link, h.name AS headset, l.recording_id AS recording,
    strftime('%Y-%m-%dT%H:%M:%fZ', (l.began_boottime_ns + (SELECT offset_ns FROM clock_offset AS o
        WHERE o.host_boot_id = l.host_boot_id ORDER BY is_synchronised DESC, boottime_ns, id LIMIT 1)) / 1e9, 'unixepoch')
        AS began,
    strftime('%Y-%m-%dT%H:%M:%fZ', (l.ended_boottime_ns + (SELECT offset_ns FROM clock_offset AS o
        WHERE o.host_boot_id = l.host_boot_id ORDER BY is_synchronised DESC, boottime_ns, id LIMIT 1)) / 1e9, 'unixepoch')
        AS ended,
    p.facts ->> 'eegsync' AS eegsync, p.facts ->> 'kernel' AS kernel, p.facts ->> 'bluetoothd' AS bluetoothd,
    p.facts ->> 'route' AS route, p.facts ->> 'adapter' AS adapter,
    p.facts ->> 'model' AS model, p.facts ->> 'model_number' AS model_number,
    p.facts ->> 'firmware_revision' AS firmware_revision, p.facts ->> 'hardware_revision' AS hardware_revision,
    p.facts ->> 'software_revision' AS software_revision, p.facts ->> 'preset' AS preset, p.facts ->> 'settings' AS settings,
    p.facts ->> 'montage' AS montage, p.facts ->> 'reference' AS reference, p.facts ->> 'ground' AS ground
FROM link AS l JOIN headset AS h ON h.id = l.headset_id JOIN provenance AS p ON p.id = l.provenance_id;

-- The link on which an epoch of a stream began.
CREATE VIEW epoch_link AS
SELECT e.stream_id, e.number AS epoch, e.first_n,
    (SELECT l.id FROM link AS l
    WHERE l.recording_id = s.recording_id AND l.host_boot_id = e.host_boot_id AND l.began_boottime_ns <= e.boottime_ns
    ORDER BY l.began_boottime_ns DESC LIMIT 1) AS link
FROM epoch AS e JOIN stream AS s ON s.id = e.stream_id;
