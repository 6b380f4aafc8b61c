-- What detects a loss, in which stream and since when; and no time by another boot's clock.

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

-- What was recorded since segments state their uncertainty had marks or the clock; before that, nothing.
INSERT INTO loss_detection (stream_id, first_n, means)
SELECT st.id, min(g.first_n), CASE WHEN h.model IN ('thinkgear', 'tgam', 'mindwave') AND st.name GLOB 'eeg*' THEN 'mark'
    ELSE 'clock' END
FROM stream AS st
JOIN recording AS r ON r.id = st.recording_id
JOIN headset AS h ON h.id = r.headset_id
JOIN segment AS g ON g.stream_id = st.id AND g.uncertainty_ns IS NOT NULL
WHERE st.counter_modulus IS NULL AND NOT (h.model = 'mindwave' AND st.name GLOB 'power*')
GROUP BY st.id;

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
