-- Recordings of one headset by two machines: which of their samples are the same, whether their values agree, and what one
-- lacks that the other one has, by the rules of `eegsync merge`. Everything reads with the rights of who asks.

-- A machine may have a stream of such a name, and the centre the view of it.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['twin_epoch', 'twin_conflict', 'recording_twin'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;

CREATE INDEX epoch_by_boot ON epoch (boot_identifier) WHERE boot_identifier IS NOT NULL;

-- Epochs of two recordings of a study that are of one boot of one headset, each pair in both directions: the headset itself
-- counts their samples, and those n from first_n to last_n are the samples n + shift of the other stream, as far as each has
-- them. An epoch in which the counter has wrapped is none of them: what it says holds up to whole wraps only. `is_only`: no
-- other epoch of either stream names the same boot.
CREATE VIEW twin_epoch WITH (security_invoker = true) AS
SELECT e.recording_id, e.stream_id, e.other_recording_id, e.other_stream_id, e.boot_identifier, e.epoch, e.other_epoch, e.shift,
    e.first_n, e.last_n, e.is_only
FROM (
    SELECT sa.recording_id, a.stream_id, sb.recording_id AS other_recording_id, b.stream_id AS other_stream_id,
        a.boot_identifier, a.number AS epoch, b.number AS other_epoch, k.shift,
        greatest(a.first_n, b.first_n - k.shift) AS first_n,
        least(l.last_n, l.other_last_n - k.shift) AS last_n, l.is_only
    FROM epoch AS a
    JOIN epoch AS b ON b.boot_identifier = a.boot_identifier AND a.first_index >= 0 AND b.first_index >= 0
    JOIN stream AS sa ON sa.id = a.stream_id
    JOIN stream AS sb ON sb.id = b.stream_id AND sb.recording_id <> sa.recording_id
        AND (sb.name, sb.bank, sb.channel_count, sb.samples_per_count, sb.counter_modulus)
        = (sa.name, sa.bank, sa.channel_count, sa.samples_per_count, sa.counter_modulus)
    JOIN recording AS ra ON ra.id = sa.recording_id
    JOIN recording AS rb ON rb.id = sb.recording_id AND rb.study_id = ra.study_id
    JOIN headset AS ha ON ha.id = ra.headset_id
    -- Each machine has a row of its own for a headset.
    JOIN headset AS hb ON hb.id = rb.headset_id AND hb.model = ha.model
        AND (hb.uuid = ha.uuid OR hb.serial_number = ha.serial_number)
    CROSS JOIN LATERAL (SELECT a.first_index - a.first_n - (b.first_index - b.first_n) AS shift) AS k
    -- OFFSET: looked up for the few pairs that are left, and not for each epoch of the study.
    CROSS JOIN LATERAL (
        SELECT coalesce(
                (SELECT o.first_n - 1 FROM epoch AS o
                WHERE o.stream_id = a.stream_id AND o.number > a.number ORDER BY o.number LIMIT 1),
                (SELECT o.first_n + o.row_count - 1 FROM sample_block AS o WHERE o.stream = sa.uuid
                ORDER BY o.first_n DESC LIMIT 1)) AS last_n,
            coalesce(
                (SELECT o.first_n - 1 FROM epoch AS o
                WHERE o.stream_id = b.stream_id AND o.number > b.number ORDER BY o.number LIMIT 1),
                (SELECT o.first_n + o.row_count - 1 FROM sample_block AS o WHERE o.stream = sb.uuid
                ORDER BY o.first_n DESC LIMIT 1)) AS other_last_n,
            (SELECT count(*) FROM epoch AS o
            WHERE o.stream_id IN (a.stream_id, b.stream_id) AND o.boot_identifier = a.boot_identifier) = 2 AS is_only
        OFFSET 0) AS l
    WHERE a.first_index + (l.last_n - a.first_n) < sa.counter_modulus * sa.samples_per_count
        AND b.first_index + (l.other_last_n - b.first_n) < sb.counter_modulus * sb.samples_per_count) AS e
WHERE e.first_n <= e.last_n;

-- How many numbers are in ranges, and ranges with something added to each number. Functions that read tables with policies are
-- planned once for a session, and not compiled: to plan such a query, and to compile it, takes longer than to run it.
CREATE FUNCTION sample_count(ranges int8multirange) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT coalesce(sum(upper(r) - lower(r)), 0)::bigint FROM unnest(ranges) AS r$$;

CREATE FUNCTION moved(ranges int8multirange, shift bigint) RETURNS int8multirange LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT coalesce(range_agg(int8range(lower(r) + shift, upper(r) + shift)), '{}') FROM unnest(ranges) AS r$$;

-- Which of some n of a stream are here.
CREATE FUNCTION stored_rows(of_stream uuid, wanted int8multirange) RETURNS int8multirange
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN (
        SELECT coalesce(range_agg(int8range(b.first_n, b.first_n + b.row_count)), '{}') * wanted FROM sample_block AS b
        WHERE b.stream = of_stream AND b.first_n >= lower(wanted) - 4095 AND b.first_n < upper(wanted));
END
$$;

-- Which of some n have a value of a channel, be it one that came late.
CREATE FUNCTION stored_values(of_stream uuid, of_channel integer, wanted int8multirange) RETURNS int8multirange
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN (
        SELECT coalesce(range_agg(e.range), '{}') * wanted FROM (
            SELECT r.range FROM (
                SELECT b.first_n, CASE of_channel WHEN 1 THEN b.c1 WHEN 2 THEN b.c2 WHEN 3 THEN b.c3 WHEN 4 THEN b.c4
                    WHEN 5 THEN b.c5 WHEN 6 THEN b.c6 WHEN 7 THEN b.c7 ELSE b.c8 END AS list
                FROM sample_block AS b
                WHERE b.stream = of_stream AND b.first_n >= lower(wanted) - 4095 AND b.first_n < upper(wanted)
                    AND wanted && int8range(b.first_n, b.first_n + b.row_count)) AS c
            CROSS JOIN LATERAL (
                SELECT int8range(c.first_n, c.first_n + cardinality(c.list)) AS range
                WHERE array_position(c.list, NULL) IS NULL
                UNION ALL SELECT int8range(c.first_n + v.i - 1, c.first_n + v.i)
                FROM unnest(c.list) WITH ORDINALITY AS v (value, i)
                WHERE array_position(c.list, NULL) IS NOT NULL AND v.value IS NOT NULL) AS r
            UNION ALL
            SELECT int8range(p.first_n, p.first_n + cardinality(p.values)) FROM sample_patch AS p
            WHERE p.stream = of_stream AND p.channel = of_channel) AS e);
END
$$;

-- Which of some rows lack a channel, as the ledger knows.
CREATE FUNCTION lacking_values(of_stream bigint, of_channel integer, rows int8multirange) RETURNS int8multirange
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN (
        SELECT CASE WHEN isempty(e.near) THEN e.near ELSE e.near - stored_values(st.uuid, of_channel, e.near) END
        FROM stream AS st CROSS JOIN LATERAL (
            SELECT rows * coalesce(range_agg(int8range(g.first_n, g.first_n + g.count)), '{}') AS near FROM gap AS g
            WHERE g.stream_id = st.id AND g.channel = of_channel AND g.count > g.recovered) AS e
        WHERE st.id = of_stream);
END
$$;

-- The rows of some n, as the view `sample` has them: late values are joined at once, and not looked for value by value.
CREATE FUNCTION stored_samples(of_stream uuid, wanted int8multirange) RETURNS TABLE (n bigint, c1 integer, c2 integer,
    c3 integer, c4 integer, c5 integer, c6 integer, c7 integer, c8 integer)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.n, coalesce(s.c1, p.c1), coalesce(s.c2, p.c2), coalesce(s.c3, p.c3), coalesce(s.c4, p.c4),
        coalesce(s.c5, p.c5), coalesce(s.c6, p.c6), coalesce(s.c7, p.c7), coalesce(s.c8, p.c8)
    FROM (
        SELECT b.first_n + v.i - 1 AS n, v.c1, v.c2, v.c3, v.c4, v.c5, v.c6, v.c7, v.c8
        FROM sample_block AS b
        CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY
            AS v (c1, c2, c3, c4, c5, c6, c7, c8, i)
        WHERE b.stream = of_stream AND b.first_n >= lower(wanted) - 4095 AND b.first_n < upper(wanted)
            AND wanted && int8range(b.first_n, b.first_n + b.row_count) AND wanted @> b.first_n + v.i - 1) AS s
    LEFT JOIN (
        SELECT p.first_n + v.i - 1 AS n, max(v.value) FILTER (WHERE p.channel = 1) AS c1,
            max(v.value) FILTER (WHERE p.channel = 2) AS c2, max(v.value) FILTER (WHERE p.channel = 3) AS c3,
            max(v.value) FILTER (WHERE p.channel = 4) AS c4, max(v.value) FILTER (WHERE p.channel = 5) AS c5,
            max(v.value) FILTER (WHERE p.channel = 6) AS c6, max(v.value) FILTER (WHERE p.channel = 7) AS c7,
            max(v.value) FILTER (WHERE p.channel = 8) AS c8
        FROM sample_patch AS p CROSS JOIN LATERAL unnest(p.values) WITH ORDINALITY AS v (value, i)
        WHERE p.stream = of_stream AND wanted && int8range(p.first_n, p.first_n + cardinality(p.values)) GROUP BY 1
    ) AS p ON p.n = s.n;
END
$$;

-- Values of the same samples of two streams that differ, with the n of the first one. Only of blocks that are not equal each
-- value is looked at. Bounds are columns of a table of their own, as a condition on a table with policies uses an index only
-- where nothing is computed in it.
CREATE FUNCTION differing_values(of_stream uuid, of_other uuid, shift bigint, from_n bigint, to_n bigint)
RETURNS TABLE (n bigint, channel integer, here integer, there integer)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH own AS MATERIALIZED (
        SELECT b.first_n, b.first_n + b.row_count - 1 AS last_n, b.first_n + shift - 4095 AS low,
            b.first_n + shift + b.row_count AS high, b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8
        FROM sample_block AS b WHERE b.stream = of_stream AND b.first_n BETWEEN from_n - 4095 AND to_n),
    -- Values that came late, with the n of the first stream, and which n blocks with them begin at in the other stream.
    late AS MATERIALIZED (
        SELECT p.stream = of_stream AS is_own, p.channel, k.first_n, k.first_n + cardinality(p.values) - 1 AS last_n, p.values,
            k.first_n + CASE WHEN p.stream = of_stream THEN shift ELSE 0 END - 4095 AS low,
            k.first_n + CASE WHEN p.stream = of_stream THEN shift ELSE 0 END + cardinality(p.values) AS high
        FROM sample_patch AS p
        CROSS JOIN LATERAL (SELECT p.first_n - CASE WHEN p.stream = of_stream THEN 0 ELSE shift END AS first_n) AS k
        WHERE p.stream IN (of_stream, of_other)),
    pair AS (
        SELECT c.channel, a.first_n, a.last_n, c.here, b.first_n - shift AS other_first_n,
            b.first_n - shift + b.row_count - 1 AS other_last_n, c.there
        FROM own AS a JOIN sample_block AS b ON b.stream = of_other AND b.first_n >= a.low AND b.first_n < a.high
        CROSS JOIN LATERAL (VALUES (1, a.c1, b.c1), (2, a.c2, b.c2), (3, a.c3, b.c3), (4, a.c4, b.c4), (5, a.c5, b.c5),
            (6, a.c6, b.c6), (7, a.c7, b.c7), (8, a.c8, b.c8)) AS c (channel, here, there)
        WHERE b.first_n + b.row_count > a.first_n + shift
        UNION ALL
        SELECT p.channel, p.first_n, p.last_n, p.values, b.first_n - shift, b.first_n - shift + b.row_count - 1,
            CASE p.channel WHEN 1 THEN b.c1 WHEN 2 THEN b.c2 WHEN 3 THEN b.c3 WHEN 4 THEN b.c4 WHEN 5 THEN b.c5
                WHEN 6 THEN b.c6 WHEN 7 THEN b.c7 ELSE b.c8 END
        FROM late AS p JOIN sample_block AS b ON b.stream = of_other AND b.first_n >= p.low AND b.first_n < p.high
        WHERE p.is_own
        UNION ALL
        SELECT p.channel, b.first_n, b.first_n + b.row_count - 1,
            CASE p.channel WHEN 1 THEN b.c1 WHEN 2 THEN b.c2 WHEN 3 THEN b.c3 WHEN 4 THEN b.c4 WHEN 5 THEN b.c5
                WHEN 6 THEN b.c6 WHEN 7 THEN b.c7 ELSE b.c8 END, p.first_n, p.last_n, p.values
        FROM late AS p JOIN sample_block AS b ON b.stream = of_stream AND b.first_n >= p.low AND b.first_n < p.high
        WHERE NOT p.is_own
        UNION ALL
        SELECT p.channel, p.first_n, p.last_n, p.values, o.first_n, o.last_n, o.values
        FROM late AS p JOIN late AS o ON o.channel = p.channel AND NOT o.is_own WHERE p.is_own)
    SELECT p.low + v.i - 1, p.channel, v.here, v.there
    FROM (
        SELECT p.channel, k.low, p.here[k.low - p.first_n + 1 : k.high - p.first_n + 1] AS here,
            p.there[k.low - p.other_first_n + 1 : k.high - p.other_first_n + 1] AS there
        FROM pair AS p CROSS JOIN LATERAL (
            SELECT greatest(p.first_n, p.other_first_n, from_n) AS low, least(p.last_n, p.other_last_n, to_n) AS high) AS k
        WHERE k.low <= k.high) AS p
    CROSS JOIN LATERAL unnest(p.here, p.there) WITH ORDINALITY AS v (here, there, i)
    WHERE p.here <> p.there AND v.here <> v.there;
END
$$;

-- Values of one sample that are others in two recordings: the work of a defect, of a changed row, or of a headset that says one
-- boot identifier twice.
CREATE VIEW twin_conflict WITH (security_invoker = true) AS
SELECT t.recording_id, t.stream_id, sa.name AS stream, sa.bank, d.n, d.channel, c.name AS channel_name, d.here, d.there,
    t.other_recording_id, t.other_stream_id, d.n + t.shift AS other_n, t.boot_identifier
FROM twin_epoch AS t
JOIN stream AS sa ON sa.id = t.stream_id
JOIN stream AS sb ON sb.id = t.other_stream_id
CROSS JOIN LATERAL differing_values(sa.uuid, sb.uuid, t.shift, t.first_n, t.last_n) AS d
LEFT JOIN channel AS c ON c.stream_id = t.stream_id AND c.number = d.channel;

-- Whether a boot is believed in no recording: samples of it differ between this one and another, or two others of its headset.
CREATE FUNCTION is_disputed(of_recording bigint, of_boot bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    others bigint[] := ARRAY(SELECT DISTINCT t.other_recording_id FROM twin_epoch AS t
        WHERE t.recording_id = of_recording AND t.boot_identifier = of_boot);
BEGIN
    RETURN EXISTS (SELECT 1 FROM twin_conflict AS d WHERE d.recording_id = of_recording AND d.boot_identifier = of_boot)
        OR cardinality(others) > 1 AND EXISTS (
            SELECT 1 FROM unnest(others) AS o (recording_id) JOIN twin_conflict AS d ON d.recording_id = o.recording_id
            WHERE d.boot_identifier = of_boot AND d.other_recording_id > d.recording_id);
END
$$;

-- How many rows of a stream, and values that came late, the machine has (`block`) and this centre has not.
CREATE FUNCTION rows_to_come(of_stream bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN (
        SELECT greatest(0, e.rows - (SELECT coalesce(sum(b.row_count), 0) FROM sample_block AS b WHERE b.stream = e.uuid))
            + greatest(0, e.values - (
                SELECT coalesce(sum(cardinality(p.values)), 0) FROM sample_patch AS p WHERE p.stream = e.uuid))
        FROM (
            SELECT st.uuid, coalesce(sum(b.row_count) FILTER (WHERE b.channel = 0), 0) AS rows,
                coalesce(sum(b.row_count) FILTER (WHERE b.channel > 0), 0) AS values
            FROM stream AS st LEFT JOIN block AS b ON b.stream_id = st.id WHERE st.id = of_stream GROUP BY st.uuid) AS e);
END
$$;

-- Whether what is here of a stream is what its ledger says, so that nothing of it is still to come.
CREATE FUNCTION is_whole(of_stream bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own stream := (SELECT s FROM stream AS s WHERE s.id = of_stream);
    rows int8multirange := stored_rows(own.uuid, '{[-4611686018427387904,4611686018427387904)}');
    ledger int8multirange;
    counts bigint;
    found bigint;
BEGIN
    SELECT coalesce(range_agg(int8range(g.first_n, g.first_n + g.count)), '{}'), coalesce(sum(g.count), 0),
        coalesce(sum(g.recovered), 0) INTO ledger, counts, found
    FROM gap AS g WHERE g.stream_id = of_stream AND g.channel = 0 AND g.count > 0;
    IF sample_count(ledger) <> counts OR sample_count(rows * ledger) <> found
        OR NOT isempty(int8multirange(range_merge(rows + ledger)) - (rows + ledger))
        OR rows_to_come(of_stream) > 0 THEN RETURN false;
    END IF;
    RETURN NOT EXISTS (
        SELECT 1 FROM gap AS g WHERE g.stream_id = of_stream AND g.channel > 0 GROUP BY g.channel
        HAVING sum(g.count - g.recovered) <> sample_count(lacking_values(of_stream, g.channel, rows)));
END
$$;

-- What the headset declared of a stream's channels, whatever people have corrected since.
CREATE FUNCTION declared_channels(of_stream bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_array(st.sampling_frequency, c.number, coalesce(d.row ->> 'name', c.declared_name, c.name),
            coalesce(d.row ->> 'unit', c.unit), coalesce((d.row ->> 'scale')::double precision, c.scale),
            coalesce((d.row ->> 'offset')::double precision, c."offset")) ORDER BY c.number)
        FROM stream AS st JOIN channel AS c ON c.stream_id = st.id
        LEFT JOIN recording_row AS d ON d.recording_id = st.recording_id AND d.table_name = 'channel_declaration'
            AND d.owner = st.uuid::text AND d.number = c.number
        WHERE st.id = of_stream);
END
$$;

-- Why a stream is not filled from another one; NULL where it is, as far as the other one has what it lacks.
CREATE FUNCTION fill_obstacle(of_stream bigint, of_other bigint, of_boot bigint, is_only boolean) RETURNS text
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own recording := (
        SELECT r FROM recording AS r JOIN stream AS st ON st.recording_id = r.id WHERE st.id = of_stream);
BEGIN
    RETURN CASE
        WHEN own.desired_state = 'recording' THEN 'it is still recorded'
        WHEN NOT is_only THEN 'two epochs of one stream name this boot'
        WHEN declared_channels(of_stream) <> declared_channels(of_other) THEN 'its channels were declared otherwise'
        WHEN NOT is_whole(of_stream) THEN 'what is here of it is not what its ledger says'
        WHEN is_disputed(own.id, of_boot) THEN 'samples of this boot differ' END;
END
$$;

-- How many samples two streams have in common, and what only the other one has: rows, and values of rows of both.
CREATE FUNCTION twin_samples(of_stream bigint, of_other bigint, shift bigint, from_n bigint, to_n bigint,
    OUT samples_shared bigint, OUT rows_only_there bigint, OUT values_only_there bigint)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own stream := (SELECT s FROM stream AS s WHERE s.id = of_stream);
    other stream := (SELECT s FROM stream AS s WHERE s.id = of_other);
    here int8multirange := stored_rows(own.uuid, int8multirange(int8range(from_n, to_n + 1)));
    there int8multirange := moved(stored_rows(other.uuid, int8multirange(int8range(from_n + shift, to_n + shift + 1))), -shift);
BEGIN
    samples_shared := sample_count(here * there);
    rows_only_there := sample_count(there - here);
    SELECT coalesce(sum(sample_count(stored_values(other.uuid, e.channel, moved(e.lacking, shift)))), 0) INTO values_only_there
    FROM (
        SELECT g.channel, lacking_values(of_stream, g.channel, here * there) AS lacking FROM gap AS g
        WHERE g.stream_id = of_stream AND g.channel > 0 GROUP BY g.channel OFFSET 0) AS e
    WHERE NOT isempty(e.lacking);
END
$$;

-- Which recordings have samples of the same boot of a headset, each pair of streams in both directions.
CREATE VIEW recording_twin WITH (security_invoker = true) AS
SELECT e.recording_id, ra.uuid, ra.role AS machine, e.stream_id, sa.name AS stream, sa.bank, e.other_recording_id,
    rb.uuid AS other_uuid, rb.role AS other_machine, e.other_stream_id, e.boot_identifier, e.samples_shared,
    e.samples_differing, e.rows_only_there, e.values_only_there,
    fill_obstacle(e.stream_id, e.other_stream_id, e.boot_identifier, e.is_only) AS obstacle
FROM (
    SELECT t.recording_id, t.stream_id, t.other_recording_id, t.other_stream_id, t.boot_identifier,
        bool_and(t.is_only) AS is_only,
        sum(k.samples_shared)::bigint AS samples_shared, sum(d.samples_differing)::bigint AS samples_differing,
        sum(k.rows_only_there)::bigint AS rows_only_there, sum(k.values_only_there)::bigint AS values_only_there
    FROM twin_epoch AS t
    JOIN stream AS sa ON sa.id = t.stream_id
    JOIN stream AS sb ON sb.id = t.other_stream_id
    CROSS JOIN LATERAL twin_samples(t.stream_id, t.other_stream_id, t.shift, t.first_n, t.last_n) AS k
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT d.n) AS samples_differing
        FROM differing_values(sa.uuid, sb.uuid, t.shift, t.first_n, t.last_n) AS d) AS d
    GROUP BY t.recording_id, t.stream_id, t.other_recording_id, t.other_stream_id, t.boot_identifier) AS e
JOIN stream AS sa ON sa.id = e.stream_id
JOIN recording AS ra ON ra.id = e.recording_id
JOIN recording AS rb ON rb.id = e.other_recording_id;

REVOKE ALL ON FUNCTION sample_count, moved, stored_rows, stored_values, lacking_values, stored_samples, differing_values,
    is_disputed, rows_to_come, is_whole, declared_channels, fill_obstacle, twin_samples FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sample_count, moved, stored_rows, stored_values, lacking_values, stored_samples, differing_values,
    is_disputed, rows_to_come, is_whole, declared_channels, fill_obstacle, twin_samples TO eegsync_read, eegsync_admin;
GRANT SELECT ON twin_epoch, twin_conflict, recording_twin TO eegsync_read, eegsync_admin;
