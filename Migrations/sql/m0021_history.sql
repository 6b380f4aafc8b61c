-- The history of connections, of the process and of the machine, bounded: what repeats without a return is one row with a
-- count, and rows go by age (see the page ConnectionHistory).

-- How often the same was seen again since the row's own instant, and when last; one row stands for a whole absence.
ALTER TABLE connection_event ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
ALTER TABLE connection_event ADD COLUMN last_boottime_ns INTEGER;
-- The layer that found the headset, and how many requests the process had made of the central until then; NULL in rows of
-- earlier versions.
ALTER TABLE connection_event ADD COLUMN layer TEXT;
ALTER TABLE connection_event ADD COLUMN attempt INTEGER;

-- last_boottime_ns is when the last of the count ended; began and ended are the first one's.
ALTER TABLE connection_attempt ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
ALTER TABLE connection_attempt ADD COLUMN last_boottime_ns INTEGER;
ALTER TABLE connection_attempt ADD COLUMN attempt INTEGER;

CREATE INDEX connection_event_by_time ON connection_event (headset_id, host_boot_id, boottime_ns);
CREATE INDEX connection_attempt_by_time ON connection_attempt (headset_id, host_boot_id, began_boottime_ns);

-- Samples that flow again: one row for each return, never folded.
CREATE TABLE streaming_return (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when the first live sample arrived
    boottime_ns INTEGER NOT NULL,
    -- the layer that found the headset, and how many layers were tried since the loss
    layer TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- why samples were missing; NULL for the first link of a recording
    cause TEXT,
    -- when the loss was noticed; NULL where no process was there to notice it
    lost_boottime_ns INTEGER,
    -- from when on eegsync could have had samples if the headset was in reach all the time: the last sample, or what came
    -- later of the begin of the process and the adapter's return
    able_boottime_ns INTEGER NOT NULL,
    -- when the headset was first heard since then, without a silence longer than a round of all layers
    heard_boottime_ns INTEGER NOT NULL,
    -- when everything was set up
    prepared_boottime_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX streaming_return_by_time ON streaming_return (headset_id, host_boot_id, boottime_ns);

-- How strong a link was, once a minute while samples flow, where the system says it; dBm.
CREATE TABLE link_quality (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- of what the headset sends, as received here
    rssi INTEGER NOT NULL,
    -- of what this machine sends; NULL where it is not known
    tx_power INTEGER
) STRICT;

CREATE INDEX link_quality_by_time ON link_quality (headset_id, host_boot_id, boottime_ns);

-- Processes that have acquired into this database. One that has no end and is not the latest has died.
CREATE TABLE process (
    id INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    pid INTEGER NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    started_boottime_ns INTEGER NOT NULL,
    -- open recordings with samples that it found
    taken_over INTEGER NOT NULL,
    -- when it was last known to be alive; written once a minute
    alive_boottime_ns INTEGER NOT NULL,
    ended_boottime_ns INTEGER,
    -- signal: somebody has ended it in order
    end_cause TEXT
) STRICT;

-- The machine was suspended, as its clocks tell: CLOCK_BOOTTIME has run ahead of CLOCK_MONOTONIC.
CREATE TABLE suspension (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when that was noticed, at most a second after the machine was awake again
    resumed_boottime_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL CHECK (duration_ns > 0)
) STRICT;

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
    SELECT NULL, 'process', 'died', NULL, NULL, NULL, NULL, NULL, 1, p.alive_boottime_ns - p.started_boottime_ns,
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
) AS e
JOIN host_boot AS b ON b.id = e.host_boot_id
JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
ORDER BY e.host_boot_id, e.boottime_ns, e.rank, e.id;
