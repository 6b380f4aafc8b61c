-- The other tables of a machine's database: the evidence of times, what was there before somebody corrected it, and what reports of
-- headset, link and signal. They are kept as the machine has them, row by row, so that a column which a machine's database gets
-- needs no step here; views have their names and columns. Host boots, streams and links are UUIDs in a row.

-- A machine may have a stream of such a name, and the centre the view of it.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['recording_row', 'recording_series', 'arrival', 'refit', 'replaced_segment', 'undigested_rows',
        'channel_declaration', 'channel_correction', 'recording_edit', 'headset_message', 'impedance', 'adoption',
        'merge_conflict', 'signal_check', 'status_report', 'connection_attempt', 'connection_event', 'streaming_return',
        'link_quality', 'clock_observation', 'process', 'suspension', 'full_disk'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;

CREATE TABLE recording_row (
    recording_id bigint NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    table_name text NOT NULL CHECK (table_name ~ '^[a-z_]{1,63}$'),
    -- to what of the recording it belongs: the UUID of a stream or a link, the number of a refit; '' for the recording
    owner text NOT NULL,
    -- what distinguishes it from the other rows of its owner, such as id or n; and where that is not enough, such as a channel
    number bigint NOT NULL,
    part bigint NOT NULL,
    row jsonb NOT NULL,
    PRIMARY KEY (recording_id, table_name, owner, number, part)
);

-- Up to which row tables are here that grow while it is recorded, and how many rows that are.
CREATE TABLE recording_series (
    recording_id bigint NOT NULL REFERENCES recording (id) ON DELETE CASCADE,
    table_name text NOT NULL,
    owner text NOT NULL,
    part bigint NOT NULL,
    last_number bigint NOT NULL,
    row_count bigint NOT NULL,
    -- whether that was all that the machine had then
    is_complete boolean NOT NULL,
    PRIMARY KEY (recording_id, table_name, owner, part)
);

DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['recording_row', 'recording_series'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', item);
        EXECUTE format('CREATE POLICY %I ON %I FOR SELECT TO eegsync_read, eegsync_admin USING '
            '(recording_id IN (SELECT r.id FROM recording AS r))', item || '_of_study', item);
        EXECUTE format('REVOKE ALL ON %I FROM PUBLIC', item);
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', item);
    END LOOP;
END
$$;

-- The names and columns of one machine.
DO $$
DECLARE
    item record;
    columns text;
BEGIN
    FOR item IN SELECT * FROM (VALUES
        ('arrival', 'stream_id, n bigint, boottime_ns bigint, device_ticks bigint'),
        ('refit', 'id bigint, stream_id, host_boot_id, boottime_ns bigint, version text, evidence_count bigint, '
            'shift_max_ns float8, shift_mean_ns float8'),
        ('replaced_segment', 'refit_id bigint, first_n bigint, last_n bigint, epoch bigint, host_boot_id, reference_n bigint, '
            'reference_boottime_ns bigint, period_ns float8, residual_ns float8, observation_count bigint, '
            'uncertainty_ns float8'),
        ('undigested_rows', 'stream_id, first_n bigint, last_n bigint'),
        ('channel_declaration', 'stream_id, number integer, name text, unit text, scale float8, offset float8'),
        ('channel_correction', 'id bigint, stream_id, number integer, name text, unit text, scale float8, offset float8, '
            'reason text, corrected_unix_seconds bigint'),
        ('recording_edit', 'id bigint, field text, before text, after text, host_boot_id, boottime_ns bigint'),
        ('headset_message', 'link_id, number bigint, kind text, text text, bytes bytea, count bigint, byte_count bigint, '
            'host_boot_id, first_boottime_ns bigint, last_boottime_ns bigint'),
        ('impedance', 'id bigint, host_boot_id, boottime_ns bigint, electrode text, kilohms float8'),
        ('adoption', 'id bigint, headset_id, address text, address_type text, replaced_address text, '
            'replaced_address_type text, decision text, host_boot_id, boottime_ns bigint'),
        ('merge_conflict', 'id bigint, stream_id, n bigint, c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint, c6 bigint, '
            'c7 bigint, c8 bigint, source text, host_boot_id, boottime_ns bigint'),
        ('signal_check', 'stream_id, channel integer, first_n bigint, last_n bigint, condition text, sample_count bigint, '
            'railed_fraction float8, peak_to_peak bigint, line_50_hz float8, line_60_hz float8'),
        ('status_report', 'id bigint, headset_id, host_boot_id, boottime_ns bigint, condition text, boot_identifier bigint, '
            'battery_percent float8, device_ticks bigint, tick_frequency float8, buffered text, outcome text, raw bytea'),
        ('connection_attempt', 'id bigint, headset_id, layer text, address text, address_type text, host_boot_id, '
            'began_boottime_ns bigint, ended_boottime_ns bigint, outcome text, detail text, cause text, count bigint, '
            'last_boottime_ns bigint, attempt bigint'),
        ('connection_event', 'id bigint, headset_id, host_boot_id, boottime_ns bigint, state text, detail text, cause text, '
            'count bigint, last_boottime_ns bigint, layer text, attempt bigint'),
        ('streaming_return', 'id bigint, headset_id, host_boot_id, boottime_ns bigint, layer text, attempts bigint, cause text, '
            'lost_boottime_ns bigint, able_boottime_ns bigint, heard_boottime_ns bigint, prepared_boottime_ns bigint'),
        ('link_quality', 'id bigint, headset_id, host_boot_id, boottime_ns bigint, rssi bigint, tx_power bigint'),
        ('clock_observation', 'id bigint, headset_id, boot_identifier bigint, device_ticks bigint, tick_frequency float8, '
            'host_boot_id, boottime_ns bigint'),
        ('process', 'id bigint, version text, pid bigint, host_boot_id, started_boottime_ns bigint, taken_over bigint, '
            'alive_boottime_ns bigint, ended_boottime_ns bigint, end_cause text'),
        ('suspension', 'id bigint, host_boot_id, resumed_boottime_ns bigint, duration_ns bigint'),
        ('full_disk', 'id bigint, host_boot_id, began_boottime_ns bigint, ended_boottime_ns bigint, detail text')
    ) AS v (name, spec) LOOP
        SELECT string_agg(CASE part[1]
                WHEN 'headset_id' THEN 'r.headset_id'
                WHEN 'host_boot_id' THEN
                    '(SELECT b.id FROM host_boot AS b WHERE b.role = r.role AND b.uuid = t.row ->> ''host_boot'') AS host_boot_id'
                WHEN 'stream_id' THEN
                    '(SELECT st.id FROM stream AS st WHERE st.uuid = (t.row ->> ''stream'')::uuid) AS stream_id'
                WHEN 'link_id' THEN '(SELECT l.id FROM link AS l WHERE l.uuid = (t.row ->> ''link'')::uuid) AS link_id'
                ELSE CASE part[2]
                    WHEN 'bytea' THEN format('decode(t.row ->> %L, ''hex'') AS %I', part[1], part[1])
                    ELSE format('(t.row ->> %L)::%s AS %I', part[1], part[2], part[1]) END
                END, ', ' ORDER BY position)
        INTO columns
        FROM (SELECT string_to_array(element, ' ') AS part, position
            FROM unnest(string_to_array(item.spec, ', ')) WITH ORDINALITY AS u (element, position)) AS e;
        EXECUTE format('CREATE VIEW %I WITH (security_invoker = true) AS SELECT t.recording_id, %s FROM recording_row AS t '
            'JOIN recording AS r ON r.id = t.recording_id WHERE t.table_name = %L', item.name, columns, item.name);
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', item.name);
    END LOOP;
END
$$;

-- A recording of this session's machine; NULL where it is none.
CREATE FUNCTION own_recording(of_uuid uuid) RETURNS bigint LANGUAGE sql STABLE
SET search_path = public, pg_temp AS
$$SELECT id FROM recording WHERE uuid = of_uuid AND role = session_user$$;

-- Lists of a document that are rows of such a table: {"refit": [{"owner", "number", "part", "row"}]}.
CREATE FUNCTION row_lists(document jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT k FROM jsonb_object_keys(document) AS k WHERE k <> ALL (
        ARRAY['recording', 'headset', 'recording_detail', 'recording_property', 'annotation', 'link', 'stream', 'removed'])
$$;

CREATE FUNCTION keep_rows(of_recording bigint, of_table text, elements jsonb) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    INSERT INTO recording_row (recording_id, table_name, owner, number, part, row)
    SELECT of_recording, of_table, e.owner, e.number, e.part, e.row
    FROM jsonb_to_recordset(elements) AS e (owner text, number bigint, part bigint, row jsonb)
    ON CONFLICT (recording_id, table_name, owner, number, part) DO UPDATE SET row = excluded.row
        WHERE recording_row.row IS DISTINCT FROM excluded.row
$$;

-- What changed of a recording, those lists included. Whoever sends it has sent the whole on the same connection before.
ALTER FUNCTION ship_changes(jsonb) RENAME TO ship_table_changes;
CREATE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
    gone jsonb := coalesce(document -> 'removed', '{}');
BEGIN
    -- It looks whose the recording is.
    PERFORM ship_table_changes(document);
    own := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    DELETE FROM recording_row AS t USING row_lists(gone) AS l (name),
        LATERAL jsonb_to_recordset(gone -> l.name) AS e (owner text, number bigint, part bigint)
    WHERE t.recording_id = own AND t.table_name = l.name AND (t.owner, t.number, t.part) = (e.owner, e.number, e.part);
    PERFORM keep_rows(own, l, document -> l) FROM row_lists(document) AS l;
END
$$;

-- The whole of it, which takes the part of what was said before; of an eegsync that does not send such lists they stay.
ALTER FUNCTION ship_recording(jsonb) RENAME TO ship_table_recording;
CREATE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM recording_row
    WHERE recording_id = own_recording((document -> 'recording' ->> 'uuid')::uuid)
        AND table_name IN (SELECT row_lists(document));
    PERFORM ship_table_recording(document);
END
$$;

-- What is here of the tables of a recording that grow.
CREATE FUNCTION ship_series(of_recording uuid) RETURNS TABLE (
    table_name text, owner text, part bigint, last_number bigint, row_count bigint, is_complete boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.table_name, s.owner, s.part, s.last_number, s.row_count, s.is_complete FROM recording_series AS s
    WHERE s.recording_id = own_recording(of_recording)
$$;

-- Rows of such a table, and up to which it is here from the end of this transaction on.
CREATE FUNCTION ship_rows(of_recording uuid, of_table text, of_owner text, of_part bigint, now_last bigint, now_count bigint,
    now_complete boolean, elements jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording(of_recording);
BEGIN
    IF own IS NULL THEN
        RAISE EXCEPTION 'the recording % is not one of %', of_recording, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM keep_rows(own, of_table, elements);
    INSERT INTO recording_series (recording_id, table_name, owner, part, last_number, row_count, is_complete)
    VALUES (own, of_table, of_owner, of_part, now_last, now_count, now_complete)
    ON CONFLICT (recording_id, table_name, owner, part) DO UPDATE SET last_number = excluded.last_number,
        row_count = excluded.row_count, is_complete = excluded.is_complete;
END
$$;

REVOKE ALL ON FUNCTION own_recording, row_lists, keep_rows, ship_table_changes, ship_table_recording, ship_changes,
    ship_recording, ship_series, ship_rows FROM PUBLIC;
REVOKE ALL ON FUNCTION ship_table_changes, ship_table_recording FROM eegsync_ship;
GRANT EXECUTE ON FUNCTION ship_changes, ship_recording, ship_series, ship_rows TO eegsync_ship;
GRANT EXECUTE ON FUNCTION own_recording, row_lists, keep_rows, ship_changes, ship_recording, ship_series, ship_rows
    TO eegsync_admin;
