-- What readers see of a machine that was in another study before, and that they wait for no view and hold up no machine.

-- As before, but whoever finds another session at it leaves it to that one, which may be at it for long: a machine that keeps a
-- rate, or waits for somebody who reads a view. What is lacking then is made with the next change of the recording, or when its
-- machine connects anew. A machine that asks for its views itself, once its transaction has ended, gets none here.
CREATE OR REPLACE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF current_setting('eegsync.views', true) = 'afterwards' OR NOT pg_try_advisory_xact_lock(1162168148) THEN RETURN; END IF;
    PERFORM make_stream_view(l.name) FROM lacking_stream_views(NULL) AS l (name);
END
$$;

-- The views of a recording of this session's machine, as a transaction of its own: while a view is made others wait, until the
-- transaction ends. False where one is lacking still, as somebody reads it, or another session is at it.
CREATE FUNCTION ship_views(of_recording uuid) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording(of_recording);
BEGIN
    IF own IS NULL OR NOT lacks_stream_view(own) THEN RETURN true; END IF;
    IF NOT pg_try_advisory_xact_lock(1162168148) THEN RETURN false; END IF;
    PERFORM make_stream_view(l.name) FROM lacking_stream_views(own) AS l (name);
    RETURN NOT lacks_stream_view(own);
END
$$;

-- Whether the newest recording of a headset is of a study that this session does not read, though it reads that of its machine.
-- The headset's name is as long as its machine's status has it.
CREATE FUNCTION is_of_another_study(of_role name, of_headset text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    SELECT coalesce((
        SELECT r.study_id NOT IN (SELECT readable_study())
        FROM headset AS h JOIN recording AS r ON r.headset_id = h.id
        WHERE h.role = of_role AND left(h.name, 200) = of_headset
            AND EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = of_role AND s.study_id IN (SELECT readable_study()))
        ORDER BY r.id DESC LIMIT 1), false)
$$;

-- As before, but for a headset whose newest recording is of such a study: that is said, and nothing of another recording. And a
-- name that is longer than a status has it is the same name.
CREATE OR REPLACE VIEW fleet WITH (security_invoker = true) AS
SELECT t.name AS study, q.role AS machine, m.uuid AS machine_uuid, m.version,
    extract(epoch FROM now() - greatest(m.last_contact, c.received))::double precision AS contact_seconds,
    c.machine IS NOT NULL AS has_said, c.is_acquiring, c.problem, c.alerts, c.free_bytes, c.disk_days,
    coalesce(d.name, p.name) AS headset, d.model, d.is_wanted, d.severity, d.sentence, d.alerts AS headset_alerts,
    d.battery_percent,
    extract(epoch FROM now() - c.received)::double precision + d.newest_seconds AS newest_seconds,
    CASE WHEN d.newest_unix_ns IS NOT NULL AND p.newest_unix_ns IS NOT NULL
        THEN greatest(0, (d.newest_unix_ns::numeric - p.newest_unix_ns) / 1e9)::double precision END AS delay_seconds,
    p.backlog_seconds, p.gaps_today, p.missing_today_seconds, p.newest_unix_ns, p.recording_id, e.is_so AS is_of_another_study
FROM shipper AS q
JOIN study AS t ON t.id = q.study_id
LEFT JOIN LATERAL (SELECT * FROM machine AS m WHERE m.role = q.role ORDER BY m.last_contact DESC LIMIT 1) AS m ON true
LEFT JOIN machine_status AS c ON c.machine = m.uuid
LEFT JOIN headset_status AS d ON d.machine = m.uuid
-- OFFSET: asked once for each.
CROSS JOIN LATERAL (SELECT is_of_another_study(q.role, d.name) OFFSET 0) AS e (is_so)
LEFT JOIN headset_progress AS p ON p.role = q.role AND NOT e.is_so AND (left(p.name, 200) = d.name OR c.machine IS NULL);

REVOKE ALL ON FUNCTION ship_views, is_of_another_study FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ship_views TO eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION is_of_another_study TO eegsync_read, eegsync_admin;
