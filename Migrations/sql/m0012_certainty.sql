-- What is known, and how: each gap says how its length is known, each segment within what its times are right, and the evidence
-- of the time map is kept; each stream says what detects a loss in it. Times follow the clocks: the latest synchronised offset
-- of a host boot counts, and no time is taken from another boot's clock.

-- The earliest arrival of about each second of a stream: from these anybody can compute the time map anew. Where the headset's
-- stamps are exact, it may be when the sample could have come with another stream's packet.
CREATE TABLE arrival (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- the last sample of the packet that arrived
    n INTEGER NOT NULL,
    -- on CLOCK_BOOTTIME of the host boot of the segment that holds n
    boottime_ns INTEGER NOT NULL,
    -- the headset's own clock, where it came with the packet
    device_ticks INTEGER,
    PRIMARY KEY (stream_id, n)
) STRICT, WITHOUT ROWID;

-- Within what the times of the segment's samples are right, but for the headset's constant delay: three standard deviations.
-- NULL where an earlier version did not say.
ALTER TABLE segment ADD COLUMN uncertainty_ns REAL CHECK (uncertainty_ns >= 0);

CREATE TABLE gap_before AS SELECT * FROM gap;

DROP TABLE gap;

-- The gap ledger: samples that are known to be missing. (stream, first_n, channel) is the key people and programs use.
CREATE TABLE gap (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    -- 0: whole rows; 1 ... 8: one channel of rows that are there
    channel INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 8),
    -- NULL while the end is not known. 0 between two host boots, of which only the clocks know how far apart they are: n goes
    -- on, and the view gap_time computes what is missing from the clocks as they are known now
    count INTEGER CHECK (count >= 0),
    cause TEXT NOT NULL REFERENCES gap_cause (cause),
    -- how many of count arrived after all
    recovered INTEGER NOT NULL DEFAULT 0 CHECK (recovered >= 0),
    -- when the gap was noticed
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- counted by the headset's counter or mark, timed by clocks, or unknown yet
    certainty TEXT NOT NULL DEFAULT 'unknown' CHECK (certainty IN ('counted', 'timed', 'unknown')),
    -- of a timed count: right within so many samples, three standard deviations; NULL where it was not said
    uncertainty INTEGER CHECK (uncertainty >= 0),
    UNIQUE (stream_id, channel, first_n),
    CHECK (recovered <= coalesce(count, 0)),
    CHECK (channel = 0 OR count > 0)
) STRICT;

-- Gaps of earlier versions: what only a counter can have told was counted, the others were timed, without saying how well.
INSERT INTO gap (
    id, stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns, certainty)
SELECT g.id, g.stream_id, g.first_n, g.channel, g.count, g.cause, g.recovered, g.host_boot_id, g.boottime_ns,
    CASE WHEN g.count IS NULL THEN 'unknown'
        WHEN st.counter_modulus IS NOT NULL
            AND g.cause IN ('packetLost', 'packetDamaged', 'notSent', 'queueOverflow', 'bufferOverrun') THEN 'counted'
        ELSE 'timed' END
FROM gap_before AS g JOIN stream AS st ON st.id = g.stream_id;

DROP TABLE gap_before;

CREATE INDEX gap_of_no_count ON gap (stream_id) WHERE count = 0;

-- Gaps of one stream and channel do not overlap, and nothing follows a gap whose end is unknown.
CREATE TRIGGER gap_overlap_on_insert BEFORE INSERT ON gap
WHEN EXISTS (
    SELECT 1 FROM gap WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n > NEW.first_n
        AND (NEW.count IS NULL OR first_n < NEW.first_n + NEW.count))
OR (SELECT count IS NULL OR first_n + count > NEW.first_n FROM gap
    WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n < NEW.first_n
    ORDER BY first_n DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'gap overlaps another gap of its stream and channel');
END;

CREATE TRIGGER gap_overlap_on_update BEFORE UPDATE OF stream_id, channel, first_n, count ON gap
WHEN EXISTS (
    SELECT 1 FROM gap WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n > NEW.first_n
        AND id <> NEW.id AND (NEW.count IS NULL OR first_n < NEW.first_n + NEW.count))
OR (SELECT count IS NULL OR first_n + count > NEW.first_n FROM gap
    WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n < NEW.first_n AND id <> NEW.id
    ORDER BY first_n DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'gap overlaps another gap of its stream and channel');
END;

-- What tells that samples of a stream without counter are missing, from sample first_n on until the next row of the stream.
-- Before the first row, and while it says so, nothing does: what is lost then is in no ledger, and n goes on as if nothing were.
-- A stream with a counter has no rows: its counter tells.
CREATE TABLE loss_detection (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    -- the headset's own marks, the clock because the rate is known well enough, or nothing
    means TEXT NOT NULL CHECK (means IN ('mark', 'clock', 'nothing')),
    PRIMARY KEY (stream_id, first_n)
) STRICT, WITHOUT ROWID;

-- The one rule for UTC: a host boot uses the latest clock offset that was synchronised, or its latest one if none was. So a
-- clock that is set late, or a second time, corrects all times of the boot at once, and times within a boot stay monotone.
DROP INDEX clock_offset_by_rank;

CREATE INDEX clock_offset_by_rank ON clock_offset (host_boot_id, is_synchronised DESC, boottime_ns DESC, id DESC);

DROP VIEW host_boot_clock;

CREATE VIEW host_boot_clock AS
SELECT b.id AS host_boot_id, b.uuid AS uuid, o.offset_ns AS offset_ns, o.is_synchronised AS is_synchronised
FROM host_boot AS b
LEFT JOIN clock_offset AS o ON o.id = (
    SELECT c.id FROM clock_offset AS c WHERE c.host_boot_id = b.id
    ORDER BY c.is_synchronised DESC, c.boottime_ns DESC, c.id DESC LIMIT 1);

-- The time map in UTC: unix_ns(n) = reference_unix_ns + (n - reference_n) * period_ns.
DROP VIEW segment_time;

CREATE VIEW segment_time AS
SELECT
    st.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, st.bank AS bank,
    g.stream_id AS stream_id, g.first_n AS first_n, g.last_n AS last_n, g.reference_n AS reference_n,
    k.offset_ns + g.reference_boottime_ns AS reference_unix_ns, g.period_ns AS period_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.first_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS start_unix_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.last_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS end_unix_ns,
    g.residual_ns AS residual_ns, g.epoch AS epoch, k.is_synchronised AS is_synchronised,
    g.uncertainty_ns AS uncertainty_ns, g.observation_count AS observation_count, g.host_boot_id AS host_boot_id
FROM segment AS g
JOIN stream AS st ON st.id = g.stream_id
JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id;

-- Gaps between two host boots, as long as the clocks of both say now. They end with the next sample, or with the recording.
CREATE VIEW gap_between_boots AS
SELECT gap_id, stream_id, first_n, start_unix_ns, end_unix_ns,
    CASE WHEN is_synchronised = 1 AND end_unix_ns >= start_unix_ns
        THEN CAST(round((end_unix_ns - start_unix_ns) / 1e9 * sampling_frequency) AS INTEGER) END AS missing
FROM (
    SELECT g.id AS gap_id, g.stream_id AS stream_id, g.first_n AS first_n, st.sampling_frequency AS sampling_frequency,
        ka.offset_ns + a.reference_boottime_ns + CAST(round((g.first_n - a.reference_n) * a.period_ns) AS INTEGER)
            AS start_unix_ns,
        CASE WHEN b.first_n IS NOT NULL
            THEN kb.offset_ns + b.reference_boottime_ns + CAST(round((g.first_n - b.reference_n) * b.period_ns) AS INTEGER)
            ELSE kr.offset_ns + r.stop_requested_boottime_ns END AS end_unix_ns,
        ka.is_synchronised AND CASE WHEN b.first_n IS NOT NULL THEN kb.is_synchronised ELSE kr.is_synchronised END
            AS is_synchronised
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN recording AS r ON r.id = st.recording_id
    LEFT JOIN segment AS a ON a.stream_id = g.stream_id AND a.first_n = (
        SELECT max(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n < g.first_n)
    LEFT JOIN host_boot_clock AS ka ON ka.host_boot_id = a.host_boot_id
    LEFT JOIN segment AS b ON b.stream_id = g.stream_id AND b.first_n = (
        SELECT min(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n >= g.first_n)
    LEFT JOIN host_boot_clock AS kb ON kb.host_boot_id = b.host_boot_id
    LEFT JOIN host_boot_clock AS kr ON kr.host_boot_id = r.stop_requested_host_boot_id
    WHERE g.count = 0);

-- Every gap with its times. start_unix_ns is when the first missing sample was due, end_unix_ns when samples went on. A time
-- whose clock is not known is NULL: before, the clock of another host boot was taken.
DROP VIEW gap_time;

CREATE VIEW gap_time AS
SELECT recording_id, stream, bank, view_name, stream_id, first_n, last_n, count, channel, channel_name, cause, meaning,
    recovered, missing, sampling_frequency, noticed_unix_ns, start_unix_ns, end_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time,
    CASE WHEN count > 0 THEN count / sampling_frequency ELSE missing / sampling_frequency END AS duration_seconds,
    certainty, uncertainty
FROM (
    SELECT
        st.recording_id AS recording_id, st.name AS stream, st.bank AS bank, st.view_name AS view_name,
        g.stream_id AS stream_id, g.first_n AS first_n, g.first_n + g.count - 1 AS last_n, g.count AS count,
        g.channel AS channel,
        (SELECT c.name FROM channel AS c WHERE c.stream_id = g.stream_id AND c.number = g.channel) AS channel_name,
        g.cause AS cause, w.meaning AS meaning, g.recovered AS recovered,
        CASE WHEN g.count = 0 THEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id)
            ELSE g.count - g.recovered END AS missing,
        st.sampling_frequency AS sampling_frequency,
        k.offset_ns + g.boottime_ns AS noticed_unix_ns,
        CASE WHEN g.count IS NULL THEN 'unknown'
            WHEN g.count = 0 AND (SELECT missing FROM gap_between_boots WHERE gap_id = g.id) IS NULL THEN 'unknown'
            ELSE g.certainty END AS certainty,
        -- two hosts' clocks that are synchronised over the network differ by less than a tenth of a second
        CASE WHEN g.count = 0 THEN CASE WHEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id) IS NOT NULL
            THEN CAST(round(0.1 * st.sampling_frequency) AS INTEGER) + 1 END
            ELSE g.uncertainty END AS uncertainty,
        -- continue the segment before the gap; a gap at the very start counts back from the first segment
        (SELECT k2.offset_ns + s.reference_boottime_ns + CAST(round((g.first_n - s.reference_n) * s.period_ns) AS INTEGER)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = g.stream_id AND first_n < g.first_n),
            (SELECT min(first_n) FROM segment WHERE stream_id = g.stream_id))) AS start_unix_ns,
        CASE WHEN g.count = 0 THEN (SELECT end_unix_ns FROM gap_between_boots WHERE gap_id = g.id)
        ELSE (SELECT k2.offset_ns + s.reference_boottime_ns
            + CAST(round((g.first_n + g.count - s.reference_n) * s.period_ns) AS INTEGER)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n <= g.first_n + g.count
        ORDER BY s.first_n DESC LIMIT 1) END AS end_unix_ns
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN gap_cause AS w ON w.cause = g.cause
    JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id);

-- Every stream with its extent and its sums. Rows are computed from extent and ledger, which eegsync audit compares with a
-- real count: this view stays fast on weeks of data. missing counts what is known; unknown_gaps says how many gaps have no
-- known length yet; loss_detection what tells now that a sample of the stream is missing.
DROP VIEW stream_overview;

CREATE VIEW stream_overview AS
SELECT recording_id, stream_id, stream, bank, view_name, sampling_frequency, channels, first_n, last_n,
    missing_n + missing_between_boots AS missing, recovered, gaps, open_gap_first_n, start_unix_ns, end_unix_ns,
    last_n - first_n + 1 - missing_n AS rows,
    (last_n - first_n + 1 + missing_between_boots) / sampling_frequency AS duration_seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time,
    unknown_gaps, loss_detection
FROM (
    SELECT *,
        (SELECT t.reference_unix_ns + CAST(round((e.first_n - t.reference_n) * t.period_ns) AS INTEGER)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n LIMIT 1) AS start_unix_ns,
        (SELECT t.reference_unix_ns + CAST(round((e.last_n - t.reference_n) * t.period_ns) AS INTEGER)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n DESC LIMIT 1) AS end_unix_ns
    FROM (
        SELECT
            st.recording_id AS recording_id, st.id AS stream_id, st.name AS stream, st.bank AS bank,
            st.view_name AS view_name, st.sampling_frequency AS sampling_frequency,
            CASE WHEN st.counter_modulus IS NOT NULL THEN 'counter' ELSE coalesce(
                (SELECT means FROM loss_detection WHERE stream_id = st.id ORDER BY first_n DESC LIMIT 1), 'nothing') END
                AS loss_detection,
            (SELECT group_concat(name, ' ') FROM (SELECT name FROM channel WHERE stream_id = st.id ORDER BY number))
                AS channels,
            (SELECT min(n) FROM (
                SELECT min(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0))
                AS first_n,
            (SELECT max(n) FROM (
                SELECT max(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0))
                AS last_n,
            (SELECT coalesce(sum(count - recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS missing_n,
            (SELECT coalesce(sum(b.missing), 0) FROM gap_between_boots AS b WHERE b.stream_id = st.id)
                AS missing_between_boots,
            (SELECT count(*) FROM gap_between_boots AS b WHERE b.stream_id = st.id AND b.missing IS NULL)
                + (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS unknown_gaps,
            (SELECT coalesce(sum(recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        FROM stream AS st) AS e);

-- What is missing in whole rows of each stream, by how that is known. timed includes what lies between two host boots, through
-- which n does not count.
CREATE VIEW stream_certainty AS
SELECT recording_id, view_name, stream, bank, stream_id, loss_detection, counted, timed_n + timed_between_boots AS timed,
    CASE WHEN unstated = 0 THEN uncertainty_n + uncertainty_between_boots END AS uncertainty, unknown,
    unknown_gaps
FROM (
    SELECT o.recording_id AS recording_id, o.view_name AS view_name, o.stream AS stream, o.bank AS bank,
        o.stream_id AS stream_id, o.loss_detection AS loss_detection, o.unknown_gaps AS unknown_gaps,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'counted') AS counted,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed') AS timed_n,
        (SELECT coalesce(sum(missing), 0) FROM gap_between_boots WHERE stream_id = o.stream_id) AS timed_between_boots,
        (SELECT count(*) FROM gap WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed' AND count > recovered
            AND uncertainty IS NULL) AS unstated,
        (SELECT coalesce(sum(uncertainty), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed' AND count > recovered) AS uncertainty_n,
        -- as in gap_time
        (SELECT count(*) FROM gap_between_boots WHERE stream_id = o.stream_id AND missing IS NOT NULL)
            * (CAST(round(0.1 * o.sampling_frequency) AS INTEGER) + 1) AS uncertainty_between_boots,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'unknown') AS unknown
    FROM stream_overview AS o);

-- One row for each value: for tools that want long data. value is NULL where the channel is missing; times are those of the
-- stream's view, NULL where the clock of the row's host boot is not known.
DROP VIEW sample_long;

CREATE VIEW sample_long AS
SELECT recording_id, stream, n, unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', unix_ns / 1e9, 'unixepoch') AS time,
    channel, value, unit
FROM (
    SELECT st.recording_id AS recording_id, st.name AS stream, s.n AS n,
        (SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((s.n - g.reference_n) * g.period_ns) AS INTEGER)
        FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
        WHERE g.stream_id = s.stream_id AND g.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = s.stream_id AND first_n <= s.n),
            (SELECT min(first_n) FROM segment WHERE stream_id = s.stream_id))) AS unix_ns,
        c.name AS channel,
        c.scale * CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
            WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END + c."offset" AS value,
        c.unit AS unit
    FROM stream AS st
    JOIN channel AS c ON c.stream_id = st.id
    JOIN sample AS s ON s.stream_id = st.id);
