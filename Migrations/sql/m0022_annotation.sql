-- Annotations know the sample that a headset said them of, are corrected without losing what was before, and can be inserted by
-- SQL, in UTC.

DROP VIEW annotation_time;
DROP VIEW annotation_sample;

ALTER TABLE annotation RENAME TO annotation_before;
DROP INDEX annotation_by_recording;

CREATE TABLE annotation (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- when it happened; of what a headset says of a sample, when that arrived
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    duration_seconds REAL CHECK (duration_seconds >= 0),
    description TEXT NOT NULL,
    -- sql: inserted through the view annotation_time, by whatever program
    source TEXT NOT NULL CHECK (source IN ('operator', 'headset', 'eegsync', 'sql')),
    -- the sample that the headset said it of; both or neither
    stream_id INTEGER REFERENCES stream (id),
    n INTEGER,
    -- the headset's own clock, and the number of a trigger, as sent
    device_ticks INTEGER,
    code INTEGER,
    -- the annotation that this one corrects
    replaces INTEGER REFERENCES annotation (id),
    -- since when it does not hold any more: it was corrected or deleted
    withdrawn_host_boot_id INTEGER REFERENCES host_boot (id),
    withdrawn_boottime_ns INTEGER,
    CHECK ((stream_id IS NULL) = (n IS NULL)),
    CHECK ((withdrawn_host_boot_id IS NULL) = (withdrawn_boottime_ns IS NULL))
) STRICT;

INSERT INTO annotation (id, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source)
SELECT id, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source FROM annotation_before;

DROP TABLE annotation_before;

CREATE INDEX annotation_by_recording ON annotation (recording_id);

-- The annotations that hold, each with its onset on the clock of a host boot: what is said of a sample follows its time.
CREATE VIEW annotation_onset AS
SELECT a.id AS annotation_id, a.recording_id AS recording_id,
    coalesce(g.host_boot_id, a.host_boot_id) AS host_boot_id,
    coalesce(g.reference_boottime_ns + CAST(round((a.n - g.reference_n) * g.period_ns) AS INTEGER), a.boottime_ns)
        AS boottime_ns,
    a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source, a.stream_id AS said_of_stream_id,
    a.n AS said_of_n, a.device_ticks AS device_ticks, a.code AS code, a.replaces AS replaces
FROM annotation AS a
LEFT JOIN segment AS g ON g.stream_id = a.stream_id AND g.first_n = coalesce(
    (SELECT max(first_n) FROM segment WHERE stream_id = a.stream_id AND first_n <= a.n),
    (SELECT min(first_n) FROM segment WHERE stream_id = a.stream_id))
WHERE a.withdrawn_boottime_ns IS NULL;

-- Annotations with their times. New ones can be inserted: recording_id, description, and onset (ISO 8601) or onset_unix_ns.
CREATE VIEW annotation_time AS
SELECT o.recording_id AS recording_id, k.offset_ns + o.boottime_ns AS onset_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + o.boottime_ns) / 1e9, 'unixepoch') AS onset,
    o.duration_seconds AS duration_seconds, o.description AS description, o.source AS source,
    o.annotation_id AS annotation_id, (SELECT view_name FROM stream WHERE id = o.said_of_stream_id) AS view_name,
    o.said_of_n AS n, o.device_ticks AS device_ticks, o.code AS code
FROM annotation_onset AS o JOIN host_boot_clock AS k ON k.host_boot_id = o.host_boot_id;

-- The host boot is the last one of the recording that had begun by then, or its first one.
CREATE TRIGGER annotation_time_insert INSTEAD OF INSERT ON annotation_time BEGIN
    SELECT RAISE(ABORT, 'an annotation needs recording_id, description, and onset (ISO 8601, UTC) or onset_unix_ns')
    WHERE NEW.recording_id IS NULL OR NEW.description IS NULL
        OR coalesce(NEW.onset_unix_ns, julianday(NEW.onset)) IS NULL;
    SELECT RAISE(ABORT, 'there is no such recording')
    WHERE NOT EXISTS (SELECT 1 FROM recording WHERE id = NEW.recording_id);
    INSERT INTO annotation (
        recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id, n, device_ticks, code)
    SELECT NEW.recording_id, k.host_boot_id, e.unix_ns - k.offset_ns, NEW.duration_seconds, NEW.description, 'sql', NULL, NULL,
        NEW.device_ticks, NEW.code
    FROM (SELECT coalesce(
        NEW.onset_unix_ns, CAST(round((julianday(NEW.onset) - 2440587.5) * 86400e3) AS INTEGER) * 1000000) AS unix_ns) AS e
    JOIN host_boot_clock AS k ON k.offset_ns IS NOT NULL AND k.host_boot_id IN (
        SELECT requested_host_boot_id FROM recording WHERE id = NEW.recording_id
        UNION SELECT g.host_boot_id FROM stream AS st JOIN segment AS g ON g.stream_id = st.id
            WHERE st.recording_id = NEW.recording_id)
    ORDER BY k.offset_ns > e.unix_ns, CASE WHEN k.offset_ns > e.unix_ns THEN k.offset_ns ELSE -k.offset_ns END LIMIT 1;
END;

-- Every annotation with the number of the sample that each stream of its recording took at its onset; one row for each view of a
-- stream. n is of the segment that began last before the onset, also within a gap; NULL where the stream was not sampled then:
-- more than a second after one segment reaches the next one, or before the first sample of the host boot. Of the stream of
-- which the headset said it, it is the headset's own.
CREATE VIEW annotation_sample AS
SELECT recording_id, view_name, stream, stream_id,
    CASE WHEN said_of_stream_id = stream_id THEN said_of_n
        WHEN x < first_n THEN CASE WHEN before_n IS NULL OR x > before_n THEN x END
        WHEN next_n IS NULL OR x < next_n THEN x
        WHEN (x - next_n) * period_ns <= 1000000000 THEN next_n END AS n,
    onset, onset_unix_ns, duration_seconds, description, source, annotation_id, code
FROM (
    SELECT o.*, g.first_n AS first_n, g.period_ns AS period_ns,
        CAST(round(g.reference_n + (o.boottime_ns - g.reference_boottime_ns) / g.period_ns) AS INTEGER) AS x,
        (SELECT min(first_n) FROM segment WHERE stream_id = o.stream_id AND first_n > g.first_n) AS next_n,
        (SELECT last_n FROM segment WHERE stream_id = o.stream_id AND first_n < g.first_n ORDER BY first_n DESC LIMIT 1)
            AS before_n
    FROM (
        SELECT a.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, st.id AS stream_id,
            k.offset_ns + a.boottime_ns AS onset_unix_ns,
            strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + a.boottime_ns) / 1e9, 'unixepoch') AS onset,
            a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source,
            a.annotation_id AS annotation_id, a.code AS code, a.said_of_stream_id AS said_of_stream_id,
            a.said_of_n AS said_of_n, a.boottime_ns AS boottime_ns,
            coalesce(
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                    AND CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) <= a.boottime_ns
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) DESC LIMIT 1),
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) LIMIT 1)) AS segment_n
        FROM annotation_onset AS a
        JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id
        JOIN stream AS st ON st.recording_id = a.recording_id AND st.bank = (
            SELECT min(bank) FROM stream WHERE recording_id = st.recording_id AND view_name = st.view_name)) AS o
    LEFT JOIN segment AS g ON g.stream_id = o.stream_id AND g.first_n = o.segment_n);
