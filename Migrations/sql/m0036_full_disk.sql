-- The disk was full, or full but for what is kept free of it, so that rows had to wait. Written once they are stored.
CREATE TABLE full_disk (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when rows were refused first
    began_boottime_ns INTEGER NOT NULL,
    -- when all that waited was stored
    ended_boottime_ns INTEGER NOT NULL CHECK (ended_boottime_ns >= began_boottime_ns),
    -- how much was free, and how much is kept free; or what SQLite said
    detail TEXT NOT NULL
) STRICT;

DROP VIEW history;

-- Everything that has happened, in one list. boottime_ns counts from the boot of the machine that host_boot names; unix_ns is
-- the same instant in UTC. What a kind's columns mean stands on the page ConnectionHistory.
CREATE VIEW history AS
SELECT e.headset AS headset, e.kind AS kind, e.name AS name, e.cause AS cause, e.detail AS detail, e.layer AS layer,
    e.address AS address, e.attempt AS attempt, e.count AS count, e.duration_ns AS duration_ns,
    b.uuid AS host_boot, e.host_boot_id AS host_boot_id, e.boottime_ns AS boottime_ns, e.last_boottime_ns AS last_boottime_ns,
    k.offset_ns + e.boottime_ns AS unix_ns, k.offset_ns + e.last_boottime_ns AS last_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + e.boottime_ns) / 1e9, 'unixepoch') AS time,
    k.is_synchronised AS is_synchronised
FROM (
    SELECT h.name AS headset, 'connection' AS kind, c.state AS name, c.cause AS cause, c.detail AS detail, c.layer AS layer,
        NULL AS address, c.attempt AS attempt, c.count AS count, NULL AS duration_ns, c.host_boot_id AS host_boot_id,
        c.boottime_ns AS boottime_ns, c.last_boottime_ns AS last_boottime_ns, 2 AS rank, c.id AS id
    FROM connection_event AS c JOIN headset AS h ON h.id = c.headset_id
    UNION ALL
    SELECT h.name, 'attempt', a.outcome, a.cause, a.detail, a.layer, a.address, a.attempt, a.count,
        a.ended_boottime_ns - a.began_boottime_ns, a.host_boot_id, a.ended_boottime_ns, a.last_boottime_ns, 1, a.id
    FROM connection_attempt AS a JOIN headset AS h ON h.id = a.headset_id
    UNION ALL
    SELECT h.name, 'return', 'returned', r.cause, w.meaning, r.layer, NULL, r.attempts, 1,
        r.boottime_ns - r.heard_boottime_ns, r.host_boot_id, r.boottime_ns, NULL, 3, r.id
    FROM streaming_return AS r JOIN headset AS h ON h.id = r.headset_id LEFT JOIN gap_cause AS w ON w.cause = r.cause
    UNION ALL
    SELECT NULL, 'process', 'started', NULL, p.version, NULL, NULL, p.taken_over, 1, NULL, p.host_boot_id,
        p.started_boottime_ns, NULL, 0, p.id
    FROM process AS p
    UNION ALL
    SELECT NULL, 'process', 'ended', p.end_cause, NULL, NULL, NULL, NULL, 1, p.ended_boottime_ns - p.started_boottime_ns,
        p.host_boot_id, p.ended_boottime_ns, NULL, 9, p.id
    FROM process AS p WHERE p.ended_boottime_ns IS NOT NULL
    UNION ALL
    SELECT NULL, 'process', 'died', p.end_cause, NULL, NULL, NULL, NULL, 1, p.alive_boottime_ns - p.started_boottime_ns,
        p.host_boot_id, p.alive_boottime_ns, NULL, 9, p.id
    FROM process AS p WHERE p.ended_boottime_ns IS NULL AND p.id < (SELECT max(id) FROM process)
    UNION ALL
    SELECT NULL, 'machine', 'rebooted', NULL, NULL, NULL, NULL, NULL, 1, NULL, p.host_boot_id, 0, NULL, 0, p.id
    FROM process AS p
    WHERE p.host_boot_id <> (SELECT q.host_boot_id FROM process AS q WHERE q.id < p.id ORDER BY q.id DESC LIMIT 1)
    UNION ALL
    SELECT NULL, 'machine', 'suspended', NULL, NULL, NULL, NULL, NULL, 1, s.duration_ns, s.host_boot_id,
        s.resumed_boottime_ns - s.duration_ns, NULL, 0, s.id
    FROM suspension AS s
    UNION ALL
    SELECT NULL, 'machine', 'resumed', NULL, NULL, NULL, NULL, NULL, 1, s.duration_ns, s.host_boot_id,
        s.resumed_boottime_ns, NULL, 0, s.id
    FROM suspension AS s
    UNION ALL
    SELECT NULL, 'machine', 'clockStepped', NULL, NULL, NULL, NULL, NULL, 1, o.step_ns, o.host_boot_id, o.boottime_ns, NULL,
        0, o.id
    FROM clock_offset AS o WHERE abs(o.step_ns) >= 100000000
    UNION ALL
    SELECT NULL, 'machine', 'rowsHeld', NULL, d.detail, NULL, NULL, NULL, 1, NULL, d.host_boot_id, d.began_boottime_ns, NULL,
        0, d.id
    FROM full_disk AS d
    UNION ALL
    SELECT NULL, 'machine', 'rowsStored', NULL, NULL, NULL, NULL, NULL, 1, d.ended_boottime_ns - d.began_boottime_ns,
        d.host_boot_id, d.ended_boottime_ns, NULL, 0, d.id
    FROM full_disk AS d
) AS e
JOIN host_boot AS b ON b.id = e.host_boot_id
JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
ORDER BY e.host_boot_id, e.boottime_ns, e.rank, e.id;
