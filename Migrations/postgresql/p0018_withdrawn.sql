-- As before. A mark that was withdrawn stays so: where the machine's database has it as valid, that is an older one, too, and no
-- row of it is lacking.
CREATE OR REPLACE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    lacking text;
BEGIN
    SELECT string_agg(e.words, ', ') INTO lacking FROM (
        SELECT count(*) || ' of annotation' AS words FROM annotation AS k
        WHERE k.recording_id = own AND document ? 'annotation' AND NOT EXISTS (
            SELECT 1 FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid) WHERE a.uuid = k.uuid)
        HAVING count(*) > 0
        UNION ALL SELECT count(*) || ' of ' || k.table_name FROM recording_row AS k
        WHERE k.recording_id = own AND k.table_name IN ('recording_edit', 'channel_correction', 'refit')
            AND document ? k.table_name AND NOT EXISTS (
                SELECT 1 FROM jsonb_to_recordset(document -> k.table_name) AS d (owner text, number bigint, part bigint)
                WHERE (d.owner, d.number, d.part) = (k.owner, k.number, k.part))
        GROUP BY k.table_name
        UNION ALL SELECT count(*) || ' withdrawn of annotation' FROM annotation AS k
        JOIN jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid, withdrawn_boottime_ns bigint) ON a.uuid = k.uuid
        WHERE k.recording_id = own AND k.withdrawn_boottime_ns IS NOT NULL AND a.withdrawn_boottime_ns IS NULL
        HAVING count(*) > 0) AS e;
    IF lacking IS NOT NULL THEN
        RAISE EXCEPTION 'the machine''s database is older than what is here of the recording: it lacks rows, %', lacking
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    DELETE FROM recording_row WHERE recording_id = own AND table_name IN (SELECT row_lists(document));
    PERFORM ship_table_recording(document);
END
$$;
