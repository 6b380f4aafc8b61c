-- Annotations that were corrected or deleted can be looked at beside those that hold, and what a headset said is found by sample.

CREATE INDEX annotation_by_sample ON annotation (stream_id, n) WHERE stream_id IS NOT NULL;
CREATE INDEX annotation_by_replaced ON annotation (replaces) WHERE replaces IS NOT NULL;

-- All annotations, also those that do not hold any more, with what became of them.
CREATE VIEW annotation_history AS
SELECT recording_id, onset_unix_ns, strftime('%Y-%m-%dT%H:%M:%fZ', onset_unix_ns / 1e9, 'unixepoch') AS onset,
    duration_seconds, description, source, annotation_id, view_name, n, device_ticks, code, replaces, replaced_by,
    withdrawn_unix_ns, strftime('%Y-%m-%dT%H:%M:%fZ', withdrawn_unix_ns / 1e9, 'unixepoch') AS withdrawn
FROM (
    SELECT a.recording_id AS recording_id,
        k.offset_ns + coalesce(
            g.reference_boottime_ns + CAST(round((a.n - g.reference_n) * g.period_ns) AS INTEGER), a.boottime_ns)
            AS onset_unix_ns,
        a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source, a.id AS annotation_id,
        (SELECT view_name FROM stream WHERE id = a.stream_id) AS view_name, a.n AS n, a.device_ticks AS device_ticks,
        a.code AS code, a.replaces AS replaces, (SELECT max(id) FROM annotation WHERE replaces = a.id) AS replaced_by,
        w.offset_ns + a.withdrawn_boottime_ns AS withdrawn_unix_ns
    FROM annotation AS a
    LEFT JOIN segment AS g ON g.stream_id = a.stream_id AND g.first_n = coalesce(
        (SELECT max(first_n) FROM segment WHERE stream_id = a.stream_id AND first_n <= a.n),
        (SELECT min(first_n) FROM segment WHERE stream_id = a.stream_id))
    JOIN host_boot_clock AS k ON k.host_boot_id = coalesce(g.host_boot_id, a.host_boot_id)
    LEFT JOIN host_boot_clock AS w ON w.host_boot_id = a.withdrawn_host_boot_id);
