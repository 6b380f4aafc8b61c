-- Quotas (p0019_quotas) at a centre whose blocks lie on the workers of a cluster, too: a machine adds blocks through the views
-- alone, where the coordinator counts them, and has no right to the tables, here and on the workers.

-- Takes what machines had where blocks were spread before, and counts what is there, by the digests of its blocks.
CREATE FUNCTION guard_spread_blocks() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    item record;
BEGIN
    REVOKE INSERT ON sample_block, sample_patch FROM eegsync_ship;
    FOR item IN
        SELECT q.role, q.sent_sequence, q.returned_kib + coalesce(sum(st.kib), 0)::bigint AS kib
        FROM shipper AS q LEFT JOIN recording AS r ON r.role = q.role
        LEFT JOIN LATERAL (
            SELECT (SELECT sum(1 + b.row_count::bigint * c.number / 256) FROM block AS b
                WHERE b.stream_id = s.id AND b.channel = 0) AS kib
            FROM stream AS s
            CROSS JOIN LATERAL (SELECT count(DISTINCT c.number) AS number FROM channel AS c WHERE c.stream_id = s.id) AS c
            WHERE s.recording_id = r.id) AS st ON true
        GROUP BY q.role, q.sent_sequence, q.returned_kib
    LOOP
        IF item.kib > sent_kib(item.role) THEN
            PERFORM setval(item.sent_sequence, item.kib);
            UPDATE shipper SET quota_kib = greatest(quota_kib, 2 * item.kib) WHERE role = item.role;
        END IF;
    END LOOP;
END
$$;

-- As before, with that.
CREATE OR REPLACE FUNCTION spread_blocks(shards integer DEFAULT 32) RETURNS boolean LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT spread_tables(shards) THEN RETURN false; END IF;
    PERFORM plan_for_cluster();
    PERFORM guard_spread_blocks();
    RETURN true;
END
$$;

-- As before, but what was on the workers is given back, too.
CREATE OR REPLACE FUNCTION erase_subject(of_subject text, OUT recording_count bigint, OUT edit_count bigint, OUT mentions text[],
    OUT remnant_count bigint, OUT beside text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    item record;
    kib bigint;
BEGIN
    FOR item IN
        SELECT r.role, array_agg(st.uuid) AS streams
        FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id JOIN stream AS st ON st.recording_id = r.id
        WHERE r.subject = of_subject OR d.subject_name = of_subject GROUP BY r.role
    LOOP
        SELECT sum(1 + b.row_count::bigint * num_nonnulls(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) / 256) INTO kib
        FROM sample_block AS b WHERE b.stream = ANY (item.streams);
        UPDATE shipper SET returned_kib = returned_kib + coalesce(kib, 0) WHERE role = item.role;
    END LOOP;
    SELECT e.recording_count, e.edit_count, e.mentions, e.remnant_count, e.beside
    INTO recording_count, edit_count, mentions, remnant_count, beside FROM erase_rows_of_subject(of_subject) AS e;
END
$$;

REVOKE ALL ON FUNCTION guard_spread_blocks FROM PUBLIC;

DO $$
BEGIN
    IF to_regclass('public.stream_right') IS NOT NULL THEN PERFORM guard_spread_blocks(); END IF;
END
$$;
