-- Twins (p0011_twins, p0012_fills) at a centre whose blocks lie on the workers of a cluster, too: what a view or a function asks
-- of blocks, it asks by functions, of one stream each, as a cluster answers that and no join.

-- As before, with the last n of a stream from a function.
CREATE OR REPLACE VIEW twin_epoch WITH (security_invoker = true) AS
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
                upper(stored_extent(a.stream_id)) - 1) AS last_n,
            coalesce(
                (SELECT o.first_n - 1 FROM epoch AS o
                WHERE o.stream_id = b.stream_id AND o.number > b.number ORDER BY o.number LIMIT 1),
                upper(stored_extent(b.stream_id)) - 1) AS other_last_n,
            (SELECT count(*) FROM epoch AS o
            WHERE o.stream_id IN (a.stream_id, b.stream_id) AND o.boot_identifier = a.boot_identifier) = 2 AS is_only
        OFFSET 0) AS l
    WHERE a.first_index + (l.last_n - a.first_n) < sa.counter_modulus * sa.samples_per_count
        AND b.first_index + (l.other_last_n - b.first_n) < sb.counter_modulus * sb.samples_per_count) AS e
WHERE e.first_n <= e.last_n;

-- As before.
CREATE OR REPLACE FUNCTION rows_to_come(of_stream bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own uuid := (SELECT st.uuid FROM stream AS st WHERE st.id = of_stream);
    row_count numeric;
    value_count numeric;
BEGIN
    SELECT coalesce(sum(b.row_count) FILTER (WHERE b.channel = 0), 0), coalesce(sum(b.row_count) FILTER (WHERE b.channel > 0), 0)
    INTO row_count, value_count FROM block AS b WHERE b.stream_id = of_stream;
    row_count := row_count - (SELECT coalesce(sum(b.row_count), 0) FROM sample_block AS b WHERE b.stream = own);
    value_count := value_count - (SELECT coalesce(sum(cardinality(p.values)), 0) FROM sample_patch AS p WHERE p.stream = own);
    RETURN greatest(0, row_count) + greatest(0, value_count);
END
$$;

-- A cluster plans what is asked of one stream once it knows which: never for whichever stream it will be.
CREATE FUNCTION plan_for_cluster() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    item regprocedure;
BEGIN
    FOREACH item IN ARRAY ARRAY['stored_rows(uuid, int8multirange)', 'stored_values(uuid, integer, int8multirange)',
        'stored_samples(uuid, int8multirange)', 'differing_values(uuid, uuid, bigint, bigint, bigint)', 'rows_to_come(bigint)',
        'stored_extent(bigint)']::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_custom_plan', item);
    END LOOP;
END
$$;
ALTER FUNCTION spread_blocks(integer) RENAME TO spread_tables;
CREATE FUNCTION spread_blocks(shards integer DEFAULT 32) RETURNS boolean LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT spread_tables(shards) THEN RETURN false; END IF;
    PERFORM plan_for_cluster();
    RETURN true;
END
$$;
DO $$
BEGIN
    IF to_regclass('public.stream_right') IS NOT NULL THEN PERFORM plan_for_cluster(); END IF;
END
$$;

REVOKE ALL ON FUNCTION plan_for_cluster, spread_blocks, spread_tables FROM PUBLIC;
