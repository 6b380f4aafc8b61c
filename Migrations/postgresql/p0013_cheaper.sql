-- What a machine that ships live costs: the same functions, which do the same with less. A function in SQL is planned anew by
-- each statement that calls it, one in PL/pgSQL once in a session; and what is there already is not written again. Measured
-- with Tests/Fleet/load.

-- Nobody asks which values are frequent within blocks of samples, or within rows that are kept as they are; to find that out,
-- each time a table had grown by a tenth, took half of all that the server did with forty machines.
ALTER TABLE sample_block
    ALTER COLUMN c1 SET STATISTICS 0, ALTER COLUMN c2 SET STATISTICS 0, ALTER COLUMN c3 SET STATISTICS 0,
    ALTER COLUMN c4 SET STATISTICS 0, ALTER COLUMN c5 SET STATISTICS 0, ALTER COLUMN c6 SET STATISTICS 0,
    ALTER COLUMN c7 SET STATISTICS 0, ALTER COLUMN c8 SET STATISTICS 0;
ALTER TABLE sample_patch ALTER COLUMN values SET STATISTICS 0;
ALTER TABLE recording_row ALTER COLUMN row SET STATISTICS 0;

CREATE OR REPLACE FUNCTION own_host_boot(of_uuid text) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS
$$BEGIN RETURN (SELECT b.id FROM host_boot AS b WHERE b.role = session_user AND b.uuid = of_uuid); END$$;

CREATE OR REPLACE FUNCTION own_recording(of_uuid uuid) RETURNS bigint LANGUAGE plpgsql STABLE
SET search_path = public, pg_temp AS
$$BEGIN RETURN (SELECT r.id FROM recording AS r WHERE r.uuid = of_uuid AND r.role = session_user); END$$;

CREATE OR REPLACE FUNCTION is_own_stream(of_stream uuid) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
        WHERE st.uuid = of_stream AND r.role = session_user);
END
$$;

-- A recording, its headset and what people say of it come with every change of what belongs to them, and are mostly as they
-- were.
CREATE OR REPLACE FUNCTION ship_head(document jsonb) RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    r jsonb := document -> 'recording';
    h jsonb := document -> 'headset';
    own_headset bigint;
    own_recording bigint;
BEGIN
    SELECT k.id INTO own_headset FROM headset AS k
    WHERE k.role = session_user AND k.uuid = (h ->> 'uuid')::uuid
        AND (k.name, k.serial_number) IS NOT DISTINCT FROM (h ->> 'name', h ->> 'serial_number');
    IF own_headset IS NULL THEN
        INSERT INTO headset (uuid, role, name, model, serial_number)
        VALUES ((h ->> 'uuid')::uuid, session_user, h ->> 'name', h ->> 'model', h ->> 'serial_number')
        ON CONFLICT (role, uuid) DO UPDATE SET name = excluded.name, serial_number = excluded.serial_number
        RETURNING id INTO own_headset;
    END IF;
    -- Of two processes that ship one recording, one waits here for the other one's transaction, as with an UPDATE.
    SELECT k.id INTO own_recording FROM recording AS k
    WHERE k.uuid = (r ->> 'uuid')::uuid AND k.role = session_user
        AND (k.desired_state, k.label, k.subject, k.task, k.started_host_boot_id, k.started_boottime_ns,
            k.stop_requested_host_boot_id, k.stop_requested_boottime_ns, k.stopped_host_boot_id, k.stopped_boottime_ns)
        IS NOT DISTINCT FROM (r ->> 'desired_state', r ->> 'label', r ->> 'subject', r ->> 'task',
            own_host_boot(r ->> 'started_host_boot'), (r ->> 'started_boottime_ns')::bigint,
            own_host_boot(r ->> 'stop_requested_host_boot'), (r ->> 'stop_requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'stopped_host_boot'), (r ->> 'stopped_boottime_ns')::bigint)
    FOR NO KEY UPDATE;
    IF own_recording IS NULL THEN
        INSERT INTO recording (uuid, role, study_id, headset_id, machine_recording_id, desired_state, label, subject, task,
            requested_host_boot_id, requested_boottime_ns, started_host_boot_id, started_boottime_ns,
            stop_requested_host_boot_id, stop_requested_boottime_ns, stopped_host_boot_id, stopped_boottime_ns)
        VALUES ((r ->> 'uuid')::uuid, session_user, (SELECT study_id FROM shipper WHERE role = session_user), own_headset,
            (r ->> 'id')::bigint, r ->> 'desired_state', r ->> 'label', r ->> 'subject', r ->> 'task',
            own_host_boot(r ->> 'requested_host_boot'), (r ->> 'requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'started_host_boot'), (r ->> 'started_boottime_ns')::bigint,
            own_host_boot(r ->> 'stop_requested_host_boot'), (r ->> 'stop_requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'stopped_host_boot'), (r ->> 'stopped_boottime_ns')::bigint)
        ON CONFLICT (uuid) DO UPDATE SET desired_state = excluded.desired_state, label = excluded.label,
            subject = excluded.subject, task = excluded.task, started_host_boot_id = excluded.started_host_boot_id,
            started_boottime_ns = excluded.started_boottime_ns,
            stop_requested_host_boot_id = excluded.stop_requested_host_boot_id,
            stop_requested_boottime_ns = excluded.stop_requested_boottime_ns,
            stopped_host_boot_id = excluded.stopped_host_boot_id, stopped_boottime_ns = excluded.stopped_boottime_ns
            WHERE recording.role = session_user
        RETURNING id INTO own_recording;
    END IF;
    IF own_recording IS NULL THEN
        RAISE EXCEPTION 'the recording % is of another machine', r ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    DELETE FROM recording_detail AS k WHERE k.recording_id = own_recording AND NOT EXISTS (
        SELECT 1 FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text,
            notes text, time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text)
        WHERE (k.session, k.run, k.operator, k.notes, k.time_zone, k.subject_name, k.subject_sex, k.subject_birthdate,
            k.subject_handedness) IS NOT DISTINCT FROM (d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
            d.subject_sex, d.subject_birthdate, d.subject_handedness));
    INSERT INTO recording_detail SELECT own_recording, d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
        d.subject_sex, d.subject_birthdate, d.subject_handedness
    FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text, notes text,
        time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text)
    ON CONFLICT (recording_id) DO NOTHING;
    DELETE FROM recording_property AS k WHERE k.recording_id = own_recording AND NOT EXISTS (
        SELECT 1 FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text)
        WHERE (p.key, p.value) = (k.key, k.value));
    INSERT INTO recording_property SELECT own_recording, p.key, p.value
    FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text)
    ON CONFLICT (recording_id, key) DO NOTHING;
    RETURN own_recording;
END
$$;

-- As before, but lists that did not come are not looked for, and a stream that is as it was is not written.
CREATE OR REPLACE FUNCTION ship_stream_changes(own_recording bigint, d jsonb, gone jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
    SELECT k.id INTO own FROM stream AS k
    WHERE k.uuid = (d ->> 'uuid')::uuid AND k.recording_id = own_recording AND k.view_name = d ->> 'view_name';
    IF own IS NULL THEN
        INSERT INTO stream (uuid, recording_id, position, name, bank, sampling_frequency, samples_per_count, counter_modulus,
            channel_count, view_name)
        VALUES ((d ->> 'uuid')::uuid, own_recording, (d ->> 'position')::integer, d ->> 'name', (d ->> 'bank')::integer,
            (d ->> 'sampling_frequency')::double precision, (d ->> 'samples_per_count')::integer,
            (d ->> 'counter_modulus')::bigint, (d ->> 'channel_count')::integer, d ->> 'view_name')
        ON CONFLICT (uuid) DO UPDATE SET view_name = excluded.view_name WHERE stream.recording_id = own_recording
        RETURNING id INTO own;
    END IF;
    IF own IS NULL THEN
        RAISE EXCEPTION 'the stream % is of another recording', d ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF gone IS NOT NULL THEN
        DELETE FROM channel WHERE stream_id = own AND number IN (
            SELECT (e ->> 'number')::integer FROM jsonb_array_elements(gone -> 'channel') AS e);
        DELETE FROM epoch WHERE stream_id = own AND number IN (
            SELECT (e ->> 'number')::bigint FROM jsonb_array_elements(gone -> 'epoch') AS e);
        DELETE FROM segment WHERE stream_id = own AND first_n IN (
            SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'segment') AS e);
        DELETE FROM gap WHERE stream_id = own AND (channel, first_n) IN (
            SELECT (e ->> 'channel')::integer, (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'gap') AS e);
        DELETE FROM loss_detection WHERE stream_id = own AND first_n IN (
            SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'loss_detection') AS e);
    END IF;
    IF d ? 'channel' THEN
        INSERT INTO channel SELECT own, c.number, c.name, c.type, c.unit, c.scale, c."offset", c.raw_minimum, c.raw_maximum
        FROM jsonb_to_recordset(d -> 'channel') AS c (number integer, name text, type text, unit text, scale double precision,
            "offset" double precision, raw_minimum bigint, raw_maximum bigint)
        ON CONFLICT (stream_id, number) DO UPDATE SET name = excluded.name, type = excluded.type, unit = excluded.unit,
            scale = excluded.scale, "offset" = excluded."offset", raw_minimum = excluded.raw_minimum,
            raw_maximum = excluded.raw_maximum;
    END IF;
    IF d ? 'epoch' THEN
        INSERT INTO epoch SELECT own, e.number, e.boot_identifier, e.first_n, e.first_index, own_host_boot(e.host_boot),
            e.boottime_ns
        FROM jsonb_to_recordset(d -> 'epoch') AS e (number bigint, boot_identifier bigint, first_n bigint, first_index bigint,
            host_boot text, boottime_ns bigint)
        ON CONFLICT (stream_id, number) DO UPDATE SET boot_identifier = excluded.boot_identifier, first_n = excluded.first_n,
            first_index = excluded.first_index, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns;
    END IF;
    IF d ? 'segment' THEN
        INSERT INTO segment SELECT own, s.first_n, s.last_n, s.epoch, own_host_boot(s.host_boot), s.reference_n,
            s.reference_boottime_ns, s.period_ns, s.residual_ns, s.observation_count, s.uncertainty_ns
        FROM jsonb_to_recordset(d -> 'segment') AS s (first_n bigint, last_n bigint, epoch bigint, host_boot text,
            reference_n bigint, reference_boottime_ns bigint, period_ns double precision, residual_ns double precision,
            observation_count bigint, uncertainty_ns double precision)
        ON CONFLICT (stream_id, first_n) DO UPDATE SET last_n = excluded.last_n, epoch = excluded.epoch,
            host_boot_id = excluded.host_boot_id, reference_n = excluded.reference_n,
            reference_boottime_ns = excluded.reference_boottime_ns, period_ns = excluded.period_ns,
            residual_ns = excluded.residual_ns, observation_count = excluded.observation_count,
            uncertainty_ns = excluded.uncertainty_ns;
    END IF;
    IF d ? 'gap' THEN
        INSERT INTO gap_cause SELECT DISTINCT g.cause, g.meaning
        FROM jsonb_to_recordset(d -> 'gap') AS g (cause text, meaning text) ON CONFLICT DO NOTHING;
        INSERT INTO gap SELECT own, g.first_n, g.channel, g.count, g.cause, g.recovered, own_host_boot(g.host_boot),
            g.boottime_ns, g.certainty, g.uncertainty
        FROM jsonb_to_recordset(d -> 'gap') AS g (first_n bigint, channel integer, count bigint, cause text, recovered bigint,
            host_boot text, boottime_ns bigint, certainty text, uncertainty bigint)
        ON CONFLICT (stream_id, channel, first_n) DO UPDATE SET count = excluded.count, cause = excluded.cause,
            recovered = excluded.recovered, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
            certainty = excluded.certainty, uncertainty = excluded.uncertainty;
    END IF;
    IF d ? 'loss_detection' THEN
        INSERT INTO loss_detection SELECT own, l.first_n, l.means
        FROM jsonb_to_recordset(d -> 'loss_detection') AS l (first_n bigint, means text)
        ON CONFLICT (stream_id, first_n) DO UPDATE SET means = excluded.means;
    END IF;
    IF d ? 'block' THEN
        INSERT INTO block SELECT own, b.chain, b.number, b.channel, b.first_n, b.last_n, b.row_count, decode(b.digest, 'hex')
        FROM jsonb_to_recordset(d -> 'block') AS b (chain text, number bigint, channel integer, first_n bigint, last_n bigint,
            row_count bigint, digest text)
        ON CONFLICT (stream_id, chain, number) DO UPDATE SET last_n = excluded.last_n, row_count = excluded.row_count,
            digest = excluded.digest
            WHERE (block.last_n, block.row_count, block.digest) IS DISTINCT FROM
                (excluded.last_n, excluded.row_count, excluded.digest);
    END IF;
END
$$;

-- As before, but without views, which whoever calls it makes once all names are there.
CREATE OR REPLACE FUNCTION ship_table_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own_recording bigint := ship_head(document);
    gone jsonb := document -> 'removed';
    d jsonb;
BEGIN
    IF gone ? 'link' THEN
        DELETE FROM link WHERE recording_id = own_recording AND uuid IN (
            SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'link') AS e);
    END IF;
    IF document ? 'link' THEN
        INSERT INTO link (uuid, recording_id, host_boot_id, began_boottime_ns, ended_boottime_ns, facts)
        SELECT l.uuid, own_recording, own_host_boot(l.host_boot), l.began_boottime_ns, l.ended_boottime_ns, l.facts
        FROM jsonb_to_recordset(document -> 'link')
            AS l (uuid uuid, host_boot text, began_boottime_ns bigint, ended_boottime_ns bigint, facts jsonb)
        ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, began_boottime_ns = excluded.began_boottime_ns,
            ended_boottime_ns = excluded.ended_boottime_ns, facts = excluded.facts WHERE link.recording_id = own_recording;
    END IF;
    FOR d IN SELECT * FROM jsonb_array_elements(document -> 'stream') LOOP
        PERFORM ship_stream_changes(own_recording, d, d -> 'removed');
    END LOOP;
    IF gone ? 'annotation' THEN
        DELETE FROM annotation WHERE recording_id = own_recording AND uuid IN (
            SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'annotation') AS e);
    END IF;
    IF document ? 'annotation' THEN
        INSERT INTO annotation (uuid, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id,
            n, device_ticks, code, replaces, withdrawn_host_boot_id, withdrawn_boottime_ns)
        SELECT a.uuid, own_recording, own_host_boot(a.host_boot), a.boottime_ns, a.duration_seconds, a.description, a.source,
            (SELECT id FROM stream WHERE uuid = a.stream AND recording_id = own_recording), a.n, a.device_ticks, a.code,
            a.replaces, own_host_boot(a.withdrawn_host_boot), a.withdrawn_boottime_ns
        FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid, host_boot text, boottime_ns bigint,
            duration_seconds double precision, description text, source text, stream uuid, n bigint, device_ticks bigint,
            code bigint, replaces uuid, withdrawn_host_boot text, withdrawn_boottime_ns bigint)
        ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
            duration_seconds = excluded.duration_seconds, description = excluded.description, source = excluded.source,
            stream_id = excluded.stream_id, n = excluded.n, device_ticks = excluded.device_ticks, code = excluded.code,
            replaces = excluded.replaces, withdrawn_host_boot_id = excluded.withdrawn_host_boot_id,
            withdrawn_boottime_ns = excluded.withdrawn_boottime_ns WHERE annotation.recording_id = own_recording;
    END IF;
END
$$;

-- What changed of a recording. The names under which channels began are noted where channels or those names came. A machine
-- that asks for its views itself is spared the look at the catalogue, which took a quarter of all that it cost.
CREATE OR REPLACE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
    PERFORM ship_row_changes(document);
    own := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    IF document ? 'channel_declaration' OR document @? '$.stream[*].channel' THEN
        PERFORM note_declared_names(own);
    END IF;
    IF current_setting('eegsync.views', true) IS DISTINCT FROM 'afterwards' AND lacks_stream_view(own) THEN
        PERFORM make_stream_views();
    END IF;
END
$$;

-- Rows of such a table must be what its view makes of them, as before: each table has a statement of its own here, which is
-- planned once in a session. A step that makes a view of such rows, or changes one, calls make_row_checks().
CREATE FUNCTION make_row_checks() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $make$
DECLARE
    branches text;
BEGIN
    SELECT string_agg(format(
            'WHEN %L THEN PERFORM count(*)%s FROM jsonb_to_recordset(elements) AS e (row jsonb) '
            || 'CROSS JOIN LATERAL jsonb_to_record(e.row) AS t (%s);', v.name, coalesce(v.bytes, ''), v.columns), E'\n'
        ORDER BY v.name)
    INTO branches FROM (
        SELECT k.relname AS name,
            string_agg(CASE a.attname WHEN 'stream_id' THEN 'stream uuid' WHEN 'link_id' THEN 'link uuid' ELSE format('%I %s',
                a.attname, CASE a.atttypid WHEN 'bytea'::regtype THEN 'text' ELSE format_type(a.atttypid, NULL) END) END, ', ')
                AS columns,
            string_agg(format(', count(decode(t.%I, ''hex''))', a.attname), '') FILTER (WHERE a.atttypid = 'bytea'::regtype)
                AS bytes
        FROM pg_class AS k JOIN pg_attribute AS a ON a.attrelid = k.oid
        WHERE k.relnamespace = 'public'::regnamespace AND k.relkind = 'v' AND a.attnum > 0
            AND obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
            AND a.attname NOT IN ('recording_id', 'headset_id', 'host_boot_id')
            AND EXISTS (
                SELECT 1 FROM pg_rewrite AS w JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                WHERE w.ev_class = k.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = 'recording_row'::regclass)
        GROUP BY k.relname) AS v;
    -- Tables that have no view are read by nobody but a fetch of their recording.
    EXECUTE format($f$
        CREATE OR REPLACE FUNCTION check_rows(of_table text, elements jsonb) RETURNS void LANGUAGE plpgsql STABLE
        SET search_path = public, pg_temp AS $check$
        BEGIN
            CASE of_table
            %s
            ELSE NULL;
            END CASE;
        EXCEPTION
            WHEN data_exception THEN
                RAISE EXCEPTION 'what was sent is no row of %%: %%', of_table, SQLERRM
                    USING ERRCODE = 'invalid_text_representation';
        END
        $check$ $f$, branches);
END
$make$;
SELECT make_row_checks();

REVOKE ALL ON FUNCTION make_row_checks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_row_checks TO eegsync_admin;
