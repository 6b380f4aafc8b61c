-- What has changed of a recording, instead of all that is said of it; and names of streams and channels that no view can have
-- stop nobody.

-- The recording itself, its headset, and what people say of it. Returns its key.
CREATE FUNCTION ship_head(document jsonb) RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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

-- Rows that are new or have changed, of a recording and its streams, and keys of those that are gone ("removed"): the document
-- of ship_recording with parts of its lists. Whoever sends it has sent the whole on the same connection before.
CREATE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own_recording bigint := ship_head(document);
    gone jsonb := document -> 'removed';
    d jsonb;
BEGIN
    DELETE FROM link WHERE recording_id = own_recording AND uuid IN (
        SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'link') AS e);
    INSERT INTO link (uuid, recording_id, host_boot_id, began_boottime_ns, ended_boottime_ns, facts)
    SELECT l.uuid, own_recording, own_host_boot(l.host_boot), l.began_boottime_ns, l.ended_boottime_ns, l.facts
    FROM jsonb_to_recordset(document -> 'link')
        AS l (uuid uuid, host_boot text, began_boottime_ns bigint, ended_boottime_ns bigint, facts jsonb)
    ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, began_boottime_ns = excluded.began_boottime_ns,
        ended_boottime_ns = excluded.ended_boottime_ns, facts = excluded.facts WHERE link.recording_id = own_recording;
    FOR d IN SELECT * FROM jsonb_array_elements(document -> 'stream') LOOP
        PERFORM ship_stream_changes(own_recording, d, d -> 'removed');
    END LOOP;
    IF lacks_stream_view(own_recording) THEN
        PERFORM make_stream_views();
    END IF;
    DELETE FROM annotation WHERE recording_id = own_recording AND uuid IN (
        SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'annotation') AS e);
    INSERT INTO annotation (uuid, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id, n,
        device_ticks, code, replaces, withdrawn_host_boot_id, withdrawn_boottime_ns)
    SELECT a.uuid, own_recording, own_host_boot(a.host_boot), a.boottime_ns, a.duration_seconds, a.description, a.source,
        (SELECT id FROM stream WHERE uuid = a.stream AND recording_id = own_recording), a.n, a.device_ticks, a.code, a.replaces,
        own_host_boot(a.withdrawn_host_boot), a.withdrawn_boottime_ns
    FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid, host_boot text, boottime_ns bigint,
        duration_seconds double precision, description text, source text, stream uuid, n bigint, device_ticks bigint,
        code bigint, replaces uuid, withdrawn_host_boot text, withdrawn_boottime_ns bigint)
    ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
        duration_seconds = excluded.duration_seconds, description = excluded.description, source = excluded.source,
        stream_id = excluded.stream_id, n = excluded.n, device_ticks = excluded.device_ticks, code = excluded.code,
        replaces = excluded.replaces, withdrawn_host_boot_id = excluded.withdrawn_host_boot_id,
        withdrawn_boottime_ns = excluded.withdrawn_boottime_ns WHERE annotation.recording_id = own_recording;
END
$$;

-- The same of one stream.
CREATE FUNCTION ship_stream_changes(own_recording bigint, d jsonb, gone jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
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
    DELETE FROM channel WHERE stream_id = own AND number IN (
        SELECT (e ->> 'number')::integer FROM jsonb_array_elements(gone -> 'channel') AS e);
    INSERT INTO channel SELECT own, c.number, c.name, c.type, c.unit, c.scale, c."offset", c.raw_minimum, c.raw_maximum
    FROM jsonb_to_recordset(d -> 'channel') AS c (number integer, name text, type text, unit text, scale double precision,
        "offset" double precision, raw_minimum bigint, raw_maximum bigint)
    ON CONFLICT (stream_id, number) DO UPDATE SET name = excluded.name, type = excluded.type, unit = excluded.unit,
        scale = excluded.scale, "offset" = excluded."offset", raw_minimum = excluded.raw_minimum,
        raw_maximum = excluded.raw_maximum;
    DELETE FROM epoch WHERE stream_id = own AND number IN (
        SELECT (e ->> 'number')::bigint FROM jsonb_array_elements(gone -> 'epoch') AS e);
    INSERT INTO epoch SELECT own, e.number, e.boot_identifier, e.first_n, e.first_index, own_host_boot(e.host_boot),
        e.boottime_ns
    FROM jsonb_to_recordset(d -> 'epoch') AS e (number bigint, boot_identifier bigint, first_n bigint, first_index bigint,
        host_boot text, boottime_ns bigint)
    ON CONFLICT (stream_id, number) DO UPDATE SET boot_identifier = excluded.boot_identifier, first_n = excluded.first_n,
        first_index = excluded.first_index, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns;
    DELETE FROM segment WHERE stream_id = own AND first_n IN (
        SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'segment') AS e);
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
    INSERT INTO gap_cause SELECT DISTINCT g.cause, g.meaning
    FROM jsonb_to_recordset(d -> 'gap') AS g (cause text, meaning text) ON CONFLICT DO NOTHING;
    DELETE FROM gap WHERE stream_id = own AND (channel, first_n) IN (
        SELECT (e ->> 'channel')::integer, (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'gap') AS e);
    INSERT INTO gap SELECT own, g.first_n, g.channel, g.count, g.cause, g.recovered, own_host_boot(g.host_boot),
        g.boottime_ns, g.certainty, g.uncertainty
    FROM jsonb_to_recordset(d -> 'gap') AS g (first_n bigint, channel integer, count bigint, cause text, recovered bigint,
        host_boot text, boottime_ns bigint, certainty text, uncertainty bigint)
    ON CONFLICT (stream_id, channel, first_n) DO UPDATE SET count = excluded.count, cause = excluded.cause,
        recovered = excluded.recovered, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
        certainty = excluded.certainty, uncertainty = excluded.uncertainty;
    DELETE FROM loss_detection WHERE stream_id = own AND first_n IN (
        SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'loss_detection') AS e);
    INSERT INTO loss_detection SELECT own, l.first_n, l.means
    FROM jsonb_to_recordset(d -> 'loss_detection') AS l (first_n bigint, means text)
    ON CONFLICT (stream_id, first_n) DO UPDATE SET means = excluded.means;
    INSERT INTO block SELECT own, b.chain, b.number, b.channel, b.first_n, b.last_n, b.row_count, decode(b.digest, 'hex')
    FROM jsonb_to_recordset(d -> 'block') AS b (chain text, number bigint, channel integer, first_n bigint, last_n bigint,
        row_count bigint, digest text)
    ON CONFLICT (stream_id, chain, number) DO UPDATE SET last_n = excluded.last_n, row_count = excluded.row_count,
        digest = excluded.digest
        WHERE (block.last_n, block.row_count, block.digest) IS DISTINCT FROM
            (excluded.last_n, excluded.row_count, excluded.digest);
END
$$;

-- The whole of it, which takes the part of what was said before.
CREATE OR REPLACE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own_recording bigint := ship_head(document);
    streams bigint[] := ARRAY(SELECT id FROM stream WHERE recording_id = own_recording);
BEGIN
    DELETE FROM annotation WHERE recording_id = own_recording;
    DELETE FROM link WHERE recording_id = own_recording;
    DELETE FROM channel WHERE stream_id = ANY (streams);
    DELETE FROM epoch WHERE stream_id = ANY (streams);
    DELETE FROM segment WHERE stream_id = ANY (streams);
    DELETE FROM gap WHERE stream_id = ANY (streams);
    DELETE FROM loss_detection WHERE stream_id = ANY (streams);
    PERFORM ship_changes(document - 'removed');
END
$$;

-- A view can have a name of 63 bytes, and 1,600 columns; it is made of so many that a query of it can still be planned.
CREATE FUNCTION lacks_stream_view(of_recording bigint) RETURNS boolean LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM stream AS st JOIN channel AS c ON c.stream_id = st.id
        WHERE st.recording_id = of_recording AND octet_length(st.name) <= 63 AND octet_length(c.name) BETWEEN 1 AND 63
            AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
            AND NOT EXISTS (
                SELECT 1 FROM pg_class AS k WHERE k.relname = st.name AND k.relnamespace = 'public'::regnamespace
                    AND (k.relkind <> 'v' OR obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
                        OR k.relnatts >= 207
                        OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = k.oid AND a.attname = c.name))))
$$;

-- As before, but for names that a view cannot have, and for views on which somebody has made others: those stay as they are.
CREATE OR REPLACE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    item record;
    columns text;
    scales text;
    joins text;
BEGIN
    -- Two machines may bring new names at once.
    PERFORM pg_advisory_xact_lock(1162168148);
    FOR item IN
        SELECT s.name, array_agg(s.channel ORDER BY s.rank) AS channels FROM (
            SELECT st.name, c.name AS channel,
                row_number() OVER (PARTITION BY st.name ORDER BY min(st.id), min(c.number)) AS rank
            FROM stream AS st JOIN channel AS c ON c.stream_id = st.id
            WHERE octet_length(st.name) <= 63 AND octet_length(c.name) BETWEEN 1 AND 63
                AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
            GROUP BY st.name, c.name) AS s
        -- Not where something else is called so.
        WHERE s.rank <= 200 AND NOT EXISTS (
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
        BEGIN
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
        EXCEPTION
            WHEN dependent_objects_still_exist OR duplicate_column OR invalid_table_definition OR program_limit_exceeded
                OR syntax_error THEN
                RAISE WARNING 'the view % stays as it is: %', item.name, SQLERRM;
        END;
    END LOOP;
END
$$;

DROP FUNCTION ship_recording_parts(bigint, jsonb);
DROP FUNCTION ship_streams(bigint, jsonb);

REVOKE ALL ON FUNCTION ship_head, ship_changes, ship_stream_changes, lacks_stream_view FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ship_changes TO eegsync_ship;
GRANT EXECUTE ON FUNCTION ship_head, ship_changes, ship_stream_changes, lacks_stream_view TO eegsync_admin;
