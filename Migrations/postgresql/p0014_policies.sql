-- What a reader's query costs in a study of a thousand machines. A policy asked for the set of all that a session may read,
-- once for each query and each function in it, such as one for the time of a sample: 400 machines took `eegsync fleet` half a
-- minute. It asks now whether the row's own recording may be read, and PostgreSQL chooses: by the index for few rows, by the
-- set for many.

-- As before; planned once in a session.
CREATE OR REPLACE FUNCTION readable_study() RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
SET search_path = public, pg_temp AS $$
BEGIN
    -- Roles that were dropped stand in study_reader still, and pg_has_role() has no answer for their names but an error.
    RETURN QUERY SELECT t.study_id FROM study_reader AS t
        WHERE pg_has_role(session_user, to_regrole(quote_ident(t.role)), 'MEMBER');
    IF pg_has_role(session_user, 'eegsync_admin', 'MEMBER') THEN RETURN QUERY SELECT t.id FROM study AS t; END IF;
END
$$;

-- Whether this session may read of a stream: the owner of the tables, and who reads the study.
CREATE FUNCTION may_read_stream(of_stream_id bigint) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN session_user = current_user OR EXISTS (
        SELECT 1 FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
        WHERE st.id = of_stream_id AND r.study_id IN (SELECT readable_study()));
END
$$;

-- Whether the newest recording of a headset is of a study that this session does not read, as before.
CREATE OR REPLACE FUNCTION is_of_another_study(of_role name, of_headset text) RETURNS boolean LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT r.study_id NOT IN (SELECT readable_study())
        FROM recording AS r
        WHERE r.id = (
                SELECT max(k.id) FROM headset AS h JOIN recording AS k ON k.headset_id = h.id
                WHERE h.role = of_role AND left(h.name, 200) = of_headset)
            AND EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = of_role AND s.study_id IN (SELECT readable_study()))), false);
END
$$;

DO $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT * FROM (VALUES
        ('machine_status', 'shipper AS p WHERE p.role = machine_status.role'),
        ('headset_status', 'shipper AS p WHERE p.role = headset_status.role'),
        ('clock_offset', 'host_boot AS p WHERE p.id = clock_offset.host_boot_id'),
        ('recording_detail', 'recording AS p WHERE p.id = recording_detail.recording_id'),
        ('recording_property', 'recording AS p WHERE p.id = recording_property.recording_id'),
        ('recording_row', 'recording AS p WHERE p.id = recording_row.recording_id'),
        ('recording_series', 'recording AS p WHERE p.id = recording_series.recording_id'),
        ('annotation', 'recording AS p WHERE p.id = annotation.recording_id'),
        ('link', 'recording AS p WHERE p.id = link.recording_id'),
        ('stream', 'recording AS p WHERE p.id = stream.recording_id'),
        ('channel', 'stream AS p WHERE p.id = channel.stream_id'),
        ('epoch', 'stream AS p WHERE p.id = epoch.stream_id'),
        ('segment', 'stream AS p WHERE p.id = segment.stream_id'),
        ('gap', 'stream AS p WHERE p.id = gap.stream_id'),
        ('loss_detection', 'stream AS p WHERE p.id = loss_detection.stream_id'),
        ('block', 'stream AS p WHERE p.id = block.stream_id'),
        ('sample_block', 'stream AS p WHERE p.uuid = sample_block.stream'),
        ('sample_patch', 'stream AS p WHERE p.uuid = sample_patch.stream'),
        ('shipment', 'stream AS p WHERE p.uuid = shipment.stream')
    ) AS rule (name, condition) LOOP
        EXECUTE format('ALTER POLICY %I ON %I USING (EXISTS (SELECT 1 FROM %s))',
            item.name || '_of_study', item.name, item.condition);
    END LOOP;
END
$$;

-- The newest recording of a headset, and what a role has.
CREATE INDEX machine_by_role ON machine (role);
DROP INDEX recording_by_headset;
CREATE INDEX recording_by_headset ON recording (headset_id, id);

ALTER POLICY machine_of_study ON machine USING (EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = machine.role)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.role = machine.role));
ALTER POLICY host_boot_of_study ON host_boot USING (EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = host_boot.role)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.role = host_boot.role));
ALTER POLICY headset_of_study ON headset USING (EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = headset.role)
    OR EXISTS (SELECT 1 FROM recording AS r WHERE r.headset_id = headset.id));

-- UTC of a sample, as before. It looks itself whether this session may read of the stream, instead of by the policies of five
-- tables.
CREATE OR REPLACE FUNCTION sample_unix_ns(of_stream_id bigint, of_n bigint) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (
        SELECT k.offset_ns + g.reference_boottime_ns + nearest((of_n - g.reference_n) * g.period_ns)
        FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
        WHERE g.stream_id = of_stream_id AND g.first_n = coalesce(
                (SELECT max(s.first_n) FROM segment AS s WHERE s.stream_id = of_stream_id AND s.first_n <= of_n),
                (SELECT min(s.first_n) FROM segment AS s WHERE s.stream_id = of_stream_id))
            AND may_read_stream(of_stream_id));
END
$$;

REVOKE ALL ON FUNCTION may_read_stream FROM PUBLIC;
GRANT EXECUTE ON FUNCTION may_read_stream TO eegsync_admin;
