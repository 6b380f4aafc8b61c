-- What a machine may fill of a centre has a bound: its quota, of the bytes of samples before compression, and of the rows of
-- all else. What it sends beyond that is refused, and waits on the machine.

-- 250 GB: a year of eight channels at 256 Hz, and what belongs to them.
ALTER TABLE shipper
    ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN quota_kib bigint NOT NULL DEFAULT 244140625 CHECK (quota_kib BETWEEN 0 AND 1099511627776),
    ADD COLUMN returned_kib bigint NOT NULL DEFAULT 0,
    ADD COLUMN sent_sequence regclass;
COMMENT ON COLUMN shipper.quota_kib IS 'how much the role may have here, in KiB';
COMMENT ON COLUMN shipper.returned_kib IS 'how much of what it has sent was removed again, in KiB';
COMMENT ON COLUMN shipper.sent_sequence IS 'its last value: how much the role has sent, in KiB';

-- A sequence counts without waiting for others, and what was rolled back, and fills the disk until the next VACUUM, is
-- counted. They stand where no view of a stream does. What is there already, a centre has left whose schema public was
-- dropped.
DROP SCHEMA IF EXISTS eegsync_quota CASCADE;
CREATE SCHEMA eegsync_quota;
REVOKE ALL ON SCHEMA eegsync_quota FROM PUBLIC;
CREATE FUNCTION sent_kib(of_role name) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(pg_sequence_last_value(s.sent_sequence), 0) FROM shipper AS s WHERE s.role = of_role
$$;
CREATE FUNCTION make_sent_sequence(of_number integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE SEQUENCE eegsync_quota.sent_kib_%s', of_number);
    UPDATE shipper SET sent_sequence = ('eegsync_quota.sent_kib_' || of_number)::regclass WHERE number = of_number;
END
$$;

-- A role that is enrolled gets a sequence, and may connect eight times, where nobody has said how often.
CREATE FUNCTION open_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM make_sent_sequence(new.number);
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = new.role AND rolconnlimit = -1 AND NOT rolsuper) THEN
        BEGIN
            EXECUTE format('ALTER ROLE %I CONNECTION LIMIT 8', new.role);
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE WARNING 'the role % may connect as often as it likes: ALTER ROLE ... CONNECTION LIMIT bounds it',
                    new.role;
        END;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER open_account AFTER INSERT ON shipper FOR EACH ROW EXECUTE FUNCTION open_account();

-- A role that goes on for another one has what that one had.
CREATE FUNCTION move_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    successor shipper := (SELECT s FROM shipper AS s WHERE s.role = new.replaced_by);
BEGIN
    PERFORM setval(successor.sent_sequence,
        greatest(1, sent_kib(successor.role) + sent_kib(new.role) - new.returned_kib));
    UPDATE shipper SET quota_kib = greatest(quota_kib, new.quota_kib) WHERE role = successor.role;
    UPDATE shipper SET returned_kib = sent_kib(new.role) WHERE role = new.role;
    RETURN NULL;
END
$$;
CREATE TRIGGER move_account AFTER UPDATE OF replaced_by ON shipper FOR EACH ROW
    WHEN (old.replaced_by IS NULL AND new.replaced_by IS NOT NULL) EXECUTE FUNCTION move_account();

-- Takes of the quota of this session's role; whoever is no machine has none. It is called within functions that have the
-- rights.
CREATE FUNCTION take_quota(kib bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    counter regclass;
    most bigint;
    quota bigint;
BEGIN
    SELECT s.sent_sequence, s.quota_kib + s.returned_kib, s.quota_kib INTO counter, most, quota
    FROM public.shipper AS s WHERE s.role = session_user;
    IF counter IS NULL THEN RETURN; END IF;
    IF nextval(counter) + kib - 1 > most THEN
        -- A class that a machine tries again by itself.
        RAISE EXCEPTION 'the role % has used its quota of % GB up', session_user, round(quota * 1.024e-6, 1)
            USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'an administrator of the centre gives it more: eegsync centre enrol ROLE --study STUDY --quota SIZE';
    END IF;
    IF kib > 1 THEN PERFORM nextval(counter) FROM generate_series(2, kib); END IF;
END
$$;
CREATE FUNCTION return_quota(kib bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF kib > 0 THEN UPDATE public.shipper SET returned_kib = returned_kib + kib WHERE role = session_user; END IF;
END
$$;
-- Whether this session's machine may add so many values to a stream; takes of its quota then.
CREATE FUNCTION may_add_values(of_stream uuid, value_count bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT is_own_stream(of_stream) THEN RETURN false; END IF;
    PERFORM take_quota(1 + value_count / 256);
    RETURN true;
END
$$;
CREATE FUNCTION value_count(b sample_block) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT 0::bigint + coalesce(cardinality(b.c1), 0) + coalesce(cardinality(b.c2), 0) + coalesce(cardinality(b.c3), 0)
        + coalesce(cardinality(b.c4), 0) + coalesce(cardinality(b.c5), 0) + coalesce(cardinality(b.c6), 0)
        + coalesce(cardinality(b.c7), 0) + coalesce(cardinality(b.c8), 0)
$$;
DO $$
BEGIN
    -- The policies of a cluster are looked at by its workers, which have no quotas.
    IF to_regclass('public.stream_right') IS NULL THEN
        ALTER POLICY sample_block_of_own ON sample_block WITH CHECK (may_add_values(stream, value_count(sample_block)));
        ALTER POLICY sample_patch_of_own ON sample_patch WITH CHECK (may_add_values(stream, cardinality(values)));
    END IF;
END
$$;

-- Blocks come through a view, in which COPY works and where no temporary table is needed: a database whose machines all have
-- this version takes TEMPORARY from PUBLIC, and nothing of theirs is beyond the quota then.
CREATE VIEW incoming_block AS SELECT stream, first_n, row_count, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample_block;
CREATE VIEW incoming_patch AS SELECT stream, channel, first_n, values FROM sample_patch;
CREATE FUNCTION add_incoming_block() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT may_add_values(new.stream, 0::bigint + coalesce(cardinality(new.c1), 0) + coalesce(cardinality(new.c2), 0)
        + coalesce(cardinality(new.c3), 0) + coalesce(cardinality(new.c4), 0) + coalesce(cardinality(new.c5), 0)
        + coalesce(cardinality(new.c6), 0) + coalesce(cardinality(new.c7), 0) + coalesce(cardinality(new.c8), 0)) THEN
        RAISE EXCEPTION 'the stream % is not one of %', new.stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO sample_block (stream, first_n, row_count, c1, c2, c3, c4, c5, c6, c7, c8)
    VALUES (new.stream, new.first_n, new.row_count, new.c1, new.c2, new.c3, new.c4, new.c5, new.c6, new.c7, new.c8);
    RETURN new;
END
$$;
CREATE FUNCTION add_incoming_patch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT may_add_values(new.stream, cardinality(new.values)) THEN
        RAISE EXCEPTION 'the stream % is not one of %', new.stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO sample_patch (stream, channel, first_n, values) VALUES (new.stream, new.channel, new.first_n, new.values);
    RETURN new;
END
$$;
CREATE TRIGGER add_incoming_block INSTEAD OF INSERT ON incoming_block FOR EACH ROW EXECUTE FUNCTION add_incoming_block();
CREATE TRIGGER add_incoming_patch INSTEAD OF INSERT ON incoming_patch FOR EACH ROW EXECUTE FUNCTION add_incoming_patch();
-- Whoever gives rights on all tables (p0003_shipping) has not given these.
GRANT INSERT ON incoming_block, incoming_patch TO eegsync_ship;

-- What a machine says of a recording counts by the bytes of the document, before it is kept. The whole of one comes anew with
-- each connection, and counts by how much the rows of the recording have grown.
CREATE FUNCTION document_kib(document jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    bytes bigint := pg_column_size(document);
    lot bytea;
BEGIN
    -- A document of some hundred bytes is rounded by lot, up as often as it has of a KiB: the sum is right, and few are
    -- counted. A session may choose what random() gives, and not this.
    IF bytes < 1024 THEN
        lot := uuid_send(gen_random_uuid());
        RETURN CASE WHEN bytes > (get_byte(lot, 0) & 3) * 256 + get_byte(lot, 1) THEN 1 ELSE 0 END;
    END IF;
    RETURN (bytes + 1023) / 1024;
END
$$;
CREATE FUNCTION row_bytes(of_recording bigint, lists text[]) RETURNS bigint LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT coalesce(sum(e.bytes), 0)::bigint FROM (
        SELECT pg_column_size(t) + pg_column_size(h) AS bytes FROM recording AS t JOIN headset AS h ON h.id = t.headset_id
            WHERE t.id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM recording_detail AS t WHERE t.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM recording_property AS t WHERE t.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM annotation AS t WHERE t.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM link AS t WHERE t.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM recording_row AS t
            WHERE t.recording_id = of_recording AND t.table_name = ANY (lists)
        UNION ALL SELECT pg_column_size(t) FROM stream AS t WHERE t.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN channel AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN epoch AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN segment AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN gap AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN loss_detection AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording
        UNION ALL SELECT pg_column_size(t) FROM stream AS st JOIN block AS t ON t.stream_id = st.id
            WHERE st.recording_id = of_recording) AS e
$$;
ALTER FUNCTION ship_changes(jsonb) RENAME TO keep_changes;
CREATE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    kib bigint := document_kib(document);
BEGIN
    IF kib > 0 THEN PERFORM take_quota(kib); END IF;
    PERFORM keep_changes(document);
END
$$;
ALTER FUNCTION ship_recording(jsonb) RENAME TO keep_recording;
CREATE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own uuid := (document -> 'recording' ->> 'uuid')::uuid;
    lists text[] := ARRAY(SELECT row_lists(document));
    growth bigint := -row_bytes(own_recording(own), lists);
BEGIN
    PERFORM keep_recording(document);
    growth := growth + row_bytes(own_recording(own), lists);
    IF growth > 0 THEN PERFORM take_quota((growth + 1023) / 1024); ELSE PERFORM return_quota(-growth / 1024); END IF;
END
$$;
-- As before, but for what counts what it keeps.
CREATE OR REPLACE FUNCTION ship_table_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own_recording bigint := ship_head(document);
    streams bigint[] := ARRAY(SELECT id FROM stream WHERE recording_id = own_recording);
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['annotation', 'link'] LOOP
        EXECUTE format('DELETE FROM %I WHERE recording_id = $1', part) USING own_recording;
    END LOOP;
    FOREACH part IN ARRAY ARRAY['channel', 'epoch', 'segment', 'gap', 'loss_detection'] LOOP
        EXECUTE format('DELETE FROM %I WHERE stream_id = ANY ($1)', part) USING streams;
    END LOOP;
    PERFORM keep_changes(document - 'removed');
END
$$;
CREATE OR REPLACE FUNCTION ship_rows(of_recording uuid, of_table text, of_owner text, of_part bigint, now_last bigint,
    now_count bigint, now_complete boolean, elements jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording(of_recording);
    kib bigint := document_kib(elements);
BEGIN
    IF own IS NULL THEN
        RAISE EXCEPTION 'the recording % is not one of %', of_recording, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF kib > 0 THEN PERFORM take_quota(kib); END IF;
    PERFORM keep_rows(own, of_table, elements);
    INSERT INTO recording_series (recording_id, table_name, owner, part, last_number, row_count, is_complete)
    VALUES (own, of_table, of_owner, of_part, now_last, now_count, now_complete)
    ON CONFLICT (recording_id, table_name, owner, part) DO UPDATE SET last_number = excluded.last_number,
        row_count = excluded.row_count, is_complete = excluded.is_complete;
END
$$;
-- Of what comes once, and again and again as it is, only rows that are new.
CREATE FUNCTION count_new_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.take_quota(1 + pg_column_size(new) / 1024);
    RETURN NULL;
END
$$;
CREATE TRIGGER count_new_row AFTER INSERT ON machine FOR EACH ROW EXECUTE FUNCTION count_new_row();
CREATE TRIGGER count_new_row AFTER INSERT ON host_boot FOR EACH ROW EXECUTE FUNCTION count_new_row();
CREATE TRIGGER count_new_row AFTER INSERT ON recording_series FOR EACH ROW EXECUTE FUNCTION count_new_row();
CREATE FUNCTION count_new_offsets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.take_quota((c.number * 64 + 1023) / 1024) FROM (SELECT count(*) AS number FROM fresh) AS c
    WHERE c.number > 0;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_new_offsets AFTER INSERT ON clock_offset REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_offsets();
ALTER TABLE machine ADD CONSTRAINT version_up_to_200_characters CHECK (length(version) <= 200) NOT VALID;
ALTER TABLE recording_series ADD CONSTRAINT owner_up_to_1000_bytes CHECK (octet_length(owner) <= 1000) NOT VALID;
ALTER TABLE shipment ADD CONSTRAINT heads_up_to_64_kb CHECK (pg_column_size(older_heads) <= 65536) NOT VALID;

-- As before. What a participant's samples took of the quotas of their machines is given back.
ALTER FUNCTION erase_subject(text) RENAME TO erase_rows_of_subject;
CREATE FUNCTION erase_subject(of_subject text, OUT recording_count bigint, OUT edit_count bigint, OUT mentions text[],
    OUT remnant_count bigint, OUT beside text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    item record;
    kib bigint;
    of_counted text := of_subject;
BEGIN
    -- Blocks of a cluster are not counted.
    IF to_regclass('public.stream_right') IS NOT NULL THEN of_counted := NULL; END IF;
    FOR item IN
        SELECT r.role, array_agg(st.uuid) AS streams
        FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id JOIN stream AS st ON st.recording_id = r.id
        WHERE r.subject = of_counted OR d.subject_name = of_counted GROUP BY r.role
    LOOP
        SELECT sum(1 + b.row_count::bigint * num_nonnulls(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8) / 256) INTO kib
        FROM sample_block AS b WHERE b.stream = ANY (item.streams);
        UPDATE shipper SET returned_kib = returned_kib + coalesce(kib, 0) WHERE role = item.role;
    END LOOP;
    SELECT e.recording_count, e.edit_count, e.mentions, e.remnant_count, e.beside
    INTO recording_count, edit_count, mentions, remnant_count, beside FROM erase_rows_of_subject(of_subject) AS e;
END
$$;

-- As before, but a line that is there is not tried to be made with each block.
CREATE OR REPLACE FUNCTION ship_begin_heads(of_stream uuid, supposed_done_n bigint, supposed_heads int8multirange,
    supposed_late_number bigint, supposed_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    present shipment;
BEGIN
    IF NOT is_own_stream(of_stream) THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT * INTO present FROM shipment AS s WHERE s.stream = of_stream FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO shipment (stream) VALUES (of_stream) ON CONFLICT DO NOTHING;
        SELECT * INTO present FROM shipment AS s WHERE s.stream = of_stream FOR UPDATE;
    END IF;
    IF (present.done_n, shipment_heads(present), present.late_number, present.late_row_count)
        IS DISTINCT FROM (supposed_done_n, supposed_heads, supposed_late_number, supposed_late_row_count) THEN
        RAISE EXCEPTION 'another process has sent of the stream % meanwhile', of_stream USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- Says how much a role may have here, NULL for what it was; returns that, and how much it has.
CREATE FUNCTION set_quota(of_role name, kib bigint, OUT quota_kib bigint, OUT used_kib bigint) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE shipper AS s SET quota_kib = coalesce(kib, s.quota_kib) WHERE s.role = of_role
    RETURNING s.quota_kib, greatest(0, sent_kib(s.role) - s.returned_kib) INTO quota_kib, used_kib;
    IF NOT FOUND THEN RAISE EXCEPTION 'the role % is in no study', of_role USING ERRCODE = 'no_data_found'; END IF;
END
$$;

-- How much a role has here; NULL to who reads nothing of its study.
CREATE FUNCTION used_kib(of_role name) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (SELECT greatest(0, sent_kib(s.role) - s.returned_kib) FROM shipper AS s
        WHERE s.role = of_role AND (pg_has_role(session_user, 'eegsync_admin', 'MEMBER')
            OR s.study_id IN (SELECT readable_study())));
END
$$;

-- As before, with quotas.
CREATE OR REPLACE VIEW fleet WITH (security_invoker = true) AS
SELECT t.name AS study, q.role AS machine, m.uuid AS machine_uuid, m.version,
    extract(epoch FROM now() - greatest(m.last_contact, c.received))::double precision AS contact_seconds,
    c.machine IS NOT NULL AS has_said, c.is_acquiring, c.problem, c.alerts, c.free_bytes, c.disk_days,
    coalesce(d.name, p.name) AS headset, d.model, d.is_wanted, d.severity, d.sentence, d.alerts AS headset_alerts,
    d.battery_percent,
    extract(epoch FROM now() - c.received)::double precision + d.newest_seconds AS newest_seconds,
    CASE WHEN d.newest_unix_ns IS NOT NULL AND p.newest_unix_ns IS NOT NULL
        THEN greatest(0, (d.newest_unix_ns::numeric - p.newest_unix_ns) / 1e9)::double precision END AS delay_seconds,
    p.backlog_seconds, p.gaps_today, p.missing_today_seconds, p.newest_unix_ns, p.recording_id, e.is_so AS is_of_another_study,
    q.quota_kib, used_kib(q.role) AS used_kib
FROM shipper AS q
JOIN study AS t ON t.id = q.study_id
LEFT JOIN LATERAL (SELECT * FROM machine AS m WHERE m.role = q.role ORDER BY m.last_contact DESC LIMIT 1) AS m ON true
LEFT JOIN machine_status AS c ON c.machine = m.uuid
LEFT JOIN headset_status AS d ON d.machine = m.uuid
-- OFFSET: asked once for each.
CROSS JOIN LATERAL (SELECT is_of_another_study(q.role, d.name) OFFSET 0) AS e (is_so)
LEFT JOIN headset_progress AS p ON p.role = q.role AND NOT e.is_so AND (left(p.name, 200) = d.name OR c.machine IS NULL)
WHERE q.replaced_by IS NULL;

-- What roles have sent before is known from the digests of their blocks; of those that have much, the quota is twice that.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT q.role, q.number, greatest(1, coalesce(sum(st.kib), 0))::bigint AS kib
        FROM shipper AS q LEFT JOIN recording AS r ON r.role = q.role
        LEFT JOIN LATERAL (
            SELECT (SELECT sum(b.row_count) FROM block AS b WHERE b.stream_id = s.id AND b.channel = 0)
                * (SELECT count(DISTINCT c.number) FROM channel AS c WHERE c.stream_id = s.id) / 256 AS kib
            FROM stream AS s WHERE s.recording_id = r.id) AS st ON true
        GROUP BY q.role, q.number
    LOOP
        PERFORM make_sent_sequence(item.number);
        PERFORM setval(('eegsync_quota.sent_kib_' || item.number)::regclass, item.kib);
        UPDATE shipper SET quota_kib = greatest(quota_kib, 2 * item.kib) WHERE role = item.role;
    END LOOP;
    -- Nor does a reader fill the disk: to sort a day of samples with their times takes 50 GB of temporary files.
    IF current_setting('temp_file_limit') = '-1' THEN
        BEGIN
            EXECUTE format('ALTER DATABASE %I SET temp_file_limit = %L', current_database(), '20GB');
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE WARNING 'temporary files of a query may fill the disk: a superuser bounds them by temp_file_limit';
        END;
    END IF;
    -- Large objects are of no use here, and everybody may make them. Who is no superuser cannot take that, and is warned.
    REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea),
        lowrite(integer, bytea) FROM PUBLIC;
END
$$;

REVOKE ALL ON FUNCTION sent_kib, make_sent_sequence, open_account, move_account, take_quota, return_quota,
    may_add_values, value_count, add_incoming_block, add_incoming_patch, document_kib, row_bytes, keep_changes, ship_changes,
    keep_recording, ship_recording, count_new_row, count_new_offsets, erase_rows_of_subject, erase_subject, set_quota, used_kib
    FROM PUBLIC;
REVOKE ALL ON FUNCTION erase_rows_of_subject FROM eegsync_admin;
REVOKE ALL ON FUNCTION keep_changes, keep_recording FROM eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION ship_changes, ship_recording TO eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION may_add_values, value_count TO eegsync_ship;
GRANT EXECUTE ON FUNCTION used_kib TO eegsync_read, eegsync_admin;
GRANT EXECUTE ON FUNCTION set_quota, erase_subject TO eegsync_admin;
