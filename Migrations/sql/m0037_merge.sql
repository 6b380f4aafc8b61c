-- Recordings that came from another database (`eegsync merge`), and samples that two databases have with different values.

-- A recording that was taken over: it is recorded elsewhere, and whoever records it ships it.
CREATE TABLE merged_recording (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    -- the name of the file, without its directories
    source TEXT NOT NULL CHECK (source <> ''),
    -- when it came
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

-- Machines that have recorded what was taken over, and have never acquired into this database.
CREATE TABLE merged_machine (
    machine_id INTEGER PRIMARY KEY REFERENCES machine (id)
) STRICT;

-- What another database has of a sample where it differs from what this one has. The row of `sample` stays as it was; this is
-- kept aside.
CREATE TABLE merge_conflict (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    n INTEGER NOT NULL,
    -- the other database's values
    c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,
    c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER,
    -- the name of its file, without its directories
    source TEXT NOT NULL CHECK (source <> ''),
    -- when they were found to differ
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX merge_conflict_by_sample ON merge_conflict (stream_id, n);

-- The same channel by channel, beside what stands here; raw counts, only where they differ.
CREATE VIEW merge_conflict_value AS
SELECT recording_id, view_name, stream, stream_id, n, channel, here, there, source,
    strftime('%Y-%m-%dT%H:%M:%fZ', found_unix_ns / 1e9, 'unixepoch') AS found, found_unix_ns
FROM (
    SELECT st.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, m.stream_id AS stream_id, m.n AS n,
        c.name AS channel, c.number AS number,
        CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
            WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END AS here,
        CASE c.number WHEN 1 THEN m.c1 WHEN 2 THEN m.c2 WHEN 3 THEN m.c3 WHEN 4 THEN m.c4
            WHEN 5 THEN m.c5 WHEN 6 THEN m.c6 WHEN 7 THEN m.c7 ELSE m.c8 END AS there,
        m.source AS source, k.offset_ns + m.boottime_ns AS found_unix_ns, m.id AS id
    FROM merge_conflict AS m
    JOIN stream AS st ON st.id = m.stream_id
    JOIN channel AS c ON c.stream_id = m.stream_id
    LEFT JOIN sample AS s ON s.stream_id = m.stream_id AND s.n = m.n
    JOIN host_boot_clock AS k ON k.host_boot_id = m.host_boot_id)
WHERE here <> there
ORDER BY stream_id, n, id, number;
