-- The newest minute goes first after every long break of a connection, and not only after the first one: of one stream there may
-- be several ranges that were sent before older rows.

-- head_first_n and head_last_n are the newest of them, as before, and older_heads the others: whoever reads those two columns
-- reads nothing that is not so.
ALTER TABLE shipment
    ADD COLUMN older_heads int8multirange NOT NULL DEFAULT '{}',
    ADD CONSTRAINT older_heads_are_older CHECK (
        older_heads = '{}' OR coalesce(NOT lower_inf(older_heads) AND upper(older_heads) <= head_first_n, false));
COMMENT ON COLUMN shipment.older_heads IS 'ranges of n that were sent before older rows, but for the newest one';

-- All ranges of a row that were sent before older ones.
CREATE FUNCTION shipment_heads(of_row shipment) RETURNS int8multirange LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT of_row.older_heads + CASE WHEN of_row.head_first_n IS NULL THEN '{}'
        ELSE int8multirange(int8range(of_row.head_first_n, of_row.head_last_n, '[]')) END
$$;

-- What is here of the streams of this session's machine, as ship_state() has it, but with all heads.
CREATE FUNCTION ship_state_heads() RETURNS TABLE (
    stream uuid, done_n bigint, heads int8multirange, late_number bigint, late_row_count bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.stream, s.done_n, shipment_heads(s), s.late_number, s.late_row_count
    FROM shipment AS s JOIN stream AS st ON st.uuid = s.stream JOIN recording AS r ON r.id = st.recording_id
    WHERE r.role = session_user
$$;

-- As ship_begin(), of a machine that says all heads.
CREATE FUNCTION ship_begin_heads(of_stream uuid, supposed_done_n bigint, supposed_heads int8multirange,
    supposed_late_number bigint, supposed_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    present shipment;
BEGIN
    IF NOT is_own_stream(of_stream) THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO shipment (stream) VALUES (of_stream) ON CONFLICT DO NOTHING;
    SELECT * INTO present FROM shipment AS s WHERE s.stream = of_stream FOR UPDATE;
    IF (present.done_n, shipment_heads(present), present.late_number, present.late_row_count)
        IS DISTINCT FROM (supposed_done_n, supposed_heads, supposed_late_number, supposed_late_row_count) THEN
        RAISE EXCEPTION 'another process has sent of the stream % meanwhile', of_stream USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- As ship_end(), of a machine that says all heads.
CREATE FUNCTION ship_end_heads(of_stream uuid, now_done_n bigint, now_heads int8multirange, now_late_number bigint,
    now_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    newest int8range := (SELECT h FROM unnest(now_heads) AS h ORDER BY h DESC LIMIT 1);
BEGIN
    UPDATE shipment SET done_n = now_done_n, head_first_n = lower(newest), head_last_n = upper(newest) - 1,
        older_heads = CASE WHEN newest IS NULL THEN '{}' ELSE now_heads - int8multirange(newest) END,
        late_number = now_late_number, late_row_count = now_late_row_count, updated = now()
    WHERE stream = of_stream AND is_own_stream(of_stream);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

-- As before, for a machine of an earlier version, which knows one head: it fills what is missing before that one, and goes on
-- behind it. Where there are several, whichever it were shown, it would send the rows of another one a second time. So it sends
-- nothing of the stream until a version that knows them is installed again, and is refused with that reason; what it is shown
-- is the newest one. Once those are filled, or where there never was more than one, it works as it did.
CREATE OR REPLACE FUNCTION ship_begin(of_stream uuid, supposed_done_n bigint, supposed_head_last_n bigint,
    supposed_late_number bigint, supposed_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    present shipment;
BEGIN
    IF NOT is_own_stream(of_stream) THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO shipment (stream) VALUES (of_stream) ON CONFLICT DO NOTHING;
    SELECT * INTO present FROM shipment WHERE stream = of_stream FOR UPDATE;
    IF present.older_heads <> '{}' THEN
        -- No class that a machine tries again by itself.
        RAISE EXCEPTION 'a newer version of eegsync has begun to send the stream %: install that one here again', of_stream
            USING ERRCODE = 'feature_not_supported';
    END IF;
    IF (present.done_n, present.head_last_n, present.late_number, present.late_row_count)
        IS DISTINCT FROM (supposed_done_n, supposed_head_last_n, supposed_late_number, supposed_late_row_count) THEN
        RAISE EXCEPTION 'another process has sent of the stream % meanwhile', of_stream USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- As before, but what is still to come of older samples is without those that are here in between, and counts from the first
-- row that came in order.
CREATE OR REPLACE VIEW headset_progress WITH (security_invoker = true) AS
SELECT DISTINCT ON (r.role, h.name) r.role, h.name, r.id AS recording_id, p.newest_unix_ns, p.backlog_seconds, p.gaps_today,
    p.missing_today_seconds
FROM headset AS h
JOIN LATERAL (SELECT * FROM recording AS r WHERE r.headset_id = h.id ORDER BY r.id DESC LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT max(sample_unix_ns(st.id, coalesce(s.head_last_n, s.done_n))) AS newest_unix_ns,
        max((s.head_first_n - 1 - coalesce(
            s.done_n,
            (SELECT b.first_n - 1 FROM block AS b WHERE b.stream_id = st.id AND b.chain = 'live' ORDER BY b.number LIMIT 1),
            lower(s.older_heads) - 1, s.head_first_n - 1)
            - (SELECT coalesce(sum(upper(o) - lower(o)), 0)::bigint FROM unnest(s.older_heads) AS o))
            / st.sampling_frequency) AS backlog_seconds,
        max(g.gaps) AS gaps_today, max(g.missing / st.sampling_frequency) AS missing_today_seconds
    FROM stream AS st
    LEFT JOIN shipment AS s ON s.stream = st.uuid
    LEFT JOIN LATERAL (
        SELECT count(*) AS gaps, coalesce(sum(e.count - e.recovered), 0)::bigint AS missing
        FROM gap AS e JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
        WHERE e.stream_id = st.id AND e.channel = 0
            AND k.offset_ns + e.boottime_ns >= (extract(epoch FROM date_trunc('day', now())) * 1000000000)::bigint
    ) AS g ON true
    WHERE st.recording_id = r.id) AS p ON true
ORDER BY r.role, h.name, r.id DESC;

REVOKE ALL ON FUNCTION shipment_heads, ship_state_heads, ship_begin_heads, ship_end_heads FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ship_state_heads, ship_begin_heads, ship_end_heads TO eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION shipment_heads TO eegsync_read, eegsync_admin;
