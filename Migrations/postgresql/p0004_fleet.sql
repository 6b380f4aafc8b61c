-- What machines say of themselves, for whoever watches over a study: the last word of each, and of each of its headsets.

-- A machine may have a stream of such a name, and the centre the view of it.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['machine_status', 'headset_status', 'headset_progress', 'fleet'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;

CREATE TABLE machine_status (
    machine uuid PRIMARY KEY REFERENCES machine (uuid),
    role name NOT NULL REFERENCES shipper (role),
    -- by the clock of the centre, as the machine's own may be wrong
    received timestamptz NOT NULL DEFAULT now(),
    is_acquiring boolean NOT NULL,
    -- what is wrong with the machine, or the database; NULL for nothing
    problem text,
    -- what its rules for alerts say of the machine
    alerts text[] NOT NULL,
    free_bytes bigint,
    -- how long its disk lasts while everything that is wanted streams
    disk_days double precision
);

CREATE TABLE headset_status (
    machine uuid NOT NULL REFERENCES machine_status (machine),
    role name NOT NULL REFERENCES shipper (role),
    -- as it is called on the machine
    name text NOT NULL,
    model text NOT NULL,
    is_wanted boolean NOT NULL,
    severity text NOT NULL CHECK (severity IN ('good', 'working', 'waiting', 'idle')),
    -- completes "left ..."
    sentence text NOT NULL,
    -- what its rules for alerts say of the headset
    alerts text[] NOT NULL,
    battery_percent double precision,
    -- how old its newest sample was, and when that was taken by the machine's clock
    newest_seconds double precision,
    newest_unix_ns bigint,
    PRIMARY KEY (machine, name)
);

DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['machine_status', 'headset_status'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', item);
        EXECUTE format('CREATE POLICY %I ON %I FOR SELECT TO eegsync_read, eegsync_admin USING '
            '(role IN (SELECT s.role FROM shipper AS s))', item || '_of_study', item);
        EXECUTE format('REVOKE ALL ON %I FROM PUBLIC', item);
        EXECUTE format('GRANT SELECT ON %I TO eegsync_read, eegsync_admin', item);
    END LOOP;
END
$$;

-- A list of texts of a document, bounded.
CREATE FUNCTION short_texts(document jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(left(t, 500)), '{}') FROM (
        SELECT t FROM jsonb_array_elements_text(CASE jsonb_typeof(document) WHEN 'array' THEN document ELSE '[]' END) AS e (t)
        LIMIT 16) AS f
$$;

-- A machine says how it is: {"is_acquiring", "problem", "alerts", "free_bytes", "disk_days", "headsets": [{...}]}. It takes the
-- part of what was said before. A machine cannot fill the centre with it: 64 headsets, and short sentences.
CREATE FUNCTION ship_status(of_machine uuid, document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE machine SET last_contact = now() WHERE uuid = of_machine AND role = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the machine % is not one of %', of_machine, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO machine_status (machine, role, is_acquiring, problem, alerts, free_bytes, disk_days)
    VALUES (of_machine, session_user, (document ->> 'is_acquiring')::boolean, left(document ->> 'problem', 500),
        short_texts(document -> 'alerts'), (document ->> 'free_bytes')::bigint, (document ->> 'disk_days')::double precision)
    ON CONFLICT (machine) DO UPDATE SET received = now(), is_acquiring = excluded.is_acquiring, problem = excluded.problem,
        alerts = excluded.alerts, free_bytes = excluded.free_bytes, disk_days = excluded.disk_days;
    DELETE FROM headset_status WHERE machine = of_machine;
    INSERT INTO headset_status (machine, role, name, model, is_wanted, severity, sentence, alerts, battery_percent,
        newest_seconds, newest_unix_ns)
    SELECT of_machine, session_user, left(h.name, 200), left(h.model, 200), h.is_wanted, h.severity, left(h.sentence, 500),
        short_texts(h.alerts), h.battery_percent, h.newest_seconds, h.newest_unix_ns
    FROM jsonb_to_recordset(document -> 'headsets') AS h (name text, model text, is_wanted boolean, severity text,
        sentence text, alerts jsonb, battery_percent double precision, newest_seconds double precision, newest_unix_ns bigint)
    LIMIT 64
    ON CONFLICT DO NOTHING;
END
$$;

-- The newest sample that is here of each headset's newest recording, by the machine's clock; how much of older samples is still
-- to come; and what is known to be missing since midnight, in the time zone of the session. Of several streams the latest
-- sample, and the most of the others; of several headsets of one name (a machine got another database) the one that was
-- recorded last.
CREATE VIEW headset_progress WITH (security_invoker = true) AS
SELECT DISTINCT ON (r.role, h.name) r.role, h.name, r.id AS recording_id, p.newest_unix_ns, p.backlog_seconds, p.gaps_today, p.missing_today_seconds
FROM headset AS h
JOIN LATERAL (SELECT * FROM recording AS r WHERE r.headset_id = h.id ORDER BY r.id DESC LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT max(sample_unix_ns(st.id, coalesce(s.head_last_n, s.done_n))) AS newest_unix_ns,
        max((s.head_first_n - 1 - coalesce(
            s.done_n, (SELECT b.first_n - 1 FROM block AS b WHERE b.stream_id = st.id ORDER BY b.chain, b.number LIMIT 1),
            s.head_first_n - 1)) / st.sampling_frequency) AS backlog_seconds,
        max(g.gaps) AS gaps_today, max(g.missing / st.sampling_frequency) AS missing_today_seconds
    FROM stream AS st
    LEFT JOIN shipment AS s ON s.stream = st.uuid
    LEFT JOIN LATERAL (
        SELECT count(*) AS gaps, coalesce(sum(e.count - e.recovered), 0)::bigint AS missing
        FROM gap AS e JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
        WHERE e.stream_id = st.id AND e.channel = 0
            AND k.offset_ns + e.boottime_ns >= (extract(epoch FROM date_trunc('day', now())) * 1000000000)::bigint
    ) AS g ON true
    WHERE st.recording_id = r.id) AS p ON true
ORDER BY r.role, h.name, r.id DESC;

-- Every machine with each of its headsets: a row for a machine without headsets, too. Of a role that more than one machine has
-- had (a card was moved), the one that was here last. Seconds are by the centre's clock, but for what the machine itself said
-- of the age of its newest sample.
CREATE VIEW fleet WITH (security_invoker = true) AS
SELECT t.name AS study, q.role AS machine, m.uuid AS machine_uuid, m.version,
    extract(epoch FROM now() - greatest(m.last_contact, c.received))::double precision AS contact_seconds,
    c.machine IS NOT NULL AS has_said, c.is_acquiring, c.problem, c.alerts, c.free_bytes, c.disk_days,
    coalesce(d.name, p.name) AS headset, d.model, d.is_wanted, d.severity, d.sentence, d.alerts AS headset_alerts,
    d.battery_percent,
    extract(epoch FROM now() - c.received)::double precision + d.newest_seconds AS newest_seconds,
    greatest(0, (d.newest_unix_ns - p.newest_unix_ns) / 1e9)::double precision AS delay_seconds,
    p.backlog_seconds, p.gaps_today, p.missing_today_seconds, p.newest_unix_ns, p.recording_id
FROM shipper AS q
JOIN study AS t ON t.id = q.study_id
LEFT JOIN LATERAL (SELECT * FROM machine AS m WHERE m.role = q.role ORDER BY m.last_contact DESC LIMIT 1) AS m ON true
LEFT JOIN machine_status AS c ON c.machine = m.uuid
LEFT JOIN headset_status AS d ON d.machine = m.uuid
LEFT JOIN headset_progress AS p ON p.role = q.role AND (p.name = d.name OR c.machine IS NULL);

GRANT SELECT ON headset_progress, fleet TO eegsync_read, eegsync_admin;
REVOKE ALL ON FUNCTION short_texts, ship_status FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ship_status TO eegsync_ship;
GRANT EXECUTE ON FUNCTION ship_status, short_texts TO eegsync_admin;
