-- Who may do what, and how a machine hands over what it holds. A machine logs in with a role of its own, a member of
-- eegsync_ship: it adds blocks of its own streams, by INSERT, and says everything else through these functions, which look
-- whose it is. It reads nothing but what is here of its own streams, and changes no sample.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['eegsync_ship', 'eegsync_read', 'eegsync_admin'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO eegsync_read, eegsync_admin;
GRANT INSERT, UPDATE, DELETE ON study, study_reader, shipper TO eegsync_admin;
GRANT INSERT ON sample_block, sample_patch TO eegsync_ship;

-- The studies that the role of this session reads.
CREATE FUNCTION readable_study() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    SELECT study_id FROM study_reader WHERE pg_has_role(session_user, role, 'MEMBER')
    UNION SELECT id FROM study WHERE pg_has_role(session_user, 'eegsync_admin', 'MEMBER')
$$;

-- Whether a stream is one of this session's machine.
CREATE FUNCTION is_own_stream(of_stream uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
        WHERE st.uuid = of_stream AND r.role = session_user)
$$;

-- Each table by the study that its rows belong to.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT * FROM (VALUES
        ('study', 'id IN (SELECT readable_study())'),
        ('study_reader', 'study_id IN (SELECT readable_study())'),
        ('shipper', 'study_id IN (SELECT readable_study())'),
        ('machine', 'role IN (SELECT s.role FROM shipper AS s)'),
        ('host_boot', 'role IN (SELECT s.role FROM shipper AS s)'),
        ('headset', 'role IN (SELECT s.role FROM shipper AS s)'),
        ('clock_offset', 'host_boot_id IN (SELECT b.id FROM host_boot AS b)'),
        ('recording', 'study_id IN (SELECT readable_study())'),
        ('recording_detail', 'recording_id IN (SELECT r.id FROM recording AS r)'),
        ('recording_property', 'recording_id IN (SELECT r.id FROM recording AS r)'),
        ('annotation', 'recording_id IN (SELECT r.id FROM recording AS r)'),
        ('link', 'recording_id IN (SELECT r.id FROM recording AS r)'),
        ('stream', 'recording_id IN (SELECT r.id FROM recording AS r)'),
        ('channel', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('epoch', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('segment', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('gap', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('loss_detection', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('block', 'stream_id IN (SELECT s.id FROM stream AS s)'),
        ('sample_block', 'stream IN (SELECT s.uuid FROM stream AS s)'),
        ('sample_patch', 'stream IN (SELECT s.uuid FROM stream AS s)'),
        ('shipment', 'stream IN (SELECT s.uuid FROM stream AS s)')
    ) AS rule (name, condition) LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', item.name);
        EXECUTE format('CREATE POLICY %I ON %I FOR SELECT TO eegsync_read, eegsync_admin USING (%s)',
            item.name || '_of_study', item.name, item.condition);
    END LOOP;
END
$$;

CREATE POLICY study_administered ON study TO eegsync_admin USING (true) WITH CHECK (true);
CREATE POLICY study_reader_administered ON study_reader TO eegsync_admin USING (true) WITH CHECK (true);
CREATE POLICY shipper_administered ON shipper TO eegsync_admin USING (true) WITH CHECK (true);
CREATE POLICY sample_block_of_own ON sample_block FOR INSERT TO eegsync_ship WITH CHECK (is_own_stream(stream));
CREATE POLICY sample_patch_of_own ON sample_patch FOR INSERT TO eegsync_ship WITH CHECK (is_own_stream(stream));

-- A machine says who it is. One role is for one machine; a card that was moved comes with another UUID and the same role.
CREATE FUNCTION ship_machine(machine_uuid uuid, machine_version text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM shipper WHERE role = session_user) THEN
        RAISE EXCEPTION 'the role % belongs to no study here', session_user
            USING ERRCODE = 'insufficient_privilege', HINT = 'an administrator enrols it: eegsync centre enrol';
    END IF;
    INSERT INTO machine (uuid, role, version) VALUES (machine_uuid, session_user, machine_version)
    ON CONFLICT (uuid) DO UPDATE SET version = excluded.version, last_contact = now() WHERE machine.role = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the machine % ships with another role', machine_uuid USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

-- What is here of the streams of this session's machine.
CREATE FUNCTION ship_state() RETURNS TABLE (
    stream uuid, done_n bigint, head_first_n bigint, head_last_n bigint, late_number bigint, late_row_count bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.stream, s.done_n, s.head_first_n, s.head_last_n, s.late_number, s.late_row_count
    FROM shipment AS s JOIN stream AS st ON st.uuid = s.stream JOIN recording AS r ON r.id = st.recording_id
    WHERE r.role = session_user
$$;

-- The digests that are here of a stream's last blocks, by chain: a machine that has others there is not the one that sent them.
CREATE FUNCTION ship_heads(of_stream uuid) RETURNS TABLE (chain text, number bigint, row_count bigint, digest text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT ON (b.chain) b.chain, b.number, b.row_count, encode(b.digest, 'hex')
    FROM block AS b JOIN stream AS st ON st.id = b.stream_id JOIN recording AS r ON r.id = st.recording_id
    WHERE st.uuid = of_stream AND r.role = session_user ORDER BY b.chain, b.number DESC
$$;

-- Locks what is here of a stream until the transaction ends, and refuses where it is not what the machine supposes: another
-- process has sent meanwhile.
CREATE FUNCTION ship_begin(of_stream uuid, supposed_done_n bigint, supposed_head_last_n bigint, supposed_late_number bigint,
    supposed_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    present shipment;
BEGIN
    IF NOT is_own_stream(of_stream) THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO shipment (stream) VALUES (of_stream) ON CONFLICT DO NOTHING;
    SELECT * INTO present FROM shipment WHERE stream = of_stream FOR UPDATE;
    IF (present.done_n, present.head_last_n, present.late_number, present.late_row_count)
        IS DISTINCT FROM (supposed_done_n, supposed_head_last_n, supposed_late_number, supposed_late_row_count) THEN
        RAISE EXCEPTION 'another process has sent of the stream % meanwhile', of_stream USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- Says what is here of a stream from the end of this transaction on.
CREATE FUNCTION ship_end(of_stream uuid, now_done_n bigint, now_head_first_n bigint, now_head_last_n bigint,
    now_late_number bigint, now_late_row_count bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE shipment SET done_n = now_done_n, head_first_n = now_head_first_n, head_last_n = now_head_last_n,
        late_number = now_late_number, late_row_count = now_late_row_count, updated = now()
    WHERE stream = of_stream AND is_own_stream(of_stream);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the stream % is not one of %', of_stream, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

-- The host boots and clocks of a machine: [{"uuid", "clock_offset": [{...}]}].
CREATE FUNCTION ship_host_boots(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO host_boot (role, uuid) SELECT session_user, b ->> 'uuid' FROM jsonb_array_elements(document) AS b
    ON CONFLICT (role, uuid) DO NOTHING;
    INSERT INTO clock_offset (host_boot_id, id, boottime_ns, offset_ns, step_ns, is_synchronised)
    SELECT h.id, o.id, o.boottime_ns, o.offset_ns, o.step_ns, o.is_synchronised
    FROM jsonb_array_elements(document) AS b
    JOIN host_boot AS h ON h.role = session_user AND h.uuid = b ->> 'uuid'
    CROSS JOIN LATERAL jsonb_to_recordset(b -> 'clock_offset')
        AS o (id bigint, boottime_ns bigint, offset_ns bigint, step_ns bigint, is_synchronised integer)
    ON CONFLICT (host_boot_id, id) DO NOTHING;
END
$$;

-- The row of a host boot of this session's machine.
CREATE FUNCTION own_host_boot(of_uuid text) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS
$$SELECT id FROM host_boot WHERE role = session_user AND uuid = of_uuid$$;

-- A recording and what belongs to it but samples: the tables as the machine has them, host boots by UUID. It takes the part of
-- what was said before.
CREATE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    r jsonb := document -> 'recording';
    h jsonb := document -> 'headset';
    own_headset bigint;
    own_recording bigint;
BEGIN
    INSERT INTO headset (uuid, role, name, model, serial_number)
    VALUES ((h ->> 'uuid')::uuid, session_user, h ->> 'name', h ->> 'model', h ->> 'serial_number')
    ON CONFLICT (uuid) DO UPDATE SET name = excluded.name, serial_number = excluded.serial_number
        WHERE headset.role = session_user
    RETURNING id INTO own_headset;
    IF own_headset IS NULL THEN
        RAISE EXCEPTION 'the headset % is of another machine', h ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO recording (uuid, role, study_id, headset_id, machine_recording_id, desired_state, label, subject, task,
        requested_host_boot_id, requested_boottime_ns, started_host_boot_id, started_boottime_ns, stop_requested_host_boot_id,
        stop_requested_boottime_ns, stopped_host_boot_id, stopped_boottime_ns)
    VALUES ((r ->> 'uuid')::uuid, session_user, (SELECT study_id FROM shipper WHERE role = session_user), own_headset,
        (r ->> 'id')::bigint, r ->> 'desired_state', r ->> 'label', r ->> 'subject', r ->> 'task',
        own_host_boot(r ->> 'requested_host_boot'), (r ->> 'requested_boottime_ns')::bigint,
        own_host_boot(r ->> 'started_host_boot'), (r ->> 'started_boottime_ns')::bigint,
        own_host_boot(r ->> 'stop_requested_host_boot'), (r ->> 'stop_requested_boottime_ns')::bigint,
        own_host_boot(r ->> 'stopped_host_boot'), (r ->> 'stopped_boottime_ns')::bigint)
    ON CONFLICT (uuid) DO UPDATE SET desired_state = excluded.desired_state, label = excluded.label, subject = excluded.subject,
        task = excluded.task, started_host_boot_id = excluded.started_host_boot_id,
        started_boottime_ns = excluded.started_boottime_ns,
        stop_requested_host_boot_id = excluded.stop_requested_host_boot_id,
        stop_requested_boottime_ns = excluded.stop_requested_boottime_ns,
        stopped_host_boot_id = excluded.stopped_host_boot_id, stopped_boottime_ns = excluded.stopped_boottime_ns
        WHERE recording.role = session_user
    RETURNING id INTO own_recording;
    IF own_recording IS NULL THEN
        RAISE EXCEPTION 'the recording % is of another machine', r ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM ship_recording_parts(own_recording, document);
    PERFORM ship_streams(own_recording, document -> 'stream');
    IF EXISTS (
        SELECT 1 FROM stream AS st JOIN channel AS c ON c.stream_id = st.id
        WHERE st.recording_id = own_recording
            AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
            AND NOT EXISTS (
                SELECT 1 FROM pg_attribute AS a JOIN pg_class AS k ON k.oid = a.attrelid
                WHERE k.relnamespace = 'public'::regnamespace AND k.relname = st.name AND a.attname = c.name)) THEN
        PERFORM make_stream_views();
    END IF;
    DELETE FROM annotation WHERE recording_id = own_recording;
    INSERT INTO annotation (uuid, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id, n,
        device_ticks, code, replaces, withdrawn_host_boot_id, withdrawn_boottime_ns)
    SELECT a.uuid, own_recording, own_host_boot(a.host_boot), a.boottime_ns, a.duration_seconds, a.description, a.source,
        (SELECT id FROM stream WHERE uuid = a.stream AND recording_id = own_recording), a.n, a.device_ticks, a.code, a.replaces,
        own_host_boot(a.withdrawn_host_boot), a.withdrawn_boottime_ns
    FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid, host_boot text, boottime_ns bigint,
        duration_seconds double precision, description text, source text, stream uuid, n bigint, device_ticks bigint,
        code bigint, replaces uuid, withdrawn_host_boot text, withdrawn_boottime_ns bigint);
END
$$;

CREATE FUNCTION ship_recording_parts(own_recording bigint, document jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM recording_detail WHERE recording_id = own_recording;
    INSERT INTO recording_detail SELECT own_recording, d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
        d.subject_sex, d.subject_birthdate, d.subject_handedness
    FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text, notes text,
        time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text);
    DELETE FROM recording_property WHERE recording_id = own_recording;
    INSERT INTO recording_property SELECT own_recording, p.key, p.value
    FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text);
    DELETE FROM link WHERE recording_id = own_recording;
    INSERT INTO link (uuid, recording_id, host_boot_id, began_boottime_ns, ended_boottime_ns, facts)
    SELECT l.uuid, own_recording, own_host_boot(l.host_boot), l.began_boottime_ns, l.ended_boottime_ns, l.facts
    FROM jsonb_to_recordset(document -> 'link')
        AS l (uuid uuid, host_boot text, began_boottime_ns bigint, ended_boottime_ns bigint, facts jsonb);
END
$$;

CREATE FUNCTION ship_streams(own_recording bigint, documents jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
DECLARE
    d jsonb;
    own bigint;
BEGIN
    FOR d IN SELECT * FROM jsonb_array_elements(documents) LOOP
        INSERT INTO stream (uuid, recording_id, position, name, bank, sampling_frequency, samples_per_count, counter_modulus,
            channel_count, view_name)
        VALUES ((d ->> 'uuid')::uuid, own_recording, (d ->> 'position')::integer, d ->> 'name', (d ->> 'bank')::integer,
            (d ->> 'sampling_frequency')::double precision, (d ->> 'samples_per_count')::integer,
            (d ->> 'counter_modulus')::bigint, (d ->> 'channel_count')::integer, d ->> 'view_name')
        ON CONFLICT (uuid) DO UPDATE SET view_name = excluded.view_name WHERE stream.recording_id = own_recording
        RETURNING id INTO own;
        IF own IS NULL THEN
            RAISE EXCEPTION 'the stream % is of another recording', d ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
        END IF;
        DELETE FROM channel WHERE stream_id = own;
        INSERT INTO channel SELECT own, c.number, c.name, c.type, c.unit, c.scale, c."offset", c.raw_minimum, c.raw_maximum
        FROM jsonb_to_recordset(d -> 'channel') AS c (number integer, name text, type text, unit text, scale double precision,
            "offset" double precision, raw_minimum bigint, raw_maximum bigint);
        DELETE FROM epoch WHERE stream_id = own;
        INSERT INTO epoch SELECT own, e.number, e.boot_identifier, e.first_n, e.first_index, own_host_boot(e.host_boot),
            e.boottime_ns
        FROM jsonb_to_recordset(d -> 'epoch') AS e (number bigint, boot_identifier bigint, first_n bigint, first_index bigint,
            host_boot text, boottime_ns bigint);
        DELETE FROM segment WHERE stream_id = own;
        INSERT INTO segment SELECT own, s.first_n, s.last_n, s.epoch, own_host_boot(s.host_boot), s.reference_n,
            s.reference_boottime_ns, s.period_ns, s.residual_ns, s.observation_count, s.uncertainty_ns
        FROM jsonb_to_recordset(d -> 'segment') AS s (first_n bigint, last_n bigint, epoch bigint, host_boot text,
            reference_n bigint, reference_boottime_ns bigint, period_ns double precision, residual_ns double precision,
            observation_count bigint, uncertainty_ns double precision);
        INSERT INTO gap_cause SELECT DISTINCT g.cause, g.meaning
        FROM jsonb_to_recordset(d -> 'gap') AS g (cause text, meaning text) ON CONFLICT DO NOTHING;
        DELETE FROM gap WHERE stream_id = own;
        INSERT INTO gap SELECT own, g.first_n, g.channel, g.count, g.cause, g.recovered, own_host_boot(g.host_boot),
            g.boottime_ns, g.certainty, g.uncertainty
        FROM jsonb_to_recordset(d -> 'gap') AS g (first_n bigint, channel integer, count bigint, cause text, recovered bigint,
            host_boot text, boottime_ns bigint, certainty text, uncertainty bigint);
        DELETE FROM loss_detection WHERE stream_id = own;
        INSERT INTO loss_detection SELECT own, l.first_n, l.means
        FROM jsonb_to_recordset(d -> 'loss_detection') AS l (first_n bigint, means text);
        INSERT INTO block SELECT own, b.chain, b.number, b.channel, b.first_n, b.last_n, b.row_count, decode(b.digest, 'hex')
        FROM jsonb_to_recordset(d -> 'block') AS b (chain text, number bigint, channel integer, first_n bigint, last_n bigint,
            row_count bigint, digest text)
        ON CONFLICT (stream_id, chain, number) DO UPDATE SET last_n = excluded.last_n, row_count = excluded.row_count,
            digest = excluded.digest
            WHERE (block.last_n, block.row_count, block.digest) IS DISTINCT FROM
                (excluded.last_n, excluded.row_count, excluded.digest);
    END LOOP;
END
$$;

-- Puts a machine's role, which logs in, into a study, which is made where it is new.
CREATE FUNCTION enrol(of_role name, of_study text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO study (name) VALUES (of_study) ON CONFLICT DO NOTHING;
    INSERT INTO shipper (role, study_id) SELECT of_role, id FROM study WHERE name = of_study;
    EXECUTE format('GRANT eegsync_ship TO %I', of_role);
END
$$;

-- Lets a role read a study.
CREATE FUNCTION admit(of_role name, of_study text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO study_reader (study_id, role) SELECT id, of_role FROM study WHERE name = of_study;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no study %', of_study USING ERRCODE = 'no_data_found'; END IF;
    EXECUTE format('GRANT eegsync_read TO %I', of_role);
END
$$;

-- Erases a participant: all recordings of the subject, with everything that belongs to them. Backups of the server are beyond
-- it.
CREATE FUNCTION erase(of_subject text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    recordings bigint[] := ARRAY(
        SELECT r.id FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
        WHERE r.subject = of_subject OR d.subject_name = of_subject);
    streams bigint[] := ARRAY(SELECT id FROM stream WHERE recording_id = ANY (recordings));
    uuids uuid[] := ARRAY(SELECT uuid FROM stream WHERE recording_id = ANY (recordings));
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['sample_block', 'sample_patch', 'shipment'] LOOP
        EXECUTE format('DELETE FROM %I WHERE stream = ANY ($1)', part) USING uuids;
    END LOOP;
    DELETE FROM annotation WHERE recording_id = ANY (recordings);
    FOREACH part IN ARRAY ARRAY['channel', 'epoch', 'segment', 'gap', 'loss_detection', 'block'] LOOP
        EXECUTE format('DELETE FROM %I WHERE stream_id = ANY ($1)', part) USING streams;
    END LOOP;
    DELETE FROM stream WHERE id = ANY (streams);
    FOREACH part IN ARRAY ARRAY['link', 'recording_detail', 'recording_property'] LOOP
        EXECUTE format('DELETE FROM %I WHERE recording_id = ANY ($1)', part) USING recordings;
    END LOOP;
    DELETE FROM recording WHERE id = ANY (recordings);
    RETURN cardinality(recordings);
END
$$;

-- A view for each name of a stream, such as eeg: all streams of that name, with recording and headset, and a column for each
-- name that a channel has in any of them, in physical units. Made anew where a channel with a new name has come.
CREATE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    item record;
    columns text;
    scales text;
    joins text;
BEGIN
    -- Two machines may bring new names at once.
    PERFORM pg_advisory_xact_lock(1162168148);
    FOR item IN
        SELECT s.name, array_agg(s.channel ORDER BY s.first_id, s.first_number) AS channels FROM (
            SELECT st.name, c.name AS channel, min(st.id) AS first_id, min(c.number) AS first_number
            FROM stream AS st JOIN channel AS c ON c.stream_id = st.id
            WHERE c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
            GROUP BY st.name, c.name) AS s
        -- Not where something else is called so.
        WHERE NOT EXISTS (
            SELECT 1 FROM pg_class AS k WHERE k.relname = s.name AND k.relnamespace = 'public'::regnamespace
                AND (k.relkind <> 'v' OR obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'))
        GROUP BY s.name
    LOOP
        SELECT string_agg(format(
                'of_stream.s%1$s * CASE of_stream.k%1$s WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4 '
                || 'WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 WHEN 8 THEN s.c8 END + of_stream.o%1$s AS %2$I',
                number, channel), ', ' ORDER BY number),
            string_agg(format(
                ', j%1$s.number AS k%1$s, j%1$s.scale AS s%1$s, j%1$s."offset" AS o%1$s', number), '' ORDER BY number),
            string_agg(format(
                ' LEFT JOIN LATERAL (SELECT c.number, c.scale, c."offset" FROM channel AS c WHERE c.stream_id = st.id '
                || 'AND c.name = %2$L ORDER BY c.number LIMIT 1) AS j%1$s ON true', number, channel), '' ORDER BY number)
        INTO columns, scales, joins FROM unnest(item.channels) WITH ORDINALITY AS u (channel, number);
        EXECUTE format('DROP VIEW IF EXISTS %I', item.name);
        -- OFFSET: which channel is which column is looked up once for a stream, and not for each sample.
        EXECUTE format(
            'CREATE VIEW %1$I WITH (security_invoker = true) AS SELECT of_stream.recording_id, of_stream.headset, '
            || 'of_stream.id AS stream_id, of_stream.bank, s.n, utc_text(sample_unix_ns(of_stream.id, s.n)) AS "time", '
            || 'sample_unix_ns(of_stream.id, s.n) AS unix_ns, %2$s '
            || 'FROM (SELECT st.id, st.recording_id, st.bank, h.name AS headset%3$s FROM stream AS st '
            || 'JOIN recording AS r ON r.id = st.recording_id JOIN headset AS h ON h.id = r.headset_id%4$s '
            || 'WHERE st.name = %5$L OFFSET 0) AS of_stream JOIN sample AS s ON s.stream_id = of_stream.id',
            item.name, columns, scales, joins, item.name);
        EXECUTE format('COMMENT ON VIEW %I IS %L', item.name, 'streams of this name');
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', item.name);
    END LOOP;
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO eegsync_admin;
GRANT EXECUTE ON FUNCTION nearest, utc_text, sample_unix_ns, patched_value, samples, readable_study TO eegsync_read;
GRANT EXECUTE ON FUNCTION ship_machine, ship_state, ship_heads, ship_begin, ship_end, ship_host_boots, ship_recording,
    is_own_stream TO eegsync_ship;
