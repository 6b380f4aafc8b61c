-- What is asked of one machine is asked of a centre with the same names: the history of connections, processes and machines,
-- marks by sample, checks of signals and impedances by time, how certain a stream's losses are, and whether all is as it was
-- written.

-- A machine may have a stream of such a name, and the centre the view of it.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['history', 'annotation_onset', 'annotation_sample', 'annotation_history', 'signal_check_time',
        'impedance_time', 'stream_certainty', 'epoch_link'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;

CREATE VIEW signal_check_time WITH (security_invoker = true) AS
SELECT e.recording_id, e.stream, e.bank, e.view_name, e.stream_id, e.channel, e.condition, e.first_n, e.last_n, e.sample_count,
    e.railed_fraction, e.peak_to_peak, e.line_50_hz, e.line_60_hz, e.unit, e.start_unix_ns, e.end_unix_ns,
    utc_text(e.start_unix_ns) AS start_time, utc_text(e.end_unix_ns) AS end_time
FROM (
    SELECT st.recording_id, st.name AS stream, st.bank, st.view_name, q.stream_id, c.name AS channel, q.condition, q.first_n,
        q.last_n, q.sample_count, q.railed_fraction, q.peak_to_peak * abs(c.scale) AS peak_to_peak, q.line_50_hz, q.line_60_hz,
        c.unit,
        (SELECT g.reference_unix_ns + nearest((q.first_n - g.reference_n) * g.period_ns) FROM segment_time AS g
        WHERE g.stream_id = q.stream_id AND g.first_n <= q.first_n ORDER BY g.first_n DESC LIMIT 1) AS start_unix_ns,
        (SELECT g.reference_unix_ns + nearest((q.last_n - g.reference_n) * g.period_ns) FROM segment_time AS g
        WHERE g.stream_id = q.stream_id AND g.first_n <= q.last_n ORDER BY g.first_n DESC LIMIT 1) AS end_unix_ns
    FROM signal_check AS q
    JOIN stream AS st ON st.id = q.stream_id
    JOIN channel AS c ON c.stream_id = q.stream_id AND c.number = q.channel) AS e;

CREATE VIEW impedance_time WITH (security_invoker = true) AS
SELECT i.recording_id, k.offset_ns + i.boottime_ns AS unix_ns, utc_text(k.offset_ns + i.boottime_ns) AS "time", i.electrode,
    i.kilohms
FROM impedance AS i JOIN host_boot_clock AS k ON k.host_boot_id = i.host_boot_id;

CREATE VIEW stream_certainty WITH (security_invoker = true) AS
SELECT e.recording_id, e.view_name, e.stream, e.bank, e.stream_id, e.loss_detection, e.counted,
    e.timed_n + e.timed_between_boots AS timed,
    CASE WHEN e.unstated = 0 THEN e.uncertainty_n + e.uncertainty_between_boots END AS uncertainty, e.unknown, e.unknown_gaps
FROM (
    SELECT o.recording_id, o.view_name, o.stream, o.bank, o.stream_id, o.loss_detection, o.unknown_gaps, g.counted, g.timed_n,
        b.missing AS timed_between_boots, g.unstated, g.uncertainty_n,
        -- as in gap_time
        b.count * (nearest(0.1 * o.sampling_frequency) + 1) AS uncertainty_between_boots, g.unknown
    FROM stream_overview AS o
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(count - recovered) FILTER (WHERE certainty = 'counted'), 0)::bigint AS counted,
            coalesce(sum(count - recovered) FILTER (WHERE certainty = 'timed'), 0)::bigint AS timed_n,
            count(*) FILTER (WHERE certainty = 'timed' AND count > recovered AND uncertainty IS NULL) AS unstated,
            coalesce(sum(uncertainty) FILTER (WHERE certainty = 'timed' AND count > recovered), 0)::bigint AS uncertainty_n,
            coalesce(sum(count - recovered) FILTER (WHERE certainty = 'unknown'), 0)::bigint AS unknown
        FROM gap WHERE stream_id = o.stream_id AND channel = 0) AS g
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(missing), 0)::bigint AS missing, count(missing) AS count
        FROM gap_between_boots WHERE stream_id = o.stream_id) AS b) AS e;

CREATE VIEW annotation_onset WITH (security_invoker = true) AS
SELECT a.id AS annotation_id, a.recording_id, coalesce(g.host_boot_id, a.host_boot_id) AS host_boot_id,
    coalesce(g.reference_boottime_ns + nearest((a.n - g.reference_n) * g.period_ns), a.boottime_ns) AS boottime_ns,
    a.duration_seconds, a.description, a.source, a.stream_id AS said_of_stream_id, a.n AS said_of_n, a.device_ticks, a.code,
    (SELECT o.id FROM annotation AS o WHERE o.uuid = a.replaces) AS replaces
FROM annotation AS a
LEFT JOIN segment AS g ON g.stream_id = a.stream_id AND g.first_n = coalesce(
    (SELECT max(o.first_n) FROM segment AS o WHERE o.stream_id = a.stream_id AND o.first_n <= a.n),
    (SELECT min(o.first_n) FROM segment AS o WHERE o.stream_id = a.stream_id))
WHERE a.withdrawn_boottime_ns IS NULL;

CREATE VIEW annotation_sample WITH (security_invoker = true) AS
SELECT e.recording_id, e.view_name, e.stream, e.stream_id,
    CASE WHEN e.said_of_stream_id = e.stream_id THEN e.said_of_n
        WHEN e.x < e.first_n THEN CASE WHEN e.before_n IS NULL OR e.x > e.before_n THEN e.x END
        WHEN e.next_n IS NULL OR e.x < e.next_n THEN e.x
        WHEN (e.x - e.next_n) * e.period_ns <= 1000000000 THEN e.next_n END AS n,
    utc_text(e.onset_unix_ns) AS onset, e.onset_unix_ns, e.duration_seconds, e.description, e.source, e.annotation_id, e.code
FROM (
    SELECT o.*, g.first_n, g.period_ns,
        nearest(g.reference_n + (o.boottime_ns - g.reference_boottime_ns) / g.period_ns) AS x,
        (SELECT min(s.first_n) FROM segment AS s WHERE s.stream_id = o.stream_id AND s.first_n > g.first_n) AS next_n,
        (SELECT s.last_n FROM segment AS s WHERE s.stream_id = o.stream_id AND s.first_n < g.first_n
        ORDER BY s.first_n DESC LIMIT 1) AS before_n
    FROM (
        SELECT a.recording_id, st.view_name, st.name AS stream, st.id AS stream_id,
            k.offset_ns + a.boottime_ns AS onset_unix_ns, a.duration_seconds, a.description, a.source, a.annotation_id, a.code,
            a.said_of_stream_id, a.said_of_n, a.boottime_ns,
            coalesce(
                (SELECT s.first_n FROM segment AS s WHERE s.stream_id = st.id AND s.host_boot_id = a.host_boot_id
                    AND trunc(s.reference_boottime_ns + (s.first_n - s.reference_n) * s.period_ns) <= a.boottime_ns
                ORDER BY trunc(s.reference_boottime_ns + (s.first_n - s.reference_n) * s.period_ns) DESC LIMIT 1),
                (SELECT s.first_n FROM segment AS s WHERE s.stream_id = st.id AND s.host_boot_id = a.host_boot_id
                ORDER BY trunc(s.reference_boottime_ns + (s.first_n - s.reference_n) * s.period_ns) LIMIT 1)) AS segment_n
        FROM annotation_onset AS a
        JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id
        JOIN stream AS st ON st.recording_id = a.recording_id AND st.bank = (
            SELECT min(o.bank) FROM stream AS o WHERE o.recording_id = st.recording_id AND o.view_name = st.view_name)) AS o
    LEFT JOIN segment AS g ON g.stream_id = o.stream_id AND g.first_n = o.segment_n) AS e;

CREATE VIEW annotation_history WITH (security_invoker = true) AS
SELECT e.recording_id, e.onset_unix_ns, utc_text(e.onset_unix_ns) AS onset, e.duration_seconds, e.description, e.source,
    e.annotation_id, e.view_name, e.n, e.device_ticks, e.code, e.replaces, e.replaced_by, e.withdrawn_unix_ns,
    utc_text(e.withdrawn_unix_ns) AS withdrawn
FROM (
    SELECT a.recording_id,
        k.offset_ns + coalesce(g.reference_boottime_ns + nearest((a.n - g.reference_n) * g.period_ns), a.boottime_ns)
            AS onset_unix_ns,
        a.duration_seconds, a.description, a.source, a.id AS annotation_id,
        (SELECT st.view_name FROM stream AS st WHERE st.id = a.stream_id) AS view_name, a.n, a.device_ticks, a.code,
        (SELECT o.id FROM annotation AS o WHERE o.uuid = a.replaces) AS replaces,
        (SELECT max(o.id) FROM annotation AS o WHERE o.replaces = a.uuid) AS replaced_by,
        w.offset_ns + a.withdrawn_boottime_ns AS withdrawn_unix_ns
    FROM annotation AS a
    LEFT JOIN segment AS g ON g.stream_id = a.stream_id AND g.first_n = coalesce(
        (SELECT max(o.first_n) FROM segment AS o WHERE o.stream_id = a.stream_id AND o.first_n <= a.n),
        (SELECT min(o.first_n) FROM segment AS o WHERE o.stream_id = a.stream_id))
    JOIN host_boot_clock AS k ON k.host_boot_id = coalesce(g.host_boot_id, a.host_boot_id)
    LEFT JOIN host_boot_clock AS w ON w.host_boot_id = a.withdrawn_host_boot_id) AS e;

CREATE VIEW epoch_link WITH (security_invoker = true) AS
SELECT e.stream_id, e.number AS epoch, e.first_n,
    (SELECT l.id FROM link AS l
    WHERE l.recording_id = st.recording_id AND l.host_boot_id = e.host_boot_id AND l.began_boottime_ns <= e.boottime_ns
    ORDER BY l.began_boottime_ns DESC LIMIT 1) AS link
FROM epoch AS e JOIN stream AS st ON st.id = e.stream_id;

-- A machine's rows are sent with each recording that they belong to, as they were then: of one that came twice, the latest.
CREATE VIEW history WITH (security_invoker = true) AS
WITH run AS (
    SELECT DISTINCT ON (p.host_boot_id, p.started_boottime_ns) p.*, b.role
    FROM process AS p JOIN host_boot AS b ON b.id = p.host_boot_id
    ORDER BY p.host_boot_id, p.started_boottime_ns, p.ended_boottime_ns NULLS LAST, p.alive_boottime_ns DESC NULLS LAST
), boot AS (
    SELECT run.*, lag(run.host_boot_id) OVER w AS before_host_boot_id, lead(run.id) OVER w IS NULL AS is_latest
    FROM run WINDOW w AS (PARTITION BY run.role ORDER BY run.id)
)
SELECT e.headset, e.kind, e.name, e.cause, e.detail, e.layer, e.address, e.attempt, e.count, e.duration_ns, b.uuid AS host_boot,
    e.host_boot_id, e.boottime_ns, e.last_boottime_ns, k.offset_ns + e.boottime_ns AS unix_ns,
    k.offset_ns + e.last_boottime_ns AS last_unix_ns, utc_text(k.offset_ns + e.boottime_ns) AS "time", k.is_synchronised,
    b.role::text AS machine
FROM (
    SELECT * FROM (
        SELECT DISTINCT ON (h.name, c.host_boot_id, c.boottime_ns, c.id) h.name AS headset, 'connection' AS kind,
            c.state AS name, c.cause, c.detail, c.layer, NULL::text AS address, c.attempt, c.count, NULL::bigint AS duration_ns,
            c.host_boot_id, c.boottime_ns, c.last_boottime_ns, 2 AS rank, c.id
        FROM connection_event AS c JOIN headset AS h ON h.id = c.headset_id
        ORDER BY h.name, c.host_boot_id, c.boottime_ns, c.id, c.count DESC NULLS LAST) AS c
    UNION ALL
    SELECT * FROM (
        SELECT DISTINCT ON (h.name, a.host_boot_id, a.ended_boottime_ns, a.id) h.name, 'attempt', a.outcome, a.cause, a.detail,
            a.layer, a.address, a.attempt, a.count, a.ended_boottime_ns - a.began_boottime_ns, a.host_boot_id,
            a.ended_boottime_ns, a.last_boottime_ns, 1, a.id
        FROM connection_attempt AS a JOIN headset AS h ON h.id = a.headset_id
        ORDER BY h.name, a.host_boot_id, a.ended_boottime_ns, a.id, a.count DESC NULLS LAST) AS a
    UNION ALL
    SELECT DISTINCT h.name, 'return', 'returned', r.cause, w.meaning, r.layer, NULL, r.attempts, 1::bigint,
        r.boottime_ns - r.heard_boottime_ns, r.host_boot_id, r.boottime_ns, NULL::bigint, 3, r.id
    FROM streaming_return AS r JOIN headset AS h ON h.id = r.headset_id LEFT JOIN gap_cause AS w ON w.cause = r.cause
    UNION ALL
    SELECT NULL, 'process', 'started', NULL, p.version, NULL, NULL, p.taken_over, 1, NULL, p.host_boot_id,
        p.started_boottime_ns, NULL, 0, p.id
    FROM run AS p
    UNION ALL
    SELECT NULL, 'process', 'ended', p.end_cause, NULL, NULL, NULL, NULL, 1, p.ended_boottime_ns - p.started_boottime_ns,
        p.host_boot_id, p.ended_boottime_ns, NULL, 9, p.id
    FROM run AS p WHERE p.ended_boottime_ns IS NOT NULL
    UNION ALL
    SELECT NULL, 'process', 'died', p.end_cause, NULL, NULL, NULL, NULL, 1, p.alive_boottime_ns - p.started_boottime_ns,
        p.host_boot_id, p.alive_boottime_ns, NULL, 9, p.id
    FROM boot AS p WHERE p.ended_boottime_ns IS NULL AND NOT p.is_latest
    UNION ALL
    SELECT NULL, 'machine', 'rebooted', NULL, NULL, NULL, NULL, NULL, 1, NULL, p.host_boot_id, 0, NULL, 0, p.id
    FROM boot AS p WHERE p.host_boot_id <> p.before_host_boot_id
    UNION ALL
    SELECT DISTINCT NULL, 'machine', 'suspended', NULL, NULL, NULL, NULL, NULL::bigint, 1::bigint, s.duration_ns,
        s.host_boot_id, s.resumed_boottime_ns - s.duration_ns, NULL::bigint, 0, s.id
    FROM suspension AS s
    UNION ALL
    SELECT DISTINCT NULL, 'machine', 'resumed', NULL, NULL, NULL, NULL, NULL::bigint, 1::bigint, s.duration_ns,
        s.host_boot_id, s.resumed_boottime_ns, NULL::bigint, 0, s.id
    FROM suspension AS s
    UNION ALL
    SELECT NULL, 'machine', 'clockStepped', NULL, NULL, NULL, NULL, NULL, 1, o.step_ns, o.host_boot_id, o.boottime_ns, NULL, 0,
        o.id
    FROM clock_offset AS o WHERE abs(o.step_ns) >= 100000000
    UNION ALL
    SELECT DISTINCT NULL, 'machine', 'rowsHeld', NULL, d.detail, NULL, NULL, NULL::bigint, 1::bigint, NULL::bigint,
        d.host_boot_id, d.began_boottime_ns, NULL::bigint, 0, d.id
    FROM full_disk AS d
    UNION ALL
    SELECT DISTINCT NULL, 'machine', 'rowsStored', NULL, NULL, NULL, NULL, NULL::bigint, 1::bigint,
        d.ended_boottime_ns - d.began_boottime_ns, d.host_boot_id, d.ended_boottime_ns, NULL::bigint, 0, d.id
    FROM full_disk AS d WHERE d.ended_boottime_ns IS NOT NULL) AS e
JOIN host_boot AS b ON b.id = e.host_boot_id
JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
ORDER BY b.role, e.host_boot_id, e.boottime_ns, e.rank, e.id;

GRANT SELECT ON history, annotation_onset, annotation_sample, annotation_history, signal_check_time, impedance_time,
    stream_certainty, epoch_link TO eegsync_read, eegsync_admin;

-- Bytes of numbers, the least first, as digests have them (page Evidence).
CREATE FUNCTION little_endian(v integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT int4send(((v & 255) << 24) | ((v & 65280) << 8) | ((v >> 8) & 65280) | ((v >> 24) & 255))
$$;

CREATE FUNCTION little_endian(v bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT int8send(((v & 255) << 56) | ((v & 65280) << 40) | ((v & 16711680) << 24) | ((v & 4278190080) << 8)
        | ((v >> 8) & 4278190080) | ((v >> 24) & 16711680) | ((v >> 40) & 65280) | ((v >> 56) & 255))
$$;

-- What is not as its machine has written it: streams whose rows and missing samples are not what the ledger says, and blocks of
-- digests whose rows or values are others. Where a row came late it is in no block of the chain `live`, and a value that came
-- late counts as none in the row's block and has a block of its own.
CREATE FUNCTION audit_recording(of_recording bigint) RETURNS TABLE (stream_id bigint, stream text, bank integer, finding text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
    st record;
    item record;
    previous bytea;
    chain text;
    -- which n came late, of each channel, and of whole rows at the end
    late int8multirange[];
    span int8range;
    content bytea;
BEGIN
    FOR st IN SELECT s.id, s.uuid, s.name, s.bank, (SELECT count(*) FROM channel AS c WHERE c.stream_id = s.id) AS width
        FROM stream AS s WHERE s.recording_id = of_recording ORDER BY s.id
    LOOP
        stream_id := st.id;
        stream := st.name;
        bank := st.bank;
        IF NOT is_whole(st.id) THEN
            finding := 'rows and missing samples are not what the ledger says';
            RETURN NEXT;
        END IF;
        late := ARRAY(
            SELECT coalesce((SELECT range_agg(int8range(b.first_n, b.last_n + 1)) FROM block AS b
                WHERE b.stream_id = st.id AND b.chain = 'late' AND b.channel = c % 9), '{}')
            FROM generate_series(1, 9) AS c ORDER BY c);
        chain := NULL;
        FOR item IN SELECT b.* FROM block AS b WHERE b.stream_id = st.id ORDER BY b.chain, b.number LOOP
            IF chain IS DISTINCT FROM item.chain THEN
                chain := item.chain;
                previous := sha256(convert_to(st.uuid || E'\n' || chain || E'\n', 'UTF8'));
            END IF;
            span := int8range(item.first_n, item.last_n + 1);
            IF item.channel = 0 THEN
                SELECT string_agg(
                    little_endian(r.n) || little_endian(coalesce(r.c1, 0))
                    || CASE WHEN st.width > 1 THEN little_endian(coalesce(r.c2, 0)) ELSE '' END
                    || CASE WHEN st.width > 2 THEN little_endian(coalesce(r.c3, 0)) ELSE '' END
                    || CASE WHEN st.width > 3 THEN little_endian(coalesce(r.c4, 0)) ELSE '' END
                    || CASE WHEN st.width > 4 THEN little_endian(coalesce(r.c5, 0)) ELSE '' END
                    || CASE WHEN st.width > 5 THEN little_endian(coalesce(r.c6, 0)) ELSE '' END
                    || CASE WHEN st.width > 6 THEN little_endian(coalesce(r.c7, 0)) ELSE '' END
                    || CASE WHEN st.width > 7 THEN little_endian(coalesce(r.c8, 0)) ELSE '' END
                    || set_byte('\x00'::bytea, 0, (
                        (r.c1 IS NULL)::int | ((r.c2 IS NULL)::int << 1) | ((r.c3 IS NULL)::int << 2)
                        | ((r.c4 IS NULL)::int << 3) | ((r.c5 IS NULL)::int << 4) | ((r.c6 IS NULL)::int << 5)
                        | ((r.c7 IS NULL)::int << 6) | ((r.c8 IS NULL)::int << 7)) & ((1 << st.width::int) - 1)), ''
                    ORDER BY r.n)
                INTO content
                FROM (
                    SELECT e.n, CASE WHEN late[1] @> e.n THEN NULL ELSE e.c1 END AS c1,
                        CASE WHEN late[2] @> e.n THEN NULL ELSE e.c2 END AS c2,
                        CASE WHEN late[3] @> e.n THEN NULL ELSE e.c3 END AS c3,
                        CASE WHEN late[4] @> e.n THEN NULL ELSE e.c4 END AS c4,
                        CASE WHEN late[5] @> e.n THEN NULL ELSE e.c5 END AS c5,
                        CASE WHEN late[6] @> e.n THEN NULL ELSE e.c6 END AS c6,
                        CASE WHEN late[7] @> e.n THEN NULL ELSE e.c7 END AS c7,
                        CASE WHEN late[8] @> e.n THEN NULL ELSE e.c8 END AS c8
                    FROM (
                        SELECT b.first_n + v.i - 1 AS n, v.*
                        FROM sample_block AS b
                        CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY
                            AS v (c1, c2, c3, c4, c5, c6, c7, c8, i)
                        WHERE b.stream = st.uuid AND b.first_n BETWEEN item.first_n - 4095 AND item.last_n) AS e
                    WHERE span @> e.n AND NOT (item.chain = 'live' AND late[9] @> e.n)) AS r;
            ELSE
                SELECT string_agg(
                    little_endian(r.n) || little_endian(coalesce(r.value, 0))
                    || set_byte('\x00'::bytea, 0, (r.value IS NULL)::int), '' ORDER BY r.n)
                INTO content
                FROM (
                    SELECT b.first_n + v.i - 1 AS n, coalesce(
                        v.value, patched_value(st.uuid, item.channel, b.first_n + v.i - 1)) AS value
                    FROM sample_block AS b
                    CROSS JOIN LATERAL unnest(CASE item.channel WHEN 1 THEN b.c1 WHEN 2 THEN b.c2 WHEN 3 THEN b.c3
                        WHEN 4 THEN b.c4 WHEN 5 THEN b.c5 WHEN 6 THEN b.c6 WHEN 7 THEN b.c7 ELSE b.c8 END) WITH ORDINALITY
                        AS v (value, i)
                    WHERE b.stream = st.uuid AND b.first_n BETWEEN item.first_n - 4095 AND item.last_n
                        AND span @> b.first_n + v.i - 1) AS r;
            END IF;
            IF sha256(previous || set_byte('\x00'::bytea, 0, item.channel) || coalesce(content, '')) <> item.digest THEN
                finding := format('the rows from n %s to %s%s are not those that were written', item.first_n, item.last_n,
                    CASE item.channel WHEN 0 THEN '' ELSE format(' of channel %s', item.channel) END);
                RETURN NEXT;
            END IF;
            previous := item.digest;
        END LOOP;
        IF chain IS NULL AND EXISTS (SELECT 1 FROM sample_block AS b WHERE b.stream = st.uuid) THEN
            finding := 'its rows have no digests here';
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION little_endian(integer), little_endian(bigint), audit_recording FROM PUBLIC;
GRANT EXECUTE ON FUNCTION little_endian(integer), little_endian(bigint), audit_recording TO eegsync_read, eegsync_admin;
