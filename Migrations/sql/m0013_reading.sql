-- What reading by time needs. Views of single streams are made anew with this step: each gets a companion by the minute.

-- A segment by the instant of its first sample, on the clock of its host boot. The cast gives the expression the affinity
-- without which SQLite compares it with no column by the index.
CREATE INDEX segment_by_time ON segment (
    stream_id, host_boot_id, CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER));

CREATE INDEX stream_by_view ON stream (view_name);

-- Every annotation with the number of the sample that each stream of its recording took at its onset; one row for each view of a
-- stream. n is of the segment that began last before the onset, also within a gap; NULL where the stream was not sampled then:
-- more than a second after one segment reaches the next one, or before the first sample of the host boot.
CREATE VIEW annotation_sample AS
SELECT recording_id, view_name, stream, stream_id,
    CASE WHEN x < first_n THEN CASE WHEN before_n IS NULL OR x > before_n THEN x END
        WHEN next_n IS NULL OR x < next_n THEN x
        WHEN (x - next_n) * period_ns <= 1000000000 THEN next_n END AS n,
    onset, onset_unix_ns, duration_seconds, description, source
FROM (
    SELECT o.*, g.first_n AS first_n, g.period_ns AS period_ns,
        CAST(round(g.reference_n + (o.boottime_ns - g.reference_boottime_ns) / g.period_ns) AS INTEGER) AS x,
        (SELECT min(first_n) FROM segment WHERE stream_id = o.stream_id AND first_n > g.first_n) AS next_n,
        (SELECT last_n FROM segment WHERE stream_id = o.stream_id AND first_n < g.first_n ORDER BY first_n DESC LIMIT 1)
            AS before_n
    FROM (
        SELECT a.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, st.id AS stream_id,
            k.offset_ns + a.boottime_ns AS onset_unix_ns,
            strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + a.boottime_ns) / 1e9, 'unixepoch') AS onset,
            a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source,
            a.boottime_ns AS boottime_ns,
            coalesce(
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                    AND CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) <= a.boottime_ns
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) DESC LIMIT 1),
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) LIMIT 1)) AS segment_n
        FROM annotation AS a
        JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id
        JOIN stream AS st ON st.recording_id = a.recording_id AND st.bank = (
            SELECT min(bank) FROM stream WHERE recording_id = st.recording_id AND view_name = st.view_name)) AS o
    LEFT JOIN segment AS g ON g.stream_id = o.stream_id AND g.first_n = o.segment_n);
