-- The views for people, as on one machine: the same names, columns and units. They read with the rights of who asks.

-- SQLite's round() to an integer: halves away from zero.
CREATE FUNCTION nearest(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT CASE WHEN value < 0 THEN ceil(value - 0.5) ELSE floor(value + 0.5) END::bigint$$;

-- ISO 8601 with milliseconds, rounded as SQLite's strftime() rounds: to a 32nd of a millisecond first, which are the digits
-- that a Julian day in milliseconds has as a double.
CREATE FUNCTION utc_text(unix_ns bigint) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(
        timestamp '1970-01-01' + interval '1 millisecond' * (
            floor(unix_ns::double precision / 1e9 * 1000 + 210866760000000::double precision + 0.5) - 210866760000000),
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE VIEW host_boot_clock WITH (security_invoker = true) AS
SELECT b.id AS host_boot_id, b.uuid, o.offset_ns, o.is_synchronised
FROM host_boot AS b
LEFT JOIN LATERAL (
    SELECT c.offset_ns, c.is_synchronised FROM clock_offset AS c WHERE c.host_boot_id = b.id
    ORDER BY c.is_synchronised DESC, c.boottime_ns DESC, c.id DESC LIMIT 1) AS o ON true;

CREATE VIEW segment_time WITH (security_invoker = true) AS
SELECT st.recording_id, st.view_name, st.name AS stream, st.bank, g.stream_id, g.first_n, g.last_n, g.reference_n,
    k.offset_ns + g.reference_boottime_ns AS reference_unix_ns, g.period_ns,
    k.offset_ns + g.reference_boottime_ns + nearest((g.first_n - g.reference_n) * g.period_ns) AS start_unix_ns,
    k.offset_ns + g.reference_boottime_ns + nearest((g.last_n - g.reference_n) * g.period_ns) AS end_unix_ns,
    g.residual_ns, g.epoch, k.is_synchronised, g.uncertainty_ns, g.observation_count, g.host_boot_id
FROM segment AS g
JOIN stream AS st ON st.id = g.stream_id
JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id;

-- UTC of a sample, by the last segment that begins at or before it, or the first one.
CREATE FUNCTION sample_unix_ns(of_stream_id bigint, of_n bigint) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT k.offset_ns + g.reference_boottime_ns + nearest((of_n - g.reference_n) * g.period_ns)
    FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
    WHERE g.stream_id = of_stream_id AND g.first_n = coalesce(
        (SELECT max(first_n) FROM segment WHERE stream_id = of_stream_id AND first_n <= of_n),
        (SELECT min(first_n) FROM segment WHERE stream_id = of_stream_id))
$$;

CREATE VIEW gap_between_boots WITH (security_invoker = true) AS
SELECT stream_id, first_n, start_unix_ns, end_unix_ns,
    CASE WHEN is_synchronised AND end_unix_ns >= start_unix_ns
        THEN nearest((end_unix_ns - start_unix_ns) / 1e9::double precision * sampling_frequency) END AS missing
FROM (
    SELECT g.stream_id, g.first_n, st.sampling_frequency,
        ka.offset_ns + a.reference_boottime_ns + nearest((g.first_n - a.reference_n) * a.period_ns) AS start_unix_ns,
        CASE WHEN b.first_n IS NOT NULL
            THEN kb.offset_ns + b.reference_boottime_ns + nearest((g.first_n - b.reference_n) * b.period_ns)
            ELSE kr.offset_ns + r.stop_requested_boottime_ns END AS end_unix_ns,
        ka.is_synchronised = 1 AND CASE WHEN b.first_n IS NOT NULL THEN kb.is_synchronised ELSE kr.is_synchronised END = 1
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
    WHERE g.count = 0) AS e;

CREATE VIEW gap_time WITH (security_invoker = true) AS
SELECT recording_id, stream, bank, view_name, stream_id, first_n, last_n, count, channel, channel_name, cause, meaning,
    recovered, missing, sampling_frequency, noticed_unix_ns, start_unix_ns, end_unix_ns,
    utc_text(start_unix_ns) AS start_time, utc_text(end_unix_ns) AS end_time,
    CASE WHEN count > 0 THEN count / sampling_frequency ELSE missing / sampling_frequency END AS duration_seconds,
    certainty, uncertainty
FROM (
    SELECT st.recording_id, st.name AS stream, st.bank, st.view_name, g.stream_id, g.first_n, g.first_n + g.count - 1 AS last_n,
        g.count, g.channel,
        (SELECT c.name FROM channel AS c WHERE c.stream_id = g.stream_id AND c.number = g.channel) AS channel_name,
        g.cause, w.meaning, g.recovered,
        CASE WHEN g.count = 0 THEN z.missing ELSE g.count - g.recovered END AS missing,
        st.sampling_frequency, k.offset_ns + g.boottime_ns AS noticed_unix_ns,
        CASE WHEN g.count IS NULL THEN 'unknown' WHEN g.count = 0 AND z.missing IS NULL THEN 'unknown' ELSE g.certainty END
            AS certainty,
        CASE WHEN g.count = 0 THEN CASE WHEN z.missing IS NOT NULL THEN nearest(0.1 * st.sampling_frequency) + 1 END
            ELSE g.uncertainty END AS uncertainty,
        (SELECT k2.offset_ns + s.reference_boottime_ns + nearest((g.first_n - s.reference_n) * s.period_ns)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = g.stream_id AND first_n < g.first_n),
            (SELECT min(first_n) FROM segment WHERE stream_id = g.stream_id))) AS start_unix_ns,
        CASE WHEN g.count = 0 THEN z.end_unix_ns
        ELSE (SELECT k2.offset_ns + s.reference_boottime_ns + nearest((g.first_n + g.count - s.reference_n) * s.period_ns)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n <= g.first_n + g.count
        ORDER BY s.first_n DESC LIMIT 1) END AS end_unix_ns
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN gap_cause AS w ON w.cause = g.cause
    JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
    LEFT JOIN gap_between_boots AS z ON g.count = 0 AND z.stream_id = g.stream_id AND z.first_n = g.first_n) AS e;

-- A value that came late; NULL where there is none.
CREATE FUNCTION patched_value(of_stream uuid, of_channel integer, of_n bigint) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p.values[of_n - p.first_n + 1] FROM sample_patch AS p
    WHERE p.stream = of_stream AND p.channel = of_channel AND p.first_n <= of_n
        AND of_n < p.first_n + array_length(p.values, 1)
    ORDER BY p.first_n DESC LIMIT 1
$$;

-- One sampling instant: raw counts, as on the machine. Where a channel was lost its value may have come late.
CREATE VIEW sample WITH (security_invoker = true) AS
SELECT st.id AS stream_id, b.first_n + v.i - 1 AS n,
    CASE WHEN b.c1 IS NOT NULL THEN coalesce(v.c1, patched_value(b.stream, 1, b.first_n + v.i - 1)) END AS c1,
    CASE WHEN b.c2 IS NOT NULL THEN coalesce(v.c2, patched_value(b.stream, 2, b.first_n + v.i - 1)) END AS c2,
    CASE WHEN b.c3 IS NOT NULL THEN coalesce(v.c3, patched_value(b.stream, 3, b.first_n + v.i - 1)) END AS c3,
    CASE WHEN b.c4 IS NOT NULL THEN coalesce(v.c4, patched_value(b.stream, 4, b.first_n + v.i - 1)) END AS c4,
    CASE WHEN b.c5 IS NOT NULL THEN coalesce(v.c5, patched_value(b.stream, 5, b.first_n + v.i - 1)) END AS c5,
    CASE WHEN b.c6 IS NOT NULL THEN coalesce(v.c6, patched_value(b.stream, 6, b.first_n + v.i - 1)) END AS c6,
    CASE WHEN b.c7 IS NOT NULL THEN coalesce(v.c7, patched_value(b.stream, 7, b.first_n + v.i - 1)) END AS c7,
    CASE WHEN b.c8 IS NOT NULL THEN coalesce(v.c8, patched_value(b.stream, 8, b.first_n + v.i - 1)) END AS c8
FROM sample_block AS b
JOIN stream AS st ON st.uuid = b.stream
CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY
    AS v (c1, c2, c3, c4, c5, c6, c7, c8, i);

-- One row for each value: for tools that want long data.
CREATE VIEW sample_long WITH (security_invoker = true) AS
SELECT st.recording_id, st.name AS stream, s.n, sample_unix_ns(st.id, s.n) AS unix_ns,
    utc_text(sample_unix_ns(st.id, s.n)) AS time,
    c.name AS channel,
    c.scale * CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
        WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END + c."offset" AS value,
    c.unit
FROM stream AS st
JOIN channel AS c ON c.stream_id = st.id
JOIN sample AS s ON s.stream_id = st.id;

-- Every stream with its extent and its sums, as the machine's ledger says them. What of it is here already says `shipment`.
CREATE VIEW stream_overview WITH (security_invoker = true) AS
SELECT recording_id, stream_id, stream, bank, view_name, sampling_frequency, channels, first_n, last_n,
    missing_n + missing_between_boots AS missing, recovered, gaps, open_gap_first_n, start_unix_ns, end_unix_ns,
    last_n - first_n + 1 - missing_n AS rows,
    (last_n - first_n + 1 + missing_between_boots) / sampling_frequency AS duration_seconds,
    utc_text(start_unix_ns) AS start_time, utc_text(end_unix_ns) AS end_time, unknown_gaps, loss_detection
FROM (
    SELECT e.*,
        (SELECT t.reference_unix_ns + nearest((e.first_n - t.reference_n) * t.period_ns)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n LIMIT 1) AS start_unix_ns,
        (SELECT t.reference_unix_ns + nearest((e.last_n - t.reference_n) * t.period_ns)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n DESC LIMIT 1) AS end_unix_ns
    FROM (
        SELECT st.recording_id, st.id AS stream_id, st.name AS stream, st.bank, st.view_name, st.sampling_frequency,
            CASE WHEN st.counter_modulus IS NOT NULL THEN 'counter' ELSE coalesce(
                (SELECT means FROM loss_detection WHERE stream_id = st.id ORDER BY first_n DESC LIMIT 1), 'nothing') END
                AS loss_detection,
            (SELECT string_agg(name, ' ' ORDER BY number) FROM channel WHERE stream_id = st.id) AS channels,
            least((SELECT min(first_n) FROM sample_block WHERE stream = st.uuid),
                (SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS first_n,
            greatest(
                (SELECT first_n + row_count - 1 FROM sample_block WHERE stream = st.uuid ORDER BY first_n DESC LIMIT 1),
                (SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS last_n,
            (SELECT coalesce(sum(count - recovered), 0)::bigint FROM gap WHERE stream_id = st.id AND channel = 0) AS missing_n,
            (SELECT coalesce(sum(b.missing), 0)::bigint FROM gap_between_boots AS b WHERE b.stream_id = st.id)
                AS missing_between_boots,
            (SELECT count(*) FROM gap_between_boots AS b WHERE b.stream_id = st.id AND b.missing IS NULL)
                + (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS unknown_gaps,
            (SELECT coalesce(sum(recovered), 0)::bigint FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        FROM stream AS st) AS e) AS f;

-- Every recording with its times and sums over its streams.
CREATE VIEW recording_overview WITH (security_invoker = true) AS
SELECT r.id AS recording_id, h.name AS headset, h.model, h.serial_number, r.label, r.subject, r.task,
    CASE WHEN r.stopped_boottime_ns IS NOT NULL THEN 'stopped'
        WHEN r.desired_state = 'stopped' THEN 'stopping'
        WHEN r.started_boottime_ns IS NULL THEN 'waiting'
        ELSE 'recording' END AS state,
    utc_text(o.start_unix_ns) AS start_time, utc_text(o.end_unix_ns) AS end_time,
    (o.end_unix_ns - o.start_unix_ns) / 1e9::double precision AS duration_seconds, o.view_names, coalesce(o.rows, 0) AS rows,
    coalesce(o.missing, 0) AS missing, coalesce(o.recovered, 0) AS recovered, coalesce(o.gaps, 0) AS gaps,
    o.start_unix_ns, o.end_unix_ns,
    requested.offset_ns + r.requested_boottime_ns AS requested_unix_ns,
    stopped.offset_ns + r.stopped_boottime_ns AS stopped_unix_ns,
    t.name AS study, r.uuid AS uuid
FROM recording AS r
JOIN headset AS h ON h.id = r.headset_id
JOIN study AS t ON t.id = r.study_id
JOIN host_boot_clock AS requested ON requested.host_boot_id = r.requested_host_boot_id
LEFT JOIN host_boot_clock AS stopped ON stopped.host_boot_id = r.stopped_host_boot_id
LEFT JOIN LATERAL (
    SELECT min(s.start_unix_ns) AS start_unix_ns, max(s.end_unix_ns) AS end_unix_ns,
        string_agg(DISTINCT s.view_name, ',') AS view_names, sum(s.rows)::bigint AS rows, sum(s.missing)::bigint AS missing,
        sum(s.recovered)::bigint AS recovered, sum(s.gaps)::bigint AS gaps
    FROM stream_overview AS s WHERE s.recording_id = r.id) AS o ON true;

-- Annotations that hold, with their times: what is said of a sample follows its time.
CREATE VIEW annotation_time WITH (security_invoker = true) AS
SELECT recording_id, onset_unix_ns, utc_text(onset_unix_ns) AS onset, duration_seconds, description, source, annotation_id,
    view_name, n, device_ticks, code
FROM (
    SELECT a.recording_id,
        coalesce(sample_unix_ns(a.stream_id, a.n), k.offset_ns + a.boottime_ns) AS onset_unix_ns, a.duration_seconds,
        a.description, a.source, a.id AS annotation_id, (SELECT view_name FROM stream WHERE id = a.stream_id) AS view_name,
        a.n, a.device_ticks, a.code
    FROM annotation AS a JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id
    WHERE a.withdrawn_boottime_ns IS NULL) AS e;

CREATE VIEW link_provenance WITH (security_invoker = true) AS
SELECT l.id AS link, h.name AS headset, l.recording_id AS recording,
    utc_text(l.began_boottime_ns + k.offset_ns) AS began, utc_text(l.ended_boottime_ns + k.offset_ns) AS ended,
    l.facts ->> 'eegsync' AS eegsync, l.facts ->> 'kernel' AS kernel, l.facts ->> 'bluetoothd' AS bluetoothd,
    l.facts ->> 'route' AS route, l.facts ->> 'adapter' AS adapter, l.facts ->> 'model' AS model,
    l.facts ->> 'model_number' AS model_number, l.facts ->> 'firmware_revision' AS firmware_revision,
    l.facts ->> 'hardware_revision' AS hardware_revision, l.facts ->> 'software_revision' AS software_revision,
    l.facts ->> 'preset' AS preset, l.facts ->> 'settings' AS settings, l.facts ->> 'montage' AS montage,
    l.facts ->> 'reference' AS reference, l.facts ->> 'ground' AS ground
FROM link AS l
JOIN recording AS r ON r.id = l.recording_id
JOIN headset AS h ON h.id = r.headset_id
JOIN host_boot_clock AS k ON k.host_boot_id = l.host_boot_id;

-- The samples of a stream of a recording from one instant to another, in physical units: element i of value is channel i.
-- Reads the blocks that can hold them and no others.
CREATE FUNCTION samples(of_recording bigint, of_stream text, from_time timestamptz, to_time timestamptz,
    of_bank integer DEFAULT 0)
RETURNS TABLE (n bigint, unix_ns bigint, "time" text, value double precision[]) LANGUAGE sql STABLE AS $$
    WITH wanted AS (
        SELECT st.id, st.uuid, t.first_n, t.last_n, t.reference_n, t.reference_unix_ns, t.period_ns,
            lag(t.first_n) OVER w IS NULL AS is_first, lead(t.first_n) OVER w AS next_n,
            (extract(epoch FROM from_time) * 1000000000)::bigint AS from_ns,
            (extract(epoch FROM to_time) * 1000000000)::bigint AS to_ns
        FROM stream AS st JOIN segment_time AS t ON t.stream_id = st.id
        WHERE st.recording_id = of_recording AND st.name = of_stream AND st.bank = of_bank
        WINDOW w AS (ORDER BY t.first_n)),
    piece AS (
        SELECT id, uuid, reference_n, reference_unix_ns, period_ns, from_ns, to_ns,
            greatest(CASE WHEN is_first THEN -9223372036854775808 ELSE first_n END,
                reference_n + floor((from_ns - reference_unix_ns) / period_ns)::bigint) AS low,
            least(coalesce(next_n - 1, 9223372036854775807),
                reference_n + ceil((to_ns - reference_unix_ns) / period_ns)::bigint) AS high
        FROM wanted)
    SELECT s.n, s.unix_ns, utc_text(s.unix_ns), (
        SELECT array_agg(c.scale * s.raw[c.number] + c."offset" ORDER BY c.number) FROM channel AS c WHERE c.stream_id = s.id)
    FROM (
        SELECT p.id, b.first_n + v.i - 1 AS n,
            p.reference_unix_ns + nearest((b.first_n + v.i - 1 - p.reference_n) * p.period_ns) AS unix_ns, p.from_ns, p.to_ns,
            ARRAY[
                CASE WHEN b.c1 IS NOT NULL THEN coalesce(v.c1, patched_value(p.uuid, 1, b.first_n + v.i - 1)) END,
                CASE WHEN b.c2 IS NOT NULL THEN coalesce(v.c2, patched_value(p.uuid, 2, b.first_n + v.i - 1)) END,
                CASE WHEN b.c3 IS NOT NULL THEN coalesce(v.c3, patched_value(p.uuid, 3, b.first_n + v.i - 1)) END,
                CASE WHEN b.c4 IS NOT NULL THEN coalesce(v.c4, patched_value(p.uuid, 4, b.first_n + v.i - 1)) END,
                CASE WHEN b.c5 IS NOT NULL THEN coalesce(v.c5, patched_value(p.uuid, 5, b.first_n + v.i - 1)) END,
                CASE WHEN b.c6 IS NOT NULL THEN coalesce(v.c6, patched_value(p.uuid, 6, b.first_n + v.i - 1)) END,
                CASE WHEN b.c7 IS NOT NULL THEN coalesce(v.c7, patched_value(p.uuid, 7, b.first_n + v.i - 1)) END,
                CASE WHEN b.c8 IS NOT NULL THEN coalesce(v.c8, patched_value(p.uuid, 8, b.first_n + v.i - 1)) END] AS raw,
            p.low, p.high
        FROM piece AS p
        JOIN sample_block AS b ON b.stream = p.uuid
            AND b.first_n BETWEEN greatest(p.low, -9223372036854771712) - 4095 AND p.high
        CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY
            AS v (c1, c2, c3, c4, c5, c6, c7, c8, i)
        WHERE p.low <= p.high) AS s
    WHERE s.n BETWEEN s.low AND s.high AND s.unix_ns >= s.from_ns AND s.unix_ns < s.to_ns
    ORDER BY s.n
$$;
