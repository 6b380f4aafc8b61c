-- Rows that a machine replaces fill the disk until the next VACUUM, as those of a transaction do that is rolled back: what they
-- may be within a day has a bound, too, beside the quota of what stays. And a machine that ships live costs less.

-- Its last value: the day, counted from 1970, times 2^32, and how many KiB were replaced on it. A sequence, as it keeps what
-- was rolled back.
ALTER TABLE shipper ADD COLUMN replaced_sequence regclass;
COMMENT ON COLUMN shipper.replaced_sequence IS 'its last value: the day * 2^32 + how much the role replaced on it, in KiB';
CREATE FUNCTION make_replaced_sequence(of_number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE SEQUENCE eegsync_quota.replaced_kib_%s', of_number);
    UPDATE shipper SET replaced_sequence = ('eegsync_quota.replaced_kib_' || of_number)::regclass WHERE number = of_number;
END
$$;
CREATE FUNCTION open_replaced_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM make_replaced_sequence(new.number);
    RETURN NULL;
END
$$;
CREATE TRIGGER open_replaced_account AFTER INSERT ON shipper FOR EACH ROW EXECUTE FUNCTION open_replaced_account();
SELECT make_replaced_sequence(s.number) FROM shipper AS s;

-- Bytes in KiB. Some hundred are rounded by lot, up as often as they are of a KiB: the sum is right, and few are counted. A
-- session may choose what random() gives, and not this.
CREATE FUNCTION kib_by_lot(bytes bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    lot bytea;
BEGIN
    IF bytes >= 1024 THEN RETURN (bytes + 1023) / 1024; END IF;
    lot := uuid_send(gen_random_uuid());
    RETURN CASE WHEN bytes > (get_byte(lot, 0) & 3) * 256 + get_byte(lot, 1) THEN 1 ELSE 0 END;
END
$$;
-- Of a document as it is, and not compressed, as a table may have it.
CREATE FUNCTION document_bytes(document jsonb) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
$$BEGIN RETURN pg_column_size(document || '[]'::jsonb); END$$;

-- Notes that this session's machine replaces so many bytes, before it does: a tenth of its quota on a day at most, or 1 GiB
-- where that is more, and so many KiB beyond. A day is one of UTC, by the clock of the centre. Whoever is no machine has no
-- bound.
CREATE FUNCTION note_replaced(bytes bigint, kib_beyond bigint DEFAULT 0) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kib bigint := public.kib_by_lot(bytes);
    today bigint;
    counter regclass;
    most bigint;
    now_last bigint;
BEGIN
    SELECT s.replaced_sequence, least(greatest(s.quota_kib / 10, 1048576) + kib_beyond, 2147483648) INTO counter, most
    FROM public.shipper AS s WHERE s.role = session_user;
    IF counter IS NULL THEN RETURN; END IF;
    today := (extract(epoch FROM clock_timestamp())::bigint / 86400) << 32;
    now_last := CASE WHEN kib > 0 THEN nextval(counter) ELSE coalesce(pg_sequence_last_value(counter), 0) END;
    -- Also where the clock was ahead.
    IF now_last >> 32 <> today >> 32 THEN
        PERFORM setval(counter, today);
        now_last := today;
    END IF;
    IF now_last + kib - today > most THEN
        -- A class that a machine tries again by itself.
        RAISE EXCEPTION 'the role % has replaced % GB of rows today (UTC), which is the most for a day: it goes on tomorrow, '
            'by itself', session_user, round(most * 1.024e-6, 1) USING ERRCODE = 'insufficient_resources';
    END IF;
    IF kib > 1 THEN PERFORM nextval(counter) FROM generate_series(2, kib); END IF;
END
$$;

-- As before, and nothing where all is used, however little it is.
CREATE OR REPLACE FUNCTION take_quota(kib bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    counter regclass;
    most bigint;
    quota bigint;
    now_last bigint;
BEGIN
    SELECT s.sent_sequence, s.quota_kib + s.returned_kib, s.quota_kib INTO counter, most, quota
    FROM public.shipper AS s WHERE s.role = session_user;
    IF counter IS NULL THEN RETURN; END IF;
    now_last := CASE WHEN kib > 0 THEN nextval(counter) + kib - 1 ELSE coalesce(pg_sequence_last_value(counter), 0) END;
    IF now_last > most THEN
        -- A class that a machine tries again by itself.
        RAISE EXCEPTION 'the role % has used its quota of % GB up', session_user, round(quota * 1.024e-6, 1)
            USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'an administrator of the centre gives it more: eegsync centre enrol ROLE --study STUDY --quota SIZE';
    END IF;
    IF kib > 1 THEN PERFORM nextval(counter) FROM generate_series(2, kib); END IF;
END
$$;

-- What was said before in as many bytes goes, and what comes, where it is refused.
CREATE OR REPLACE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own uuid := (document -> 'recording' ->> 'uuid')::uuid;
    lists text[] := ARRAY(SELECT row_lists(document));
    growth bigint := -row_bytes(own_recording(own), lists);
BEGIN
    PERFORM note_replaced(document_bytes(document));
    PERFORM keep_recording(document);
    growth := growth + row_bytes(own_recording(own), lists);
    IF growth > 0 THEN PERFORM take_quota((growth + 1023) / 1024); ELSE PERFORM return_quota(-growth / 1024); END IF;
END
$$;
-- A document of a few bytes makes a new version of the recording's row, and of rows that it names.
CREATE OR REPLACE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    bytes bigint := document_bytes(document);
BEGIN
    PERFORM take_quota(kib_by_lot(bytes));
    PERFORM note_replaced(8 * bytes
        + (SELECT pg_column_size(r) FROM recording AS r WHERE r.uuid = (document -> 'recording' ->> 'uuid')::uuid));
    PERFORM keep_changes(document);
END
$$;
CREATE OR REPLACE FUNCTION ship_rows(of_recording uuid, of_table text, of_owner text, of_part bigint, now_last bigint,
    now_count bigint, now_complete boolean, elements jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording(of_recording);
    bytes bigint := document_bytes(elements);
BEGIN
    IF own IS NULL THEN
        RAISE EXCEPTION 'the recording % is not one of %', of_recording, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM take_quota(kib_by_lot(bytes));
    -- The rows, where they are there already, and that of the series.
    PERFORM note_replaced(bytes + 200);
    PERFORM keep_rows(own, of_table, elements);
    INSERT INTO recording_series (recording_id, table_name, owner, part, last_number, row_count, is_complete)
    VALUES (own, of_table, of_owner, of_part, now_last, now_count, now_complete)
    ON CONFLICT (recording_id, table_name, owner, part) DO UPDATE SET last_number = excluded.last_number,
        row_count = excluded.row_count, is_complete = excluded.is_complete;
END
$$;
ALTER FUNCTION ship_host_boots(jsonb) RENAME TO keep_host_boots;
CREATE FUNCTION ship_host_boots(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM take_quota(0);
    PERFORM note_replaced(document_bytes(document));
    PERFORM keep_host_boots(document);
END
$$;

-- A role may be a hundred machines: cards are exchanged. What they say of themselves is bounded for each of them, and is no
-- part of the quota. A machine that may replace nothing more says how it is all the same, for a day.
ALTER FUNCTION ship_machine(uuid, text) RENAME TO keep_machine;
CREATE FUNCTION ship_machine(machine_uuid uuid, machine_version text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM note_replaced(400, 1048576);
    IF NOT EXISTS (SELECT 1 FROM machine AS m WHERE m.uuid = machine_uuid)
        AND (SELECT count(*) FROM machine AS m WHERE m.role = session_user) >= 100 THEN
        RAISE EXCEPTION 'the role % has had a hundred machines: another one gets a role of its own', session_user
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM keep_machine(machine_uuid, machine_version);
END
$$;
ALTER FUNCTION ship_status(uuid, jsonb) RENAME TO keep_status;
CREATE FUNCTION ship_status(of_machine uuid, document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM note_replaced(2 * document_bytes(document) + 400, 1048576);
    PERFORM keep_status(of_machine, document);
END
$$;
-- How many ranges eegsync has, and twice as many.
ALTER TABLE shipment ADD CONSTRAINT at_most_32_heads CHECK (pg_column_size(older_heads) <= 2048) NOT VALID;
CREATE FUNCTION note_replaced_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM public.note_replaced(greatest(pg_column_size(old), pg_column_size(new)));
    RETURN new;
END
$$;
CREATE TRIGGER note_replaced BEFORE UPDATE ON shipment FOR EACH ROW EXECUTE FUNCTION note_replaced_row();

-- To make a view of streams anew leaves its definition before in the catalogue: 200 kB for 200 columns.
ALTER FUNCTION make_stream_view(text) RENAME TO make_view_of_streams;
CREATE FUNCTION make_stream_view(of_name text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM note_replaced(409600);
    PERFORM make_view_of_streams(of_name);
END
$$;

-- A machine that has sent what a recording, its headset and what people say of it are, leaves them out where they are as they
-- were: a document without a headset.
ALTER FUNCTION ship_head(jsonb) RENAME TO keep_head;
CREATE FUNCTION ship_head(document jsonb) RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
    IF document ? 'headset' THEN RETURN keep_head(document); END IF;
    own := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    IF own IS NULL THEN
        RAISE EXCEPTION 'the recording % is not one of %', document -> 'recording' ->> 'uuid', session_user
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN own;
END
$$;

-- ship_begin_heads() and ship_end_heads() in one: what is here of a stream from the end of the transaction on, of a machine
-- that sends the samples within it, before or afterwards.
CREATE FUNCTION ship_heads_to(of_stream uuid, supposed_done_n bigint, supposed_heads int8multirange,
    supposed_late_number bigint, supposed_late_row_count bigint, now_done_n bigint, now_heads int8multirange,
    now_late_number bigint, now_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM ship_begin_heads(of_stream, supposed_done_n, supposed_heads, supposed_late_number, supposed_late_row_count);
    PERFORM ship_end_heads(of_stream, now_done_n, now_heads, now_late_number, now_late_row_count);
END
$$;

DROP FUNCTION document_kib(jsonb);

REVOKE ALL ON FUNCTION make_replaced_sequence, open_replaced_account, kib_by_lot, document_bytes, note_replaced,
    note_replaced_row, ship_host_boots, ship_machine, ship_status, make_stream_view, ship_head, ship_heads_to FROM PUBLIC;
REVOKE ALL ON FUNCTION keep_head, keep_host_boots, keep_machine, keep_status FROM eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION ship_host_boots, ship_machine, ship_status, ship_heads_to TO eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION make_stream_view TO eegsync_admin;
