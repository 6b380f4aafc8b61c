-- Times of samples without asking the tables for each of them: 8 s of one headset at 250 Hz took a reader of a study of 2,000
-- recordings 19 s. The time map of a stream comes as arrays beside it, and a sample's segment is looked up there. And what a
-- view joins with blocks of samples is a subquery, which is the same here, and which a cluster of Citus can take apart.

-- UTC of a sample, by the last segment that begins at or before it, or the first one. Element i of each list is of one segment.
CREATE FUNCTION mapped_unix_ns(of_n bigint, first_n bigint[], reference_n bigint[], reference_unix_ns bigint[],
    period_ns double precision[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2 AS $$
DECLARE
    i integer := greatest(1, width_bucket(of_n, first_n));
    distance double precision := (of_n - reference_n[i]) * period_ns[i];
BEGIN
    RETURN reference_unix_ns[i] + CASE WHEN distance < 0 THEN ceil(distance - 0.5) ELSE floor(distance + 0.5) END::bigint;
END
$$;

-- Of a stream, the lists of the function above; each with as many elements, in the same order.
CREATE FUNCTION time_map_columns() RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT
        '(SELECT array_agg(g.first_n ORDER BY g.first_n) FROM segment AS g WHERE g.stream_id = st.id) AS map_first_n, '
        || '(SELECT array_agg(g.reference_n ORDER BY g.first_n) FROM segment AS g WHERE g.stream_id = st.id) '
        || 'AS map_reference_n, '
        || '(SELECT array_agg(k.offset_ns + g.reference_boottime_ns ORDER BY g.first_n) FROM segment AS g '
        || 'LEFT JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id WHERE g.stream_id = st.id) AS map_unix_ns, '
        || '(SELECT array_agg(g.period_ns ORDER BY g.first_n) FROM segment AS g WHERE g.stream_id = st.id) AS map_period_ns'
$$;

-- The eight channels of a sample, where b is a block of samples and v its element i: a value that came late is looked for where
-- one is NULL.
CREATE FUNCTION patched_columns() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(format(
        'CASE WHEN b.c%1$s IS NOT NULL THEN coalesce(v.c%1$s, (SELECT p.values[b.first_n + v.i - p.first_n] '
        || 'FROM sample_patch AS p WHERE p.stream = b.stream AND p.channel = %1$s AND p.first_n <= b.first_n + v.i - 1 '
        || 'AND b.first_n + v.i - 1 < p.first_n + array_length(p.values, 1) ORDER BY p.first_n DESC LIMIT 1)) END AS c%1$s',
        number) ORDER BY number)
    FROM generate_series(1, 8) AS s (number)
$$;

-- One sampling instant, as before.
DO $$
BEGIN
    EXECUTE format(
        'CREATE OR REPLACE VIEW sample WITH (security_invoker = true) AS SELECT st.id AS stream_id, b.first_n + v.i - 1 AS n, '
        || '%s FROM sample_block AS b JOIN (SELECT id, uuid FROM stream) AS st ON st.uuid = b.stream '
        || 'CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY '
        || 'AS v (c1, c2, c3, c4, c5, c6, c7, c8, i)', array_to_string(patched_columns(), ', '));
END
$$;

-- One row for each value, as before.
DO $$
BEGIN
    EXECUTE format(
        'CREATE OR REPLACE VIEW sample_long WITH (security_invoker = true) AS SELECT recording_id, stream, n, unix_ns, '
        || 'utc_text(unix_ns) AS time, channel, value, unit FROM (SELECT st.recording_id, st.name AS stream, s.n, '
        || 'mapped_unix_ns(s.n, st.map_first_n, st.map_reference_n, st.map_unix_ns, st.map_period_ns) AS unix_ns, '
        || 'st.channel, st.scale * CASE st.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4 '
        || 'WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END + st."offset" AS value, st.unit '
        -- GROUP BY: the map is read once for a stream, and what is asked of a recording or a channel reads no others.
        || 'FROM (SELECT st.id, st.recording_id, st.name, c.number, c.name AS channel, c.unit, c.scale, c."offset", %s '
        || 'FROM stream AS st JOIN channel AS c ON c.stream_id = st.id '
        || 'GROUP BY st.id, st.recording_id, st.name, c.number, c.name, c.unit, c.scale, c."offset") AS st '
        || 'JOIN sample AS s ON s.stream_id = st.id) AS e', time_map_columns());
END
$$;

-- Makes the view of a name, or makes it anew, as before, with such times.
CREATE OR REPLACE FUNCTION make_stream_view(of_name text) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $make$
DECLARE
    is_there boolean := EXISTS (
        SELECT 1 FROM pg_class AS k WHERE k.relname = of_name AND k.relnamespace = 'public'::regnamespace);
    channels text[] := ARRAY(
        SELECT a.attname::text FROM pg_attribute AS a JOIN pg_class AS k ON k.oid = a.attrelid
        WHERE k.relname = of_name AND k.relnamespace = 'public'::regnamespace AND a.attnum > 7 ORDER BY a.attnum);
    columns text;
    scales text;
BEGIN
    channels := channels || ARRAY(
        SELECT c.name FROM stream AS st CROSS JOIN LATERAL channel_names(st.id) AS c
        WHERE st.name = of_name AND octet_length(c.name) BETWEEN 1 AND 63 AND c.name <> ALL (channels)
            AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
        GROUP BY c.name ORDER BY min(st.id), min(c.number), c.name LIMIT greatest(0, 200 - cardinality(channels)));
    SELECT string_agg(format(
            'of_stream.s%1$s * CASE of_stream.k%1$s WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4 '
            || 'WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 WHEN 8 THEN s.c8 END + of_stream.o%1$s AS %2$I',
            number, channel), ', ' ORDER BY number),
        string_agg(format(
            'max(c.number) FILTER (WHERE c.name = %2$L) AS k%1$s, max(c.scale) FILTER (WHERE c.name = %2$L) AS s%1$s, '
            || 'max(c."offset") FILTER (WHERE c.name = %2$L) AS o%1$s', number, channel), ', ' ORDER BY number)
    INTO columns, scales FROM unnest(channels) WITH ORDINALITY AS u (channel, number);
    -- GROUP BY: which channel is which column, and the map of times, are looked up once for a stream, and not for each sample;
    -- what is asked of a recording, a headset or a bank reads no others.
    EXECUTE format(
        'CREATE OR REPLACE VIEW %1$I WITH (security_invoker = true) AS SELECT recording_id, headset, stream_id, bank, n, '
        || 'utc_text(unix_ns) AS "time", unix_ns, %5$s FROM (SELECT of_stream.recording_id, of_stream.headset, '
        || 'of_stream.id AS stream_id, of_stream.bank, s.n, mapped_unix_ns(s.n, of_stream.map_first_n, '
        || 'of_stream.map_reference_n, of_stream.map_unix_ns, of_stream.map_period_ns) AS unix_ns, %2$s '
        || 'FROM (SELECT st.id, st.recording_id, st.bank, h.name AS headset, %3$s, %6$s FROM stream AS st '
        || 'JOIN recording AS r ON r.id = st.recording_id JOIN headset AS h ON h.id = r.headset_id '
        -- As channel_names(), which a cluster could not take apart.
        || 'CROSS JOIN LATERAL (SELECT DISTINCT ON (e.name) e.name, c.number, c.scale, c."offset" FROM channel AS c '
        || 'CROSS JOIN LATERAL (VALUES (c.declared_name, 1), (c.name, 2)) AS e (name, rank) '
        || 'WHERE c.stream_id = st.id AND e.name IS NOT NULL ORDER BY e.name, e.rank, c.number) AS c '
        || 'WHERE st.name = %4$L GROUP BY st.id, st.recording_id, st.bank, h.name) AS of_stream '
        || 'JOIN sample AS s ON s.stream_id = of_stream.id) AS e',
        of_name, columns, scales, of_name, (SELECT string_agg(format('%I', c), ', ') FROM unnest(channels) AS c),
        time_map_columns());
    IF NOT is_there THEN
        EXECUTE format('COMMENT ON VIEW %I IS %L', of_name, 'streams of this name');
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', of_name);
    END IF;
EXCEPTION
    WHEN lock_not_available OR duplicate_column OR invalid_table_definition OR program_limit_exceeded OR syntax_error THEN
        RAISE WARNING 'the view % stays as it is: %', of_name, SQLERRM;
END
$make$;

SELECT make_stream_view(k.relname) FROM pg_class AS k
WHERE k.relnamespace = 'public'::regnamespace AND k.relkind = 'v'
    AND obj_description(k.oid, 'pg_class') = 'streams of this name';

-- The samples of a stream of a recording from one instant to another, as before: segment by segment, of which each reads the
-- blocks that can hold its samples and no others.
DO $$
BEGIN
    EXECUTE format($f$
        CREATE OR REPLACE FUNCTION samples(of_recording bigint, of_stream text, from_time timestamptz, to_time timestamptz,
            of_bank integer DEFAULT 0)
        RETURNS TABLE (n bigint, unix_ns bigint, "time" text, value double precision[]) LANGUAGE plpgsql STABLE AS $samples$
        #variable_conflict use_column
        DECLARE
            own stream;
            numbers integer[];
            scales double precision[];
            offsets double precision[];
            piece record;
            from_ns bigint := (extract(epoch FROM from_time) * 1000000000)::bigint;
            to_ns bigint := (extract(epoch FROM to_time) * 1000000000)::bigint;
        BEGIN
            SELECT st.* INTO own FROM stream AS st
            WHERE st.recording_id = of_recording AND st.name = of_stream AND st.bank = of_bank;
            SELECT array_agg(c.number ORDER BY c.number), array_agg(c.scale ORDER BY c.number),
                array_agg(c."offset" ORDER BY c.number)
            INTO numbers, scales, offsets FROM channel AS c WHERE c.stream_id = own.id;
            FOR piece IN
                SELECT e.* FROM (
                    SELECT t.reference_n, t.reference_unix_ns, t.period_ns, greatest(
                            CASE WHEN lag(t.first_n) OVER w IS NULL THEN -9223372036854775808 ELSE t.first_n END,
                            t.reference_n + floor((from_ns - t.reference_unix_ns) / t.period_ns)::bigint) AS low,
                        least(coalesce(lead(t.first_n) OVER w - 1, 9223372036854775807),
                            t.reference_n + ceil((to_ns - t.reference_unix_ns) / t.period_ns)::bigint) AS high
                    FROM segment_time AS t WHERE t.stream_id = own.id WINDOW w AS (ORDER BY t.first_n)) AS e
                WHERE e.reference_unix_ns IS NOT NULL AND e.low <= e.high ORDER BY e.low
            LOOP
                RETURN QUERY
                SELECT s.n, s.unix_ns, utc_text(s.unix_ns), (ARRAY[
                    scales[1] * s.raw[numbers[1]] + offsets[1], scales[2] * s.raw[numbers[2]] + offsets[2],
                    scales[3] * s.raw[numbers[3]] + offsets[3], scales[4] * s.raw[numbers[4]] + offsets[4],
                    scales[5] * s.raw[numbers[5]] + offsets[5], scales[6] * s.raw[numbers[6]] + offsets[6],
                    scales[7] * s.raw[numbers[7]] + offsets[7], scales[8] * s.raw[numbers[8]] + offsets[8]
                    ])[1:cardinality(numbers)]
                FROM (
                    SELECT e.n, piece.reference_unix_ns + nearest((e.n - piece.reference_n) * piece.period_ns) AS unix_ns,
                        ARRAY[e.c1, e.c2, e.c3, e.c4, e.c5, e.c6, e.c7, e.c8] AS raw
                    FROM (
                        SELECT b.first_n + v.i - 1 AS n, %s
                        FROM sample_block AS b
                        CROSS JOIN LATERAL unnest(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) WITH ORDINALITY
                            AS v (c1, c2, c3, c4, c5, c6, c7, c8, i)
                        WHERE b.stream = own.uuid
                            AND b.first_n BETWEEN greatest(piece.low, -9223372036854771712) - 4095 AND piece.high) AS e
                    WHERE e.n BETWEEN piece.low AND piece.high) AS s
                WHERE s.unix_ns >= from_ns AND s.unix_ns < to_ns
                ORDER BY s.n;
            END LOOP;
        END
        $samples$ $f$, array_to_string(patched_columns(), ', '));
END
$$;

-- From the first row of a stream to the last one, of those that are here in blocks; NULL for none.
CREATE FUNCTION stored_extent(of_stream_id bigint) RETURNS int8range LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own uuid := (SELECT st.uuid FROM stream AS st WHERE st.id = of_stream_id AND may_read_stream(st.id));
BEGIN
    RETURN (
        SELECT int8range(
            (SELECT min(b.first_n) FROM sample_block AS b WHERE b.stream = own), b.first_n + b.row_count)
        FROM sample_block AS b WHERE b.stream = own ORDER BY b.first_n DESC LIMIT 1);
END
$$;

-- Every stream with its extent and its sums, as before.
CREATE OR REPLACE VIEW stream_overview WITH (security_invoker = true) AS
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
            least(lower(stored_extent(st.id)),
                (SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS first_n,
            greatest(upper(stored_extent(st.id)) - 1,
                (SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS last_n,
            (SELECT coalesce(sum(count - recovered), 0)::bigint FROM gap WHERE stream_id = st.id AND channel = 0) AS missing_n,
            (SELECT coalesce(sum(b.missing), 0)::bigint FROM gap_between_boots AS b WHERE b.stream_id = st.id)
                AS missing_between_boots,
            (SELECT count(*) FROM gap_between_boots AS b WHERE b.stream_id = st.id AND b.missing IS NULL)
                + (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS unknown_gaps,
            (SELECT coalesce(sum(recovered), 0)::bigint FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        -- GROUP BY: the ends are looked up once for a stream, and not for each column that is made of them.
        FROM stream AS st
        GROUP BY st.id, st.recording_id, st.name, st.bank, st.view_name, st.sampling_frequency, st.counter_modulus, st.uuid)
        AS e) AS f;

REVOKE ALL ON FUNCTION mapped_unix_ns, time_map_columns, patched_columns, stored_extent FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mapped_unix_ns, stored_extent TO eegsync_read, eegsync_admin;
GRANT EXECUTE ON FUNCTION time_map_columns, patched_columns TO eegsync_admin;
