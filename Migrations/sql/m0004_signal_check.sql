-- What the signals of a headset look like, about every ten seconds and when it changes. A status: no sample is altered by it.
-- It is written in the transaction of samples, so nothing here refuses a surprising word.

CREATE TABLE signal_check (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- c1 ... c8 of the sample rows
    channel INTEGER NOT NULL CHECK (channel BETWEEN 1 AND 8),
    -- the samples that were looked at; windows with a gap in them are left out
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL,
    -- good, lineNoise, flat, railed, poorContact, noContact
    condition TEXT NOT NULL,
    sample_count INTEGER NOT NULL CHECK (sample_count > 0),
    -- the part of the samples near an end of the range
    railed_fraction REAL NOT NULL CHECK (railed_fraction BETWEEN 0 AND 1),
    -- in raw counts, within one window
    peak_to_peak INTEGER NOT NULL CHECK (peak_to_peak >= 0),
    -- amplitudes in the channel's unit; NULL where it is sampled too slowly, or is no signal
    line_50_hz REAL,
    line_60_hz REAL,
    PRIMARY KEY (stream_id, channel, first_n),
    CHECK (last_n >= first_n)
) STRICT, WITHOUT ROWID;

-- The same with names and times.
CREATE VIEW signal_check_time AS
SELECT *,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time
FROM (
    SELECT
        st.recording_id AS recording_id, st.name AS stream, st.bank AS bank, st.view_name AS view_name,
        q.stream_id AS stream_id, c.name AS channel, q.condition AS condition, q.first_n AS first_n, q.last_n AS last_n,
        q.sample_count AS sample_count, q.railed_fraction AS railed_fraction,
        q.peak_to_peak * abs(c.scale) AS peak_to_peak, q.line_50_hz AS line_50_hz, q.line_60_hz AS line_60_hz,
        c.unit AS unit,
        (SELECT g.reference_unix_ns + CAST(round((q.first_n - g.reference_n) * g.period_ns) AS INTEGER)
        FROM segment_time AS g WHERE g.stream_id = q.stream_id AND g.first_n <= q.first_n
        ORDER BY g.first_n DESC LIMIT 1) AS start_unix_ns,
        (SELECT g.reference_unix_ns + CAST(round((q.last_n - g.reference_n) * g.period_ns) AS INTEGER)
        FROM segment_time AS g WHERE g.stream_id = q.stream_id AND g.first_n <= q.last_n
        ORDER BY g.first_n DESC LIMIT 1) AS end_unix_ns
    FROM signal_check AS q
    JOIN stream AS st ON st.id = q.stream_id
    JOIN channel AS c ON c.stream_id = q.stream_id AND c.number = q.channel);
