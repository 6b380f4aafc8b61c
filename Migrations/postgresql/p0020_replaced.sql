-- Rows that a machine replaces fill the disk until the next VACUUM, as those of a transaction do that is rolled back: what they
-- may be within a day has a bound, too, beside the quota of what stays. And a machine that ships live costs less.

-- Its last value: the day, counted from 1970, times 2^32, and how many KiB were replaced on it. A sequence, as it keeps what was
-- rolled back.
ALTER TABLE shipper ADD COLUMN replaced_sequence regclass;
COMMENT ON COLUMN shipper.replaced_sequence IS 'its last value: the day * 2^32 + how much the role replaced on it, in KiB';
CREATE FUNCTION make_replaced_sequence(of_number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE SEQUENCE eegsync_quota.replaced_kib_%s', of_number);
    UPDATE shipper SET replaced_sequence = ('eegsync_quota.replaced_kib_' || of_number)::regclass WHERE number = of_number;
END
$$;
CREATE FUNCTION open_replaced_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
CREATE OR REPLACE FUNCTION document_kib(document jsonb) RETURNS bigint LANGUAGE plpgsql AS
$$BEGIN RETURN kib_by_lot(pg_column_size(document)); END$$;

-- Notes that this session's machine replaces so many bytes: a tenth of its quota on a day at most, or 1 GiB where that is more.
-- A day is one of UTC, by the clock of the centre. Whoever is no machine has no bound.
CREATE FUNCTION note_replaced(bytes bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kib bigint := public.kib_by_lot(bytes);
    today bigint;
    counter regclass;
    most bigint;
    now_last bigint;
BEGIN
    IF kib = 0 THEN RETURN; END IF;
    SELECT s.replaced_sequence, least(greatest(s.quota_kib / 10, 1048576), 2147483648) INTO counter, most
    FROM public.shipper AS s WHERE s.role = session_user;
    IF counter IS NULL THEN RETURN; END IF;
    today := (extract(epoch FROM clock_timestamp())::bigint / 86400) << 32;
    now_last := nextval(counter);
    IF now_last < today THEN
        PERFORM setval(counter, today);
        now_last := today;
    END IF;
    IF now_last + kib - today > most THEN
        -- A class that a machine tries again by itself.
        RAISE EXCEPTION 'the role % has replaced % GB of rows today (UTC), which is the most for a day', session_user,
            round(most * 1.024e-6, 1)
            USING ERRCODE = 'configuration_limit_exceeded', HINT = 'it goes on tomorrow, by itself';
    END IF;
    PERFORM nextval(counter) FROM generate_series(2, kib);
END
$$;

-- What comes is replaced if it is refused, and what is here if it is not.
CREATE OR REPLACE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own uuid := (document -> 'recording' ->> 'uuid')::uuid;
    lists text[] := ARRAY(SELECT row_lists(document));
    before bigint := row_bytes(own_recording(own), lists);
    growth bigint;
BEGIN
    PERFORM note_replaced(greatest(before, pg_column_size(document)));
    PERFORM keep_recording(document);
    growth := row_bytes(own_recording(own), lists) - before;
    IF growth > 0 THEN PERFORM take_quota((growth + 1023) / 1024); ELSE PERFORM return_quota(-growth / 1024); END IF;
END
$$;
-- A document of a few bytes makes a new version of the recording's row.
CREATE OR REPLACE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    kib bigint := document_kib(document);
BEGIN
    IF kib > 0 THEN PERFORM take_quota(kib); END IF;
    PERFORM note_replaced(
        (SELECT pg_column_size(r) FROM recording AS r WHERE r.uuid = (document -> 'recording' ->> 'uuid')::uuid));
    PERFORM keep_changes(document);
END
$$;
CREATE FUNCTION note_replaced_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM public.note_replaced(pg_column_size(old));
    RETURN NULL;
END
$$;
CREATE TRIGGER note_replaced AFTER UPDATE ON shipment FOR EACH ROW EXECUTE FUNCTION note_replaced_row();
CREATE TRIGGER note_replaced AFTER UPDATE ON recording_series FOR EACH ROW EXECUTE FUNCTION note_replaced_row();
-- A machine that may replace nothing more says how it is all the same, once a second.
CREATE FUNCTION note_replaced_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM public.note_replaced(pg_column_size(old)
        + (SELECT coalesce(sum(pg_column_size(h)), 0) FROM public.headset_status AS h WHERE h.machine = old.machine));
    RETURN NULL;
END
$$;
CREATE TRIGGER note_replaced AFTER UPDATE ON machine FOR EACH ROW WHEN (old.last_contact = new.last_contact)
    EXECUTE FUNCTION note_replaced_row();
CREATE TRIGGER note_replaced AFTER UPDATE ON machine_status FOR EACH ROW
    WHEN (old.received > new.received - interval '1 second') EXECUTE FUNCTION note_replaced_status();

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
DECLARE
    newest int8range := (SELECT h FROM unnest(now_heads) AS h ORDER BY h DESC LIMIT 1);
BEGIN
    PERFORM ship_begin_heads(of_stream, supposed_done_n, supposed_heads, supposed_late_number, supposed_late_row_count);
    UPDATE shipment SET done_n = now_done_n, head_first_n = lower(newest), head_last_n = upper(newest) - 1,
        older_heads = CASE WHEN newest IS NULL THEN '{}' ELSE now_heads - int8multirange(newest) END,
        late_number = now_late_number, late_row_count = now_late_row_count, updated = now()
    WHERE stream = of_stream;
END
$$;

REVOKE ALL ON FUNCTION make_replaced_sequence, open_replaced_account, kib_by_lot, note_replaced, note_replaced_row,
    note_replaced_status, ship_head, ship_heads_to FROM PUBLIC;
REVOKE ALL ON FUNCTION keep_head FROM eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION ship_heads_to TO eegsync_ship, eegsync_admin;
