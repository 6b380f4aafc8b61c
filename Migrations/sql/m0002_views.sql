-- The views for people. Views of single streams (eeg_12) are made with the streams; see the page DataModel.

-- The one rule for UTC: a host boot uses its first synchronised clock offset, or its first one if none was synchronised.
-- A step of the wall clock therefore never moves samples, and times within a boot stay monotone.
CREATE VIEW host_boot_clock AS
SELECT b.id AS host_boot_id, b.uuid AS uuid, o.offset_ns AS offset_ns, o.is_synchronised AS is_synchronised
FROM host_boot AS b
LEFT JOIN clock_offset AS o ON o.id = (
    SELECT c.id FROM clock_offset AS c WHERE c.host_boot_id = b.id
    ORDER BY c.is_synchronised DESC, c.boottime_ns, c.id LIMIT 1);

-- The time map in UTC: unix_ns(n) = reference_unix_ns + (n - reference_n) * period_ns.
CREATE VIEW segment_time AS
SELECT
    st.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, st.bank AS bank,
    g.stream_id AS stream_id, g.first_n AS first_n, g.last_n AS last_n, g.reference_n AS reference_n,
    k.offset_ns + g.reference_boottime_ns AS reference_unix_ns, g.period_ns AS period_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.first_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS start_unix_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.last_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS end_unix_ns,
    g.residual_ns AS residual_ns, g.epoch AS epoch, k.is_synchronised AS is_synchronised
FROM segment AS g
JOIN stream AS st ON st.id = g.stream_id
JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id;

-- Every gap with its times. start_unix_ns is when the first missing sample was due, end_unix_ns when samples went on.
CREATE VIEW gap_time AS
SELECT *,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time,
    count / sampling_frequency AS duration_seconds
FROM (
    SELECT
        st.recording_id AS recording_id, st.name AS stream, st.bank AS bank, st.view_name AS view_name,
        g.stream_id AS stream_id, g.first_n AS first_n, g.first_n + g.count - 1 AS last_n, g.count AS count,
        g.channel AS channel,
        (SELECT c.name FROM channel AS c WHERE c.stream_id = g.stream_id AND c.number = g.channel) AS channel_name,
        g.cause AS cause, w.meaning AS meaning, g.recovered AS recovered, g.count - g.recovered AS missing,
        st.sampling_frequency AS sampling_frequency,
        k.offset_ns + g.boottime_ns AS noticed_unix_ns,
        -- continue the segment before the gap; a gap at the very start counts back from the first segment
        coalesce(
            (SELECT k2.offset_ns + s.reference_boottime_ns + CAST(round((g.first_n - s.reference_n) * s.period_ns) AS INTEGER)
            FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
            WHERE s.stream_id = g.stream_id AND s.first_n < g.first_n ORDER BY s.first_n DESC LIMIT 1),
            (SELECT k2.offset_ns + s.reference_boottime_ns + CAST(round((g.first_n - s.reference_n) * s.period_ns) AS INTEGER)
            FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
            WHERE s.stream_id = g.stream_id ORDER BY s.first_n LIMIT 1)) AS start_unix_ns,
        (SELECT k2.offset_ns + s.reference_boottime_ns
            + CAST(round((g.first_n + g.count - s.reference_n) * s.period_ns) AS INTEGER)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n <= g.first_n + g.count
        ORDER BY s.first_n DESC LIMIT 1) AS end_unix_ns
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN gap_cause AS w ON w.cause = g.cause
    JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id);

-- Every stream with its extent and its sums. Rows are computed from extent and ledger, which eegsync audit compares with a
-- real count: this view stays fast on weeks of data.
CREATE VIEW stream_overview AS
SELECT *,
    last_n - first_n + 1 - missing AS rows,
    (last_n - first_n + 1) / sampling_frequency AS duration_seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time
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
            (SELECT group_concat(name, ' ') FROM (SELECT name FROM channel WHERE stream_id = st.id ORDER BY number))
                AS channels,
            (SELECT min(n) FROM (
                SELECT min(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NOT NULL))
                AS first_n,
            (SELECT max(n) FROM (
                SELECT max(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0)) AS last_n,
            (SELECT coalesce(sum(count - recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS missing,
            (SELECT coalesce(sum(recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        FROM stream AS st) AS e);

-- Every recording (session) with its times and sums over its streams.
CREATE VIEW recording_overview AS
SELECT
    r.id AS recording_id, h.name AS headset, h.model AS model, h.serial_number AS serial_number,
    r.label AS label, r.subject AS subject, r.task AS task,
    CASE WHEN r.stopped_boottime_ns IS NOT NULL THEN 'stopped'
        WHEN r.desired_state = 'stopped' THEN 'stopping'
        WHEN r.started_boottime_ns IS NULL THEN 'waiting'
        ELSE 'recording' END AS state,
    min(o.start_time) AS start_time, max(o.end_time) AS end_time,
    (max(o.end_unix_ns) - min(o.start_unix_ns)) / 1e9 AS duration_seconds,
    group_concat(DISTINCT o.view_name) AS view_names,
    coalesce(sum(o.rows), 0) AS rows, coalesce(sum(o.missing), 0) AS missing,
    coalesce(sum(o.recovered), 0) AS recovered, coalesce(sum(o.gaps), 0) AS gaps,
    min(o.start_unix_ns) AS start_unix_ns, max(o.end_unix_ns) AS end_unix_ns,
    requested.offset_ns + r.requested_boottime_ns AS requested_unix_ns,
    stopped.offset_ns + r.stopped_boottime_ns AS stopped_unix_ns
FROM recording AS r
JOIN headset AS h ON h.id = r.headset_id
JOIN host_boot_clock AS requested ON requested.host_boot_id = r.requested_host_boot_id
LEFT JOIN host_boot_clock AS stopped ON stopped.host_boot_id = r.stopped_host_boot_id
LEFT JOIN stream_overview AS o ON o.recording_id = r.id
GROUP BY r.id;

-- Annotations with their times.
CREATE VIEW annotation_time AS
SELECT a.recording_id AS recording_id, k.offset_ns + a.boottime_ns AS onset_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + a.boottime_ns) / 1e9, 'unixepoch') AS onset,
    a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source
FROM annotation AS a JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id;

-- One row for each value: for tools that want long data. value is NULL where the channel is missing.
CREATE VIEW sample_long AS
SELECT recording_id, stream, n, unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', unix_ns / 1e9, 'unixepoch') AS time,
    channel, value, unit
FROM (
    SELECT st.recording_id AS recording_id, st.name AS stream, s.n AS n,
        coalesce(
            (SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((s.n - g.reference_n) * g.period_ns) AS INTEGER)
            FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
            WHERE g.stream_id = s.stream_id AND g.first_n <= s.n ORDER BY g.first_n DESC LIMIT 1),
            (SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((s.n - g.reference_n) * g.period_ns) AS INTEGER)
            FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
            WHERE g.stream_id = s.stream_id ORDER BY g.first_n LIMIT 1)) AS unix_ns,
        c.name AS channel,
        c.scale * CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
            WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END + c."offset" AS value,
        c.unit AS unit
    FROM stream AS st
    JOIN channel AS c ON c.stream_id = st.id
    JOIN sample AS s ON s.stream_id = st.id);
