-- What the steps before got wrong: of machines that change their database or their study, of readers that went, of names that
-- an erasure left, of views that others have made, and of what is not ours in the database.

-- Roles that were dropped stand in study_reader still, and pg_has_role() has no answer for their names but an error. Its body
-- is bound to its tables here, and needs no search_path: it is called several times for the time of each sample, and a join
-- with pg_roles takes twice as long.
CREATE OR REPLACE FUNCTION readable_study() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT study_id FROM study_reader WHERE pg_has_role(session_user, to_regrole(quote_ident(role)), 'MEMBER')
    UNION ALL SELECT id FROM study WHERE pg_has_role(session_user, 'eegsync_admin', 'MEMBER');
END;

-- A machine may get another database within a boot, whose keys begin anew: what an offset says is what it is known by. `id` is
-- its key in the database that sent it first, and orders offsets of one instant.
DELETE FROM clock_offset AS c USING clock_offset AS d
WHERE c.host_boot_id = d.host_boot_id AND c.id > d.id AND (c.boottime_ns, c.offset_ns, c.step_ns, c.is_synchronised)
    = (d.boottime_ns, d.offset_ns, d.step_ns, d.is_synchronised);
ALTER TABLE clock_offset DROP CONSTRAINT clock_offset_pkey,
    ADD PRIMARY KEY (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised);

CREATE OR REPLACE FUNCTION ship_host_boots(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
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
    ON CONFLICT (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised) DO NOTHING;
END
$$;

-- A machine whose database was copied has the headsets of the first one, by the same UUIDs.
ALTER TABLE headset DROP CONSTRAINT headset_uuid_key, ADD UNIQUE (role, uuid);

CREATE OR REPLACE FUNCTION ship_head(document jsonb) RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    r jsonb := document -> 'recording';
    h jsonb := document -> 'headset';
    own_headset bigint;
    own_recording bigint;
BEGIN
    INSERT INTO headset (uuid, role, name, model, serial_number)
    VALUES ((h ->> 'uuid')::uuid, session_user, h ->> 'name', h ->> 'model', h ->> 'serial_number')
    ON CONFLICT (role, uuid) DO UPDATE SET name = excluded.name, serial_number = excluded.serial_number
    RETURNING id INTO own_headset;
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
    DELETE FROM recording_detail WHERE recording_id = own_recording;
    INSERT INTO recording_detail SELECT own_recording, d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
        d.subject_sex, d.subject_birthdate, d.subject_handedness
    FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text, notes text,
        time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text);
    DELETE FROM recording_property WHERE recording_id = own_recording;
    INSERT INTO recording_property SELECT own_recording, p.key, p.value
    FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text);
    RETURN own_recording;
END
$$;

-- Names of streams whose view is not there, or lacks a name that a channel has; of all recordings for NULL.
CREATE FUNCTION lacking_stream_views(of_recording bigint) RETURNS SETOF text LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT DISTINCT st.name FROM stream AS st CROSS JOIN LATERAL channel_names(st.id) AS c
    WHERE (of_recording IS NULL OR st.recording_id = of_recording)
        AND octet_length(st.name) <= 63 AND octet_length(c.name) BETWEEN 1 AND 63
        AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
        -- Not where something else is called so.
        AND NOT EXISTS (
            SELECT 1 FROM pg_class AS k WHERE k.relname = st.name AND k.relnamespace = 'public'::regnamespace
                AND (k.relkind <> 'v' OR obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
                    OR k.relnatts >= 207
                    OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = k.oid AND a.attname = c.name)))
$$;

CREATE OR REPLACE FUNCTION lacks_stream_view(of_recording bigint) RETURNS boolean LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$SELECT EXISTS (SELECT 1 FROM lacking_stream_views(of_recording))$$;

-- Makes the view of a name, or makes it anew: with the columns that it has, in their order, and further ones behind. So views
-- that somebody has made on it stay, and rights that somebody has given to it. Somebody may read it for hours, and whoever
-- comes meanwhile would wait behind us: a column that cannot be added at once is added another time.
CREATE FUNCTION make_stream_view(of_name text) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
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
    -- OFFSET: which channel is which column is looked up once for a stream, and not for each sample.
    EXECUTE format(
        'CREATE OR REPLACE VIEW %1$I WITH (security_invoker = true) AS SELECT of_stream.recording_id, of_stream.headset, '
        || 'of_stream.id AS stream_id, of_stream.bank, s.n, utc_text(sample_unix_ns(of_stream.id, s.n)) AS "time", '
        || 'sample_unix_ns(of_stream.id, s.n) AS unix_ns, %2$s '
        || 'FROM (SELECT st.id, st.recording_id, st.bank, h.name AS headset, names.* FROM stream AS st '
        || 'JOIN recording AS r ON r.id = st.recording_id JOIN headset AS h ON h.id = r.headset_id '
        || 'CROSS JOIN LATERAL (SELECT %3$s FROM channel_names(st.id) AS c) AS names '
        || 'WHERE st.name = %4$L OFFSET 0) AS of_stream JOIN sample AS s ON s.stream_id = of_stream.id',
        of_name, columns, scales, of_name);
    IF NOT is_there THEN
        EXECUTE format('COMMENT ON VIEW %I IS %L', of_name, 'streams of this name');
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', of_name);
    END IF;
EXCEPTION
    WHEN lock_not_available OR duplicate_column OR invalid_table_definition OR program_limit_exceeded OR syntax_error THEN
        RAISE WARNING 'the view % stays as it is: %', of_name, SQLERRM;
END
$$;

-- Those that lack something, and no others.
CREATE OR REPLACE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    -- Two machines may bring new names at once.
    PERFORM pg_advisory_xact_lock(1162168148);
    PERFORM make_stream_view(l.name) FROM lacking_stream_views(NULL) AS l (name);
END
$$;

-- One with others on it has stayed as an earlier step made it.
SELECT make_stream_view(k.relname) FROM pg_class AS k
WHERE k.relnamespace = 'public'::regnamespace AND k.relkind = 'v'
    AND obj_description(k.oid, 'pg_class') = 'streams of this name';
SELECT make_stream_views();

-- Rows of such a table must be what its view makes of them: one that is not would end every query over the study with an error.
CREATE FUNCTION check_rows(of_table text, elements jsonb) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = public, pg_temp AS $$
DECLARE
    columns text;
    bytes text;
BEGIN
    SELECT string_agg(CASE a.attname WHEN 'stream_id' THEN 'stream uuid' WHEN 'link_id' THEN 'link uuid' ELSE format('%I %s',
            a.attname, CASE a.atttypid WHEN 'bytea'::regtype THEN 'text' ELSE format_type(a.atttypid, NULL) END) END, ', '),
        string_agg(format(', count(decode(t.%I, ''hex''))', a.attname), '') FILTER (WHERE a.atttypid = 'bytea'::regtype)
    INTO columns, bytes
    FROM pg_attribute AS a JOIN pg_class AS k ON k.oid = a.attrelid
    WHERE k.relname = of_table AND k.relnamespace = 'public'::regnamespace AND k.relkind = 'v' AND a.attnum > 0
        AND obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
        AND a.attname NOT IN ('recording_id', 'headset_id', 'host_boot_id');
    -- Tables that have no view are read by nobody but a fetch of their recording.
    IF columns IS NOT NULL THEN
        EXECUTE format('SELECT count(*)%s FROM jsonb_to_recordset($1) AS e (row jsonb) '
            'CROSS JOIN LATERAL jsonb_to_record(e.row) AS t (%s)', coalesce(bytes, ''), columns) USING elements;
    END IF;
EXCEPTION
    WHEN data_exception THEN
        RAISE EXCEPTION 'what was sent is no row of %: %', of_table, SQLERRM USING ERRCODE = 'invalid_text_representation';
END
$$;

CREATE OR REPLACE FUNCTION keep_rows(of_recording bigint, of_table text, elements jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM check_rows(of_table, elements);
    INSERT INTO recording_row (recording_id, table_name, owner, number, part, row)
    SELECT of_recording, of_table, e.owner, e.number, e.part, e.row
    FROM jsonb_to_recordset(elements) AS e (owner text, number bigint, part bigint, row jsonb)
    ON CONFLICT (recording_id, table_name, owner, number, part) DO UPDATE SET row = excluded.row
        WHERE recording_row.row IS DISTINCT FROM excluded.row;
END
$$;

-- As before, but DELAY is known only where both times are, and no time that a machine says is too large for it.
CREATE OR REPLACE VIEW fleet WITH (security_invoker = true) AS
SELECT t.name AS study, q.role AS machine, m.uuid AS machine_uuid, m.version,
    extract(epoch FROM now() - greatest(m.last_contact, c.received))::double precision AS contact_seconds,
    c.machine IS NOT NULL AS has_said, c.is_acquiring, c.problem, c.alerts, c.free_bytes, c.disk_days,
    coalesce(d.name, p.name) AS headset, d.model, d.is_wanted, d.severity, d.sentence, d.alerts AS headset_alerts,
    d.battery_percent,
    extract(epoch FROM now() - c.received)::double precision + d.newest_seconds AS newest_seconds,
    CASE WHEN d.newest_unix_ns IS NOT NULL AND p.newest_unix_ns IS NOT NULL
        THEN greatest(0, (d.newest_unix_ns::numeric - p.newest_unix_ns) / 1e9)::double precision END AS delay_seconds,
    p.backlog_seconds, p.gaps_today, p.missing_today_seconds, p.newest_unix_ns, p.recording_id
FROM shipper AS q
JOIN study AS t ON t.id = q.study_id
LEFT JOIN LATERAL (SELECT * FROM machine AS m WHERE m.role = q.role ORDER BY m.last_contact DESC LIMIT 1) AS m ON true
LEFT JOIN machine_status AS c ON c.machine = m.uuid
LEFT JOIN headset_status AS d ON d.machine = m.uuid
LEFT JOIN headset_progress AS p ON p.role = q.role AND (p.name = d.name OR c.machine IS NULL);

-- A machine that went on to another study has left recordings in the one before: whoever reads these reads what they refer to.
-- Rows that are kept as they are name any boot of their machine.
CREATE INDEX recording_by_role ON recording (role);
ALTER POLICY machine_of_study ON machine USING (role IN (SELECT s.role FROM shipper AS s)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.role = machine.role));
ALTER POLICY host_boot_of_study ON host_boot USING (role IN (SELECT s.role FROM shipper AS s)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.role = host_boot.role));
ALTER POLICY headset_of_study ON headset USING (role IN (SELECT s.role FROM shipper AS s)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.headset_id = headset.id));

-- Puts a machine's role, which logs in, into a study, which is made where it is new. Returns the study that it was in before;
-- NULL for none. What was sent stays in that one.
DROP FUNCTION enrol(name, text);
CREATE FUNCTION enrol(of_role name, of_study text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    before text := (SELECT t.name FROM shipper AS s JOIN study AS t ON t.id = s.study_id WHERE s.role = of_role);
BEGIN
    INSERT INTO study (name) VALUES (of_study) ON CONFLICT DO NOTHING;
    INSERT INTO shipper (role, study_id) SELECT of_role, id FROM study WHERE name = of_study
    ON CONFLICT (role) DO UPDATE SET study_id = excluded.study_id;
    EXECUTE format('GRANT eegsync_ship TO %I', of_role);
    RETURN before;
END
$$;

-- Lets a role read a study; false where it reads that already.
DROP FUNCTION admit(name, text);
CREATE FUNCTION admit(of_role name, of_study text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := (SELECT id FROM study WHERE name = of_study);
    is_new boolean;
BEGIN
    IF own IS NULL THEN RAISE EXCEPTION 'there is no study %', of_study USING ERRCODE = 'no_data_found'; END IF;
    INSERT INTO study_reader (study_id, role) VALUES (own, of_role) ON CONFLICT DO NOTHING;
    is_new := FOUND;
    EXECUTE format('GRANT eegsync_read TO %I', of_role);
    RETURN is_new;
END
$$;

-- Lets a role read a study no more, or none for NULL; it may be a role that was dropped. Returns the studies that it read.
CREATE FUNCTION dismiss(of_role name, of_study text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY DELETE FROM study_reader AS s USING study AS t
    WHERE s.role = of_role AND t.id = s.study_id AND (of_study IS NULL OR t.name = of_study) RETURNING t.name;
    IF FOUND AND NOT EXISTS (SELECT 1 FROM study_reader WHERE role = of_role)
        AND EXISTS (SELECT 1 FROM pg_roles WHERE rolname = of_role) THEN
        EXECUTE format('REVOKE eegsync_read FROM %I', of_role);
    END IF;
END
$$;

-- Erases a participant: all recordings of the subject, with everything that belongs to them, and the participant's names in the
-- history of others. Returns how many recordings and rows of history, and where else a name still stands. Backups of the server
-- are beyond it.
CREATE FUNCTION erase_subject(of_subject text, OUT recording_count bigint, OUT edit_count bigint, OUT mentions text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    recordings bigint[] := ARRAY(
        SELECT r.id FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
        WHERE r.subject = of_subject OR d.subject_name = of_subject);
    -- As these recordings call the participant.
    names text[] := ARRAY(
        SELECT of_subject UNION SELECT e.name
        FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
        CROSS JOIN LATERAL (VALUES (r.subject), (d.subject_name)) AS e (name)
        WHERE r.id = ANY (recordings) AND e.name IS NOT NULL);
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
    recording_count := cardinality(recordings);
    -- By recording: of the other tables this one has many millions of rows.
    UPDATE recording_row AS t SET row = t.row
        || CASE WHEN t.row ->> 'before' = ANY (names) THEN '{"before": null}' ELSE '{}' END::jsonb
        || CASE WHEN t.row ->> 'after' = ANY (names) THEN '{"after": null}' ELSE '{}' END::jsonb
    FROM recording AS r
    WHERE t.recording_id = r.id AND t.table_name = 'recording_edit' AND t.row ->> 'field' IN ('subject', 'subject_name')
        AND (t.row ->> 'before' = ANY (names) OR t.row ->> 'after' = ANY (names));
    GET DIAGNOSTICS edit_count = ROW_COUNT;
    mentions := ARRAY(
        SELECT DISTINCT e.name || ' of recording ' || e.id FROM (
            SELECT 'annotation.description', recording_id, description FROM annotation
            UNION ALL SELECT 'recording.subject', id, subject FROM recording
            UNION ALL SELECT 'recording.label', id, label FROM recording
            UNION ALL SELECT 'recording.task', id, task FROM recording
            UNION ALL SELECT 'recording_detail.' || v.name, d.recording_id, v.value FROM recording_detail AS d
                CROSS JOIN LATERAL (VALUES ('subject_name', d.subject_name), ('notes', d.notes), ('session', d.session))
                AS v (name, value)
            UNION ALL SELECT 'recording_property.value', recording_id, value FROM recording_property
            UNION ALL SELECT 'recording_edit.' || v.name, r.id, t.row ->> v.name FROM recording AS r
                JOIN recording_row AS t ON t.recording_id = r.id AND t.table_name = 'recording_edit'
                CROSS JOIN (VALUES ('before'), ('after')) AS v (name)
        ) AS e (name, id, value)
        -- Other participants may be called something with these letters in it.
        WHERE EXISTS (SELECT 1 FROM unnest(names) AS n (name)
            WHERE n.name <> '' AND CASE WHEN e.name IN ('recording.subject', 'recording_detail.subject_name')
                THEN lower(e.value) = lower(n.name) ELSE strpos(lower(e.value), lower(n.name)) > 0 END)
        ORDER BY 1);
END
$$;

CREATE OR REPLACE FUNCTION erase(of_subject text) RETURNS bigint LANGUAGE sql SECURITY DEFINER
SET search_path = public, pg_temp AS $$SELECT recording_count FROM erase_subject(of_subject)$$;

REVOKE ALL ON FUNCTION lacking_stream_views, make_stream_view, check_rows, enrol, admit, dismiss, erase_subject FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lacking_stream_views, make_stream_view, check_rows, enrol, admit, dismiss, erase_subject
    TO eegsync_admin;

-- The step p0003_shipping gave and took rights of whatever was in the database. What was given of what is not ours is taken
-- back, where readers and administrators both have it: a right that somebody gave to one of them stays, and so does that of a
-- view on ours, which was made later. What was taken from everybody of an extension comes back, as the extension had it; of the
-- rest nobody knows what it was.
DO $$
DECLARE
    own name[] := ARRAY['adoption', 'annotation', 'annotation_time', 'arrival', 'block', 'channel', 'channel_correction',
        'channel_declaration', 'clock_observation', 'clock_offset', 'connection_attempt', 'connection_event', 'epoch', 'fleet',
        'full_disk', 'gap', 'gap_between_boots', 'gap_cause', 'gap_time', 'headset', 'headset_message', 'headset_progress',
        'headset_status', 'host_boot', 'host_boot_clock', 'impedance', 'link', 'link_provenance', 'link_quality',
        'loss_detection', 'machine', 'machine_status', 'merge_conflict', 'process', 'recording', 'recording_detail',
        'recording_edit', 'recording_overview', 'recording_property', 'recording_row', 'recording_series', 'refit',
        'replaced_segment', 'sample', 'sample_block', 'sample_long', 'sample_patch', 'schema_step', 'segment', 'segment_time',
        'shipment', 'shipper', 'signal_check', 'status_report', 'stream', 'stream_overview', 'streaming_return', 'study',
        'study_reader', 'suspension', 'undigested_rows'];
    own_functions name[] := ARRAY['admit', 'channel_names', 'check_rows', 'dismiss', 'enrol', 'erase', 'erase_subject',
        'is_own_stream', 'keep_rows', 'lacking_stream_views', 'lacks_stream_view', 'make_stream_view', 'make_stream_views',
        'nearest', 'note_declared_names', 'own_host_boot', 'own_recording', 'patched_value', 'readable_study', 'row_lists',
        'sample_unix_ns', 'samples', 'ship_begin', 'ship_changes', 'ship_end', 'ship_head', 'ship_heads', 'ship_host_boots',
        'ship_machine', 'ship_recording', 'ship_row_changes', 'ship_rows', 'ship_series', 'ship_state', 'ship_status',
        'ship_stream_changes', 'ship_table_changes', 'ship_table_recording', 'short_texts', 'utc_text'];
    item record;
BEGIN
    FOR item IN
        SELECT format('public.%I', k.relname) AS name,
            EXISTS (SELECT 1 FROM pg_init_privs AS i CROSS JOIN LATERAL aclexplode(i.initprivs) AS a
                WHERE (i.classoid, i.objoid, i.objsubid) = ('pg_class'::regclass, k.oid, 0) AND i.privtype = 'e'
                    AND a.grantee = 0 AND a.privilege_type = 'SELECT') AS is_public
        FROM pg_class AS k
        WHERE k.relnamespace = 'public'::regnamespace AND k.relkind IN ('r', 'p', 'v', 'm', 'f') AND k.relname <> ALL (own)
            AND NOT k.relispartition AND obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
            AND (SELECT count(DISTINCT a.grantee) FROM aclexplode(k.relacl) AS a WHERE a.privilege_type = 'SELECT'
                AND a.grantee IN ('eegsync_read'::regrole, 'eegsync_admin'::regrole)) = 2
            AND NOT EXISTS (
                SELECT 1 FROM pg_rewrite AS w
                JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid = 'pg_class'::regclass
                JOIN pg_class AS u ON u.oid = d.refobjid AND u.relnamespace = 'public'::regnamespace
                WHERE w.ev_class = k.oid AND u.oid <> k.oid
                    AND (u.relname = ANY (own) OR obj_description(u.oid, 'pg_class') = 'streams of this name'))
    LOOP
        EXECUTE format('REVOKE SELECT ON %s FROM eegsync_read, eegsync_admin', item.name);
        IF item.is_public THEN EXECUTE format('GRANT SELECT ON %s TO PUBLIC', item.name); END IF;
    END LOOP;
    FOR item IN
        SELECT p.oid::regprocedure AS name,
            EXISTS (SELECT 1 FROM pg_depend AS d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
            -- An extension that took it from everybody itself has a list of its own without it.
            AND coalesce((SELECT bool_or(a.grantee = 0) FROM pg_init_privs AS i CROSS JOIN LATERAL aclexplode(i.initprivs) AS a
                WHERE (i.classoid, i.objoid, i.objsubid) = ('pg_proc'::regclass, p.oid, 0)), true) AS is_public
        FROM pg_proc AS p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prokind <> 'p' AND p.proname <> ALL (own_functions)
            AND EXISTS (SELECT 1 FROM aclexplode(p.proacl) AS a WHERE a.grantee = 'eegsync_admin'::regrole)
            AND NOT EXISTS (SELECT 1 FROM aclexplode(p.proacl) AS a WHERE a.grantee = 0)
    LOOP
        EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM eegsync_admin', item.name);
        IF item.is_public THEN EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', item.name); END IF;
    END LOOP;
END
$$;
