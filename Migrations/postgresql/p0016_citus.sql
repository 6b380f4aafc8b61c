-- Blocks of samples over a cluster of Citus (13 or later), by stream; everything else stays on the coordinator, where it is
-- small.

-- Spreads them; false where they are spread already. It is `eegsync centre init --citus`.
--
-- A shard lies where the tables of policies are not, and Citus refuses a policy with a subquery. So whose a stream is, and who
-- reads a study, has every worker, in two small tables that follow those of the coordinator, and functions look there. Whether
-- one of them may ask a table that every worker has, from within a query on a shard, Citus wants said.
CREATE FUNCTION spread_blocks(shards integer DEFAULT 32) RETURNS boolean LANGUAGE plpgsql
SET search_path = public, pg_temp AS $spread$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
        RAISE EXCEPTION 'the database % has not the extension citus', current_database() USING ERRCODE = 'undefined_object';
    END IF;
    IF to_regclass('public.stream_right') IS NOT NULL THEN RETURN false; END IF;

    CREATE TABLE stream_right (stream uuid PRIMARY KEY, role name NOT NULL, study_id bigint NOT NULL);
    CREATE TABLE reader_right (study_id bigint NOT NULL, role name NOT NULL, PRIMARY KEY (study_id, role));
    REVOKE ALL ON stream_right, reader_right FROM PUBLIC;
    INSERT INTO stream_right SELECT st.uuid, r.role, r.study_id FROM stream AS st JOIN recording AS r ON r.id = st.recording_id;
    INSERT INTO reader_right SELECT study_id, role FROM study_reader;
    PERFORM create_reference_table('stream_right');
    PERFORM create_reference_table('reader_right');

    CREATE FUNCTION note_stream_right() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
    BEGIN
        IF tg_op = 'DELETE' THEN
            DELETE FROM stream_right WHERE stream = old.uuid;
        ELSE
            INSERT INTO stream_right SELECT new.uuid, r.role, r.study_id FROM recording AS r WHERE r.id = new.recording_id;
        END IF;
        RETURN NULL;
    END
    $$;
    CREATE TRIGGER note_stream_right AFTER INSERT OR DELETE ON stream FOR EACH ROW EXECUTE FUNCTION note_stream_right();
    CREATE FUNCTION note_reader_right() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
    BEGIN
        IF tg_op = 'DELETE' THEN
            DELETE FROM reader_right AS t WHERE (t.study_id, t.role) = (old.study_id, old.role);
        ELSE
            INSERT INTO reader_right (study_id, role) VALUES (new.study_id, new.role);
        END IF;
        RETURN NULL;
    END
    $$;
    CREATE TRIGGER note_reader_right AFTER INSERT OR DELETE ON study_reader
        FOR EACH ROW EXECUTE FUNCTION note_reader_right();

    -- As is_own_stream() and may_read_stream().
    CREATE FUNCTION may_add_block(of_stream uuid) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = public, pg_temp SET citus.allow_nested_distributed_execution = on AS $$
    BEGIN
        RETURN EXISTS (SELECT 1 FROM stream_right AS s WHERE s.stream = of_stream AND s.role = session_user);
    END
    $$;
    CREATE FUNCTION may_read_block(of_stream uuid) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = public, pg_temp SET citus.allow_nested_distributed_execution = on AS $$
    BEGIN
        RETURN pg_has_role(session_user, 'eegsync_admin', 'MEMBER') OR EXISTS (
            SELECT 1 FROM stream_right AS s JOIN reader_right AS t ON t.study_id = s.study_id
            WHERE s.stream = of_stream AND pg_has_role(session_user, to_regrole(quote_ident(t.role)), 'MEMBER'));
    END
    $$;
    REVOKE ALL ON FUNCTION note_stream_right, note_reader_right, may_add_block, may_read_block FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION may_add_block TO eegsync_ship;
    GRANT EXECUTE ON FUNCTION may_read_block TO eegsync_read, eegsync_admin;
    ALTER POLICY sample_block_of_study ON sample_block USING (may_read_block(stream));
    ALTER POLICY sample_patch_of_study ON sample_patch USING (may_read_block(stream));
    ALTER POLICY sample_block_of_own ON sample_block WITH CHECK (may_add_block(stream));
    ALTER POLICY sample_patch_of_own ON sample_patch WITH CHECK (may_add_block(stream));

    PERFORM create_distributed_table('sample_block', 'stream', colocate_with => 'none', shard_count => shards);
    PERFORM create_distributed_table('sample_patch', 'stream', colocate_with => 'sample_block');
    -- What was here lies on the workers now.
    PERFORM truncate_local_data_after_distributing_table('sample_block');
    PERFORM truncate_local_data_after_distributing_table('sample_patch');
    -- Citus 13.2.2 ends the whole server by a segmentation fault where a reader joins blocks with a table that has policies.
    -- Such a query is refused by this, with a hint: the table goes into a subquery, as in our views.
    EXECUTE format('ALTER DATABASE %I SET citus.local_table_join_policy = never', current_database());
    -- A query is one for each shard, and each would be compiled anew: 55 s instead of 1 s for a mean.
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
    RETURN true;
END
$spread$;

REVOKE ALL ON FUNCTION spread_blocks FROM PUBLIC;
