-- A channel that was renamed keeps its column in the view of its stream's name, as it does on the machine, where a view has the
-- names that channels had when their stream began. The name that it has now is one more column.

-- Under which it began (on the machine, `channel_declaration`); NULL where an earlier version has sent it.
ALTER TABLE channel ADD COLUMN declared_name text;

-- The channels of a stream by each of their names. One that two channels have, because they were exchanged, is that of the channel
-- which the stream began with.
CREATE FUNCTION channel_names(of_stream bigint)
RETURNS TABLE (name text, number integer, scale double precision, "offset" double precision) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (e.name) e.name, c.number, c.scale, c."offset"
    FROM channel AS c CROSS JOIN LATERAL (VALUES (c.declared_name, 1), (c.name, 2)) AS e (name, rank)
    WHERE c.stream_id = of_stream AND e.name IS NOT NULL
    ORDER BY e.name, e.rank, c.number
$$;

-- As before, by these names.
CREATE OR REPLACE FUNCTION lacks_stream_view(of_recording bigint) RETURNS boolean LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT 1 FROM stream AS st CROSS JOIN LATERAL channel_names(st.id) AS c
        WHERE st.recording_id = of_recording AND octet_length(st.name) <= 63 AND octet_length(c.name) BETWEEN 1 AND 63
            AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
            AND NOT EXISTS (
                SELECT 1 FROM pg_class AS k WHERE k.relname = st.name AND k.relnamespace = 'public'::regnamespace
                    AND (k.relkind <> 'v' OR obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
                        OR k.relnatts >= 207
                        OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = k.oid AND a.attname = c.name))))
$$;

-- As before, by these names.
CREATE OR REPLACE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    item record;
    columns text;
    scales text;
BEGIN
    -- Two machines may bring new names at once.
    PERFORM pg_advisory_xact_lock(1162168148);
    FOR item IN
        SELECT s.name, array_agg(s.channel ORDER BY s.rank) AS channels FROM (
            SELECT st.name, c.name AS channel,
                row_number() OVER (PARTITION BY st.name ORDER BY min(st.id), min(c.number), c.name) AS rank
            FROM stream AS st CROSS JOIN LATERAL channel_names(st.id) AS c
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
                'max(c.number) FILTER (WHERE c.name = %2$L) AS k%1$s, max(c.scale) FILTER (WHERE c.name = %2$L) AS s%1$s, '
                || 'max(c."offset") FILTER (WHERE c.name = %2$L) AS o%1$s', number, channel), ', ' ORDER BY number)
        INTO columns, scales FROM unnest(item.channels) WITH ORDINALITY AS u (channel, number);
        BEGIN
            EXECUTE format('DROP VIEW IF EXISTS %I', item.name);
            -- OFFSET: which channel is which column is looked up once for a stream, and not for each sample.
            EXECUTE format(
                'CREATE VIEW %1$I WITH (security_invoker = true) AS SELECT of_stream.recording_id, of_stream.headset, '
                || 'of_stream.id AS stream_id, of_stream.bank, s.n, utc_text(sample_unix_ns(of_stream.id, s.n)) AS "time", '
                || 'sample_unix_ns(of_stream.id, s.n) AS unix_ns, %2$s '
                || 'FROM (SELECT st.id, st.recording_id, st.bank, h.name AS headset, names.* FROM stream AS st '
                || 'JOIN recording AS r ON r.id = st.recording_id JOIN headset AS h ON h.id = r.headset_id '
                || 'CROSS JOIN LATERAL (SELECT %3$s FROM channel_names(st.id) AS c) AS names '
                || 'WHERE st.name = %4$L OFFSET 0) AS of_stream JOIN sample AS s ON s.stream_id = of_stream.id',
                item.name, columns, scales, item.name);
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

-- Notes the names under which the channels of a recording began, as far as they are here; of all recordings for NULL.
CREATE FUNCTION note_declared_names(of_recording bigint) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    UPDATE channel AS c SET declared_name = d.row ->> 'name'
    FROM stream AS st JOIN recording_row AS d ON d.recording_id = st.recording_id AND d.table_name = 'channel_declaration'
        AND d.owner = st.uuid::text
    WHERE (of_recording IS NULL OR st.recording_id = of_recording) AND c.stream_id = st.id AND c.number = d.number
        AND c.declared_name IS DISTINCT FROM d.row ->> 'name'
$$;

-- What changed of a recording. These names come last, and may be such that no view has yet.
ALTER FUNCTION ship_changes(jsonb) RENAME TO ship_row_changes;
CREATE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
    PERFORM ship_row_changes(document);
    own := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    PERFORM note_declared_names(own);
    IF lacks_stream_view(own) THEN
        PERFORM make_stream_views();
    END IF;
END
$$;

REVOKE ALL ON FUNCTION channel_names, note_declared_names, ship_row_changes, ship_changes FROM PUBLIC;
REVOKE ALL ON FUNCTION ship_row_changes FROM eegsync_ship;
GRANT EXECUTE ON FUNCTION channel_names TO eegsync_read, eegsync_admin;
GRANT EXECUTE ON FUNCTION ship_changes TO eegsync_ship, eegsync_admin;

-- Of what is here already, too.
SELECT note_declared_names(NULL);
SELECT make_stream_views();
