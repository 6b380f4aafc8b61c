-- The tables. Raw integers are the truth: samples are the headset's own counts; scale, offset and time lie beside them and
-- can be corrected without touching a sample.
--
-- Every instant is a pair: the host boot, and nanoseconds on CLOCK_BOOTTIME since that boot. UTC is computed by views
-- (m0002) from the clock offsets, so a wall clock that steps moves nothing that was stored.
--
-- What protects data is enforced hard (samples, gaps, streams). Tables that only report (attempts, events, status) take any
-- word: a surprising word must not cost samples, which are written in the same transaction.

-- 'EEGS': tells this program's databases from other SQLite files.
PRAGMA application_id = 1162168147;

CREATE TABLE host_boot (
    id INTEGER PRIMARY KEY,
    -- /proc/sys/kernel/random/boot_id
    uuid TEXT NOT NULL UNIQUE CHECK (uuid <> '')
) STRICT;

CREATE TABLE clock_offset (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- UTC minus CLOCK_BOOTTIME: nanoseconds since 1970 at boottime 0
    offset_ns INTEGER NOT NULL,
    -- by how much the wall clock stepped against the previous row of the boot; 0 for the first
    step_ns INTEGER NOT NULL,
    is_synchronised INTEGER NOT NULL CHECK (is_synchronised IN (0, 1))
) STRICT;

CREATE INDEX clock_offset_by_rank ON clock_offset (host_boot_id, is_synchronised DESC, boottime_ns, id);

CREATE TABLE headset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    model TEXT NOT NULL CHECK (model <> ''),
    -- serial number or other proof of identity; no two headsets of a model share one
    serial_number TEXT CHECK (serial_number <> ''),
    UNIQUE (model, serial_number)
) STRICT;

CREATE TABLE headset_identifier (
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- as written, such as 00:55:DA:B0:13:24
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('classic', 'public', 'random')),
    success_count INTEGER NOT NULL DEFAULT 0 CHECK (success_count >= 0),
    failure_count INTEGER NOT NULL DEFAULT 0 CHECK (failure_count >= 0),
    last_success_host_boot_id INTEGER REFERENCES host_boot (id),
    last_success_boottime_ns INTEGER,
    last_failure_host_boot_id INTEGER REFERENCES host_boot (id),
    last_failure_boottime_ns INTEGER,
    PRIMARY KEY (headset_id, address, address_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE recording (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- what the operator wants; the acquisition follows
    desired_state TEXT NOT NULL CHECK (desired_state IN ('recording', 'stopped')),
    label TEXT,
    subject TEXT,
    task TEXT,
    requested_host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns INTEGER NOT NULL,
    -- the first sample
    started_host_boot_id INTEGER REFERENCES host_boot (id),
    started_boottime_ns INTEGER,
    -- when the operator wanted it to end
    stop_requested_host_boot_id INTEGER REFERENCES host_boot (id),
    stop_requested_boottime_ns INTEGER,
    -- when the acquisition had ended it
    stopped_host_boot_id INTEGER REFERENCES host_boot (id),
    stopped_boottime_ns INTEGER,
    CHECK ((started_host_boot_id IS NULL) = (started_boottime_ns IS NULL)),
    CHECK ((stop_requested_host_boot_id IS NULL) = (stop_requested_boottime_ns IS NULL)),
    CHECK ((stopped_host_boot_id IS NULL) = (stopped_boottime_ns IS NULL)),
    CHECK (desired_state = 'stopped' OR stopped_host_boot_id IS NULL)
) STRICT;

-- A headset records into one recording at a time.
CREATE UNIQUE INDEX recording_wanted ON recording (headset_id) WHERE desired_state = 'recording';

CREATE INDEX recording_by_headset ON recording (headset_id);

CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- place in the headset's list of streams
    position INTEGER NOT NULL CHECK (position >= 0),
    name TEXT NOT NULL CHECK (name <> ''),
    -- streams wider than 8 channels are several banks of one name
    bank INTEGER NOT NULL CHECK (bank >= 0),
    -- hertz, nominal
    sampling_frequency REAL NOT NULL CHECK (sampling_frequency > 0 AND sampling_frequency < 1e9),
    samples_per_count INTEGER NOT NULL CHECK (samples_per_count >= 1),
    counter_modulus INTEGER CHECK (counter_modulus >= 1),
    channel_count INTEGER NOT NULL CHECK (channel_count BETWEEN 1 AND 8),
    -- the view for people that shows the stream
    view_name TEXT NOT NULL CHECK (view_name <> ''),
    UNIQUE (recording_id, name, bank),
    UNIQUE (recording_id, position)
) STRICT;

CREATE TABLE channel (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- c1 ... c8 of the sample rows
    number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 8),
    name TEXT NOT NULL,
    -- BIDS's words: EEG, ACCEL, GYRO, PPG, MISC
    type TEXT NOT NULL,
    unit TEXT NOT NULL,
    -- physical value = scale * raw + offset, in unit
    scale REAL NOT NULL CHECK (scale <> 0 AND abs(scale) < 1e300),
    "offset" REAL NOT NULL CHECK (abs("offset") < 1e300),
    raw_minimum INTEGER NOT NULL,
    raw_maximum INTEGER NOT NULL,
    PRIMARY KEY (stream_id, number),
    CHECK (raw_minimum <= raw_maximum)
) STRICT, WITHOUT ROWID;

-- One run of the headset's counter: n = first_n + (index - first_index).
CREATE TABLE epoch (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    number INTEGER NOT NULL CHECK (number >= 0),
    boot_identifier INTEGER,
    first_n INTEGER NOT NULL,
    first_index INTEGER NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (stream_id, number)
) STRICT, WITHOUT ROWID;

-- The time map: boottime(n) = reference_boottime_ns + (n - reference_n) * period_ns, for first_n ... last_n.
CREATE TABLE segment (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    reference_n INTEGER NOT NULL,
    reference_boottime_ns INTEGER NOT NULL,
    -- nanoseconds between two samples, as fitted
    period_ns REAL NOT NULL CHECK (period_ns > 0 AND period_ns < 1e18),
    -- median absolute deviation of the arrivals from the line
    residual_ns REAL,
    observation_count INTEGER NOT NULL CHECK (observation_count >= 0),
    PRIMARY KEY (stream_id, first_n),
    FOREIGN KEY (stream_id, epoch) REFERENCES epoch (stream_id, number),
    CHECK (last_n >= first_n)
) STRICT, WITHOUT ROWID;

-- One sampling instant: raw counts; NULL where the packet of the channel was lost. Times are not here: see segment.
CREATE TABLE sample (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    n INTEGER NOT NULL,
    c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,
    c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER,
    PRIMARY KEY (stream_id, n)
) STRICT, WITHOUT ROWID;

-- Why samples can be missing. A table, so that a later migration can add a cause with one INSERT.
CREATE TABLE gap_cause (
    cause TEXT PRIMARY KEY CHECK (cause <> ''),
    meaning TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO gap_cause (cause, meaning) VALUES
    ('linkLost', 'the link broke: out of range, interference, or disconnected by a person'),
    ('silence', 'the headset was connected but silent'),
    ('headsetRestarted', 'the headset restarted and lost its memory or its place'),
    ('hostRestarted', 'this machine restarted or lost power'),
    ('daemonDown', 'the acquisition process was not running'),
    ('adapterUnavailable', 'the Bluetooth adapter was off, blocked or gone'),
    ('queueOverflow', 'samples arrived faster than they could be stored'),
    ('storageUnavailable', 'the database could not be written'),
    ('packetLost', 'a packet was lost on a link that stayed up'),
    ('packetDamaged', 'a packet arrived damaged'),
    ('bufferOverrun', 'the headset overwrote samples before they could be read'),
    ('operator', 'a person paused the recording');

-- The gap ledger: samples that are known to be missing. (stream, first_n, channel) is the key people and programs use.
CREATE TABLE gap (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    -- 0: whole rows; 1 ... 8: one channel of rows that are there
    channel INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 8),
    -- NULL while the end is not known
    count INTEGER CHECK (count > 0),
    cause TEXT NOT NULL REFERENCES gap_cause (cause),
    -- how many of count arrived after all
    recovered INTEGER NOT NULL DEFAULT 0 CHECK (recovered >= 0),
    -- when the gap was noticed
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    UNIQUE (stream_id, channel, first_n),
    CHECK (recovered <= coalesce(count, 0))
) STRICT;

-- Gaps of one stream and channel do not overlap, and nothing follows a gap whose end is unknown.
CREATE TRIGGER gap_overlap_on_insert BEFORE INSERT ON gap
WHEN EXISTS (
    SELECT 1 FROM gap WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n > NEW.first_n
        AND (NEW.count IS NULL OR first_n < NEW.first_n + NEW.count))
OR (SELECT count IS NULL OR first_n + count > NEW.first_n FROM gap
    WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n < NEW.first_n
    ORDER BY first_n DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'gap overlaps another gap of its stream and channel');
END;

CREATE TRIGGER gap_overlap_on_update BEFORE UPDATE OF stream_id, channel, first_n, count ON gap
WHEN EXISTS (
    SELECT 1 FROM gap WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n > NEW.first_n
        AND id <> NEW.id AND (NEW.count IS NULL OR first_n < NEW.first_n + NEW.count))
OR (SELECT count IS NULL OR first_n + count > NEW.first_n FROM gap
    WHERE stream_id = NEW.stream_id AND channel = NEW.channel AND first_n < NEW.first_n AND id <> NEW.id
    ORDER BY first_n DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'gap overlaps another gap of its stream and channel');
END;

CREATE TABLE annotation (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    duration_seconds REAL CHECK (duration_seconds >= 0),
    description TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('operator', 'headset', 'eegsync'))
) STRICT;

CREATE INDEX annotation_by_recording ON annotation (recording_id);

CREATE TABLE status_report (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- NULL where the headset did not answer
    condition TEXT,
    boot_identifier INTEGER,
    battery_percent REAL,
    device_ticks INTEGER,
    tick_frequency REAL,
    -- what the headset held in memory: JSON list of {"stream", "oldest", "end"}, indexes as sent
    buffered TEXT CHECK (json_valid(buffered)),
    -- what was concluded, such as drain, headsetRestarted, noAnswer
    outcome TEXT NOT NULL
) STRICT;

CREATE INDEX status_report_by_headset ON status_report (headset_id, id);

CREATE TABLE connection_attempt (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- restoration, cachedIdentifier, serviceRetrieval or scan
    layer TEXT NOT NULL,
    address TEXT,
    address_type TEXT,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    began_boottime_ns INTEGER NOT NULL,
    ended_boottime_ns INTEGER NOT NULL,
    -- streaming, or what ended the attempt
    outcome TEXT NOT NULL,
    detail TEXT
) STRICT;

CREATE INDEX connection_attempt_by_headset ON connection_attempt (headset_id, id);

CREATE TABLE connection_event (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- the state that was entered, such as streaming, backingOff
    state TEXT NOT NULL,
    detail TEXT
) STRICT;

CREATE INDEX connection_event_by_headset ON connection_event (headset_id, id);

-- The headset's own clock beside the host's: an observation, not the truth.
CREATE TABLE clock_observation (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    boot_identifier INTEGER,
    device_ticks INTEGER NOT NULL,
    tick_frequency REAL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX clock_observation_by_headset ON clock_observation (headset_id, id);

-- What the connection machine wants to know again after the process died; one document a headset.
CREATE TABLE preserved_state (
    headset_id INTEGER PRIMARY KEY REFERENCES headset (id),
    json TEXT NOT NULL CHECK (json_valid(json)),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;
