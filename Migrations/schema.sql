-- The schema of a new database: what the steps in sql/ make of an empty one. Made of them, not by hand
-- (Tests/StorageTests/NewSchemaTests.swift).

PRAGMA application_id = 1162168147;

CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);

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

CREATE TABLE headset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    model TEXT NOT NULL CHECK (model <> ''),
    -- serial number or other proof of identity; no two headsets of a model share one
    serial_number TEXT CHECK (serial_number <> ''), uuid TEXT,
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
    stopped_boottime_ns INTEGER, uuid TEXT,
    CHECK ((started_host_boot_id IS NULL) = (started_boottime_ns IS NULL)),
    CHECK ((stop_requested_host_boot_id IS NULL) = (stop_requested_boottime_ns IS NULL)),
    CHECK ((stopped_host_boot_id IS NULL) = (stopped_boottime_ns IS NULL)),
    CHECK (desired_state = 'stopped' OR stopped_host_boot_id IS NULL)
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
    observation_count INTEGER NOT NULL CHECK (observation_count >= 0), uncertainty_ns REAL CHECK (uncertainty_ns >= 0),
    PRIMARY KEY (stream_id, first_n),
    FOREIGN KEY (stream_id, epoch) REFERENCES epoch (stream_id, number),
    CHECK (last_n >= first_n)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    n INTEGER NOT NULL,
    c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,
    c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER,
    PRIMARY KEY (stream_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE gap_cause (
    cause TEXT PRIMARY KEY CHECK (cause <> ''),
    meaning TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
    buffered TEXT CHECK (buffered IS NULL OR json_valid(buffered)),
    -- what was concluded, such as drain, headsetRestarted, noAnswer
    outcome TEXT NOT NULL
, raw BLOB) STRICT;

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
, cause TEXT, count INTEGER NOT NULL DEFAULT 1, last_boottime_ns INTEGER, attempt INTEGER) STRICT;

CREATE TABLE connection_event (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- the state that was entered, such as streaming, backingOff
    state TEXT NOT NULL,
    detail TEXT
, cause TEXT, count INTEGER NOT NULL DEFAULT 1, last_boottime_ns INTEGER, layer TEXT, attempt INTEGER) STRICT;

CREATE TABLE clock_observation (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    boot_identifier INTEGER,
    device_ticks INTEGER NOT NULL,
    tick_frequency REAL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE preserved_state (
    headset_id INTEGER PRIMARY KEY REFERENCES headset (id),
    json TEXT NOT NULL CHECK (json_valid(json)),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

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

CREATE TABLE capture (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- what the operator wants; the acquisition follows
    desired_state TEXT NOT NULL CHECK (desired_state IN ('capturing', 'stopped')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns INTEGER NOT NULL,
    -- ends at the latest then; the command moves it on while it runs, so that a capture does not outlive it for long
    end_boottime_ns INTEGER NOT NULL,
    -- 1 once the acquisition has written everything
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

CREATE TABLE capture_chunk (
    id INTEGER PRIMARY KEY,
    capture_id INTEGER NOT NULL REFERENCES capture (id) ON DELETE CASCADE,
    packet_count INTEGER NOT NULL,
    -- records of a btsnoop file, whole
    records BLOB NOT NULL
) STRICT;

CREATE TABLE handle_map (
    -- as written, such as 00:55:DA:B0:13:24
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('public', 'random')),
    -- services, characteristics and descriptors with their handles, a line each
    text TEXT NOT NULL,
    -- when it was discovered
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (address, address_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE impedance_measurement (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- what the operator wants; the acquisition follows
    desired_state TEXT NOT NULL CHECK (desired_state IN ('measuring', 'stopped')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns INTEGER NOT NULL,
    -- ends at the latest then; the command moves it on while it runs, so that no measurement outlives it for long
    end_boottime_ns INTEGER NOT NULL,
    -- 1 once the headset samples again, or was told to
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

CREATE TABLE impedance (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- the channel's name, or another one of the headset's profile, such as reference
    electrode TEXT NOT NULL,
    -- as the headset says it
    kilohms REAL NOT NULL
) STRICT;

CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- place in the headset's list of streams; where the list has changed, the stream with the highest id is the present one
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
    view_name TEXT NOT NULL CHECK (view_name <> ''), uuid TEXT,
    UNIQUE (recording_id, name, bank)
) STRICT;

CREATE TABLE arrival (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- the last sample of the packet that arrived
    n INTEGER NOT NULL,
    -- on CLOCK_BOOTTIME of the host boot of the segment that holds n
    boottime_ns INTEGER NOT NULL,
    -- the headset's own clock, where it came with the packet
    device_ticks INTEGER,
    PRIMARY KEY (stream_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE gap (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    -- 0: whole rows; 1 ... 8: one channel of rows that are there
    channel INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 8),
    -- NULL while the end is not known. 0 between two host boots, of which only the clocks know how far apart they are: n goes
    -- on, and the view gap_time computes what is missing from the clocks as they are known now
    count INTEGER CHECK (count >= 0),
    cause TEXT NOT NULL REFERENCES gap_cause (cause),
    -- how many of count arrived after all
    recovered INTEGER NOT NULL DEFAULT 0 CHECK (recovered >= 0),
    -- when the gap was noticed
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- counted by the headset's counter or mark, timed by clocks, or unknown yet
    certainty TEXT NOT NULL DEFAULT 'unknown' CHECK (certainty IN ('counted', 'timed', 'unknown')),
    -- of a timed count: right within so many samples, three standard deviations; NULL where it was not said
    uncertainty INTEGER CHECK (uncertainty >= 0),
    UNIQUE (stream_id, channel, first_n),
    CHECK (recovered <= coalesce(count, 0)),
    CHECK (channel = 0 OR count > 0)
) STRICT;

CREATE TABLE loss_detection (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    -- the headset's own marks, the clock because the rate is known well enough, or nothing
    means TEXT NOT NULL CHECK (means IN ('mark', 'clock', 'nothing')),
    PRIMARY KEY (stream_id, first_n)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_declaration (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    scale REAL NOT NULL,
    "offset" REAL NOT NULL,
    PRIMARY KEY (stream_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE refit (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- when
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- of the program
    version TEXT NOT NULL CHECK (version <> ''),
    -- how many arrivals the new map rests on
    evidence_count INTEGER NOT NULL CHECK (evidence_count >= 0),
    -- by how much times moved, forth or back: at most, and in the mean
    shift_max_ns REAL NOT NULL CHECK (shift_max_ns >= 0),
    shift_mean_ns REAL NOT NULL CHECK (shift_mean_ns >= 0)
) STRICT;

CREATE TABLE replaced_segment (
    refit_id INTEGER NOT NULL REFERENCES refit (id),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    reference_n INTEGER NOT NULL,
    reference_boottime_ns INTEGER NOT NULL,
    period_ns REAL NOT NULL,
    residual_ns REAL,
    observation_count INTEGER NOT NULL,
    uncertainty_ns REAL,
    PRIMARY KEY (refit_id, first_n)
) STRICT, WITHOUT ROWID;

CREATE TABLE switched_off_adapter (
    -- the adapter's own, as written
    address TEXT NOT NULL PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE candidate (
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('classic', 'public', 'random')),
    -- the local name that it advertised
    name TEXT,
    -- dBm
    rssi INTEGER,
    -- when it was heard last
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (headset_id, address, address_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE adoption (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    recording_id INTEGER REFERENCES recording (id),
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('classic', 'public', 'random')),
    replaced_address TEXT,
    replaced_address_type TEXT CHECK (replaced_address_type IN ('classic', 'public', 'random')),
    -- operator: a person said so; automatic: it was the only one in sight; withdrawn: the headset is where it was before
    decision TEXT NOT NULL CHECK (decision IN ('operator', 'automatic', 'withdrawn')),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE pause (
    id INTEGER PRIMARY KEY,
    began_host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    began_boottime_ns INTEGER NOT NULL,
    -- NULL while it lasts
    ended_host_boot_id INTEGER REFERENCES host_boot (id),
    ended_boottime_ns INTEGER,
    CHECK ((ended_host_boot_id IS NULL) = (ended_boottime_ns IS NULL))
) STRICT;

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

CREATE TABLE suspension (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when that was noticed, at most a second after the machine was awake again
    resumed_boottime_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL CHECK (duration_ns > 0)
) STRICT;

CREATE TABLE annotation (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- when it happened; of what a headset says of a sample, when that arrived
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    duration_seconds REAL CHECK (duration_seconds >= 0),
    description TEXT NOT NULL,
    -- sql: inserted through the view annotation_time, by whatever program
    source TEXT NOT NULL CHECK (source IN ('operator', 'headset', 'eegsync', 'sql')),
    -- the sample that the headset said it of; both or neither
    stream_id INTEGER REFERENCES stream (id),
    n INTEGER,
    -- the headset's own clock, and the number of a trigger, as sent
    device_ticks INTEGER,
    code INTEGER,
    -- the annotation that this one corrects
    replaces INTEGER REFERENCES annotation (id),
    -- since when it does not hold any more: it was corrected or deleted
    withdrawn_host_boot_id INTEGER REFERENCES host_boot (id),
    withdrawn_boottime_ns INTEGER, uuid TEXT,
    CHECK ((stream_id IS NULL) = (n IS NULL)),
    CHECK ((withdrawn_host_boot_id IS NULL) = (withdrawn_boottime_ns IS NULL))
) STRICT;

CREATE TABLE block (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    -- live: rows beyond all before; late: consecutive rows, or values of one channel, that came behind later ones
    chain TEXT NOT NULL CHECK (chain IN ('live', 'late')),
    -- from 0; the chain's last block may grow
    number INTEGER NOT NULL CHECK (number >= 0),
    -- 0: whole rows; 1 ... 8: values of one channel, of rows that are in other blocks
    channel INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 8),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL,
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    -- SHA-256 of the digest of the block before and the rows
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    UNIQUE (stream_id, chain, number),
    CHECK (last_n - first_n + 1 >= row_count),
    CHECK (chain = 'late' OR channel = 0),
    CHECK (chain = 'live' OR last_n - first_n + 1 = row_count)
) STRICT;

CREATE TABLE undigested_rows (
    stream_id INTEGER PRIMARY KEY REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL CHECK (last_n >= first_n)
) STRICT;

CREATE TABLE digest_sum (
    table_name TEXT NOT NULL CHECK (table_name <> ''),
    owner_id INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    sum BLOB NOT NULL CHECK (length(sum) = 32),
    PRIMARY KEY (table_name, owner_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_correction (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT,
    unit TEXT,
    scale REAL CHECK (scale <> 0 AND abs(scale) < 1e300),
    "offset" REAL CHECK (abs("offset") < 1e300),
    reason TEXT,
    -- when, by the wall clock of whoever inserted it
    corrected_unix_seconds INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
    FOREIGN KEY (stream_id, number) REFERENCES channel (stream_id, number)
) STRICT;

CREATE TABLE provenance (
    id INTEGER PRIMARY KEY,
    -- a JSON object, its keys in order; what is not known is absent
    facts TEXT NOT NULL UNIQUE CHECK (json_valid(facts))
) STRICT;

CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- when it was there
    began_boottime_ns INTEGER NOT NULL,
    -- NULL while it is there, and where the process or the machine ended first
    ended_boottime_ns INTEGER,
    provenance_id INTEGER NOT NULL REFERENCES provenance (id), uuid TEXT,
    UNIQUE (headset_id, host_boot_id, began_boottime_ns)
) STRICT;

CREATE TABLE headset_message (
    link_id INTEGER NOT NULL REFERENCES link (id),
    number INTEGER NOT NULL CHECK (number >= 0),
    -- message: text for people; refused: a command that it refused; undecodable: bytes that are no valid message
    kind TEXT NOT NULL,
    -- NULL in the row that counts all further ones of its kind
    text TEXT,
    -- of what was undecodable: the first bytes of a notification that held some; NULL in the row of all further ones
    bytes BLOB,
    count INTEGER NOT NULL CHECK (count >= 1),
    -- how many bytes were undecodable, in all
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    first_boottime_ns INTEGER NOT NULL,
    last_boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (link_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE recording_detail (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    session TEXT,
    run TEXT,
    operator TEXT,
    notes TEXT,
    -- of the tz database, such as Europe/Berlin
    time_zone TEXT,
    subject_name TEXT,
    -- BIDS's words: female, male, other
    subject_sex TEXT CHECK (subject_sex IN ('female', 'male', 'other')),
    -- a date as 1990-12-31
    subject_birthdate TEXT CHECK (subject_birthdate GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    -- BIDS's words: left, right, ambidextrous
    subject_handedness TEXT CHECK (subject_handedness IN ('left', 'right', 'ambidextrous'))
) STRICT;

CREATE TABLE recording_property (
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    key TEXT NOT NULL CHECK (key <> ''),
    value TEXT NOT NULL,
    PRIMARY KEY (recording_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE recording_edit (
    id INTEGER PRIMARY KEY,
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- a column of recording or recording_detail, or property: and the key
    field TEXT NOT NULL,
    -- NULL where nothing was said
    before TEXT,
    after TEXT,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE early_start (
    id INTEGER PRIMARY KEY,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE schema_snapshot (
    -- the name of the file, in the directory of the database
    file TEXT PRIMARY KEY NOT NULL,
    -- processes from this one on have run with the new schema; what they have lived says when the copy is needed no more
    first_process_id INTEGER NOT NULL
) STRICT;

CREATE TABLE spool (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    path TEXT NOT NULL,
    -- of the process that fills it; the file begins with it
    token TEXT NOT NULL,
    -- the boot that instants of its batches belong to
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- of the last batch that is committed
    number INTEGER NOT NULL
) STRICT;

CREATE TABLE deletion (
    id INTEGER PRIMARY KEY,
    -- the key that the recording had
    recording_id INTEGER NOT NULL UNIQUE,
    -- delete: a person deleted it; prune: by a rule; forget: a participant was erased, of whom nothing more is said
    means TEXT NOT NULL CHECK (means IN ('delete', 'prune', 'forget')),
    -- the user of this machine
    requested_by TEXT NOT NULL CHECK (requested_by <> ''),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    -- whose it was, how many rows it had, and its first and last sample as the clocks were known then; NULL where that is erased
    -- or was not known
    headset_id INTEGER REFERENCES headset (id),
    row_count INTEGER,
    start_unix_ns INTEGER,
    end_unix_ns INTEGER,
    -- 1 once nothing of it is left: it goes in many small transactions
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1))
) STRICT;

CREATE TABLE deleted_stream (
    -- the key that the stream had
    stream_id INTEGER PRIMARY KEY,
    deletion_id INTEGER NOT NULL REFERENCES deletion (id),
    -- by which manifests, witnesses and other databases know it
    uuid TEXT
) STRICT;

CREATE TABLE confirmation (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    chain TEXT NOT NULL CHECK (chain IN ('live', 'late')),
    -- who has them, such as the address of a server
    destination TEXT NOT NULL CHECK (destination <> ''),
    -- the last block of the chain that is there, and how many of its rows: the last block grows
    number INTEGER NOT NULL CHECK (number >= 0),
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (stream_id, chain, destination)
) STRICT, WITHOUT ROWID;

CREATE TABLE recording_end (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    -- by the clock of that boot, which nobody sets; in another boot, UTC decides
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE schedule (
    id INTEGER PRIMARY KEY,
    headset_id INTEGER NOT NULL REFERENCES headset (id),
    -- by the wall clock of time_zone
    minute_of_day INTEGER NOT NULL CHECK (minute_of_day BETWEEN 0 AND 1439),
    -- bit 0 is Monday, bit 6 is Sunday
    days INTEGER NOT NULL CHECK (days BETWEEN 1 AND 127),
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds >= 1),
    -- such as Europe/Berlin
    time_zone TEXT NOT NULL,
    -- what the recordings are called; NULL for nothing
    label TEXT,
    -- UTC in seconds since 1970; starts up to then are none of it
    created_unix INTEGER NOT NULL
) STRICT;

CREATE TABLE schedule_start (
    -- in the order in which it was decided
    id INTEGER PRIMARY KEY,
    schedule_id INTEGER NOT NULL REFERENCES schedule (id) ON DELETE CASCADE,
    -- UTC in seconds since 1970
    due_unix INTEGER NOT NULL,
    -- a recording began, in time or late; the headset was being recorded already; all of its time had passed
    decision TEXT NOT NULL CHECK (decision IN ('started', 'wasRecording', 'missed')),
    -- the recording that began
    recording_id INTEGER REFERENCES recording (id),
    UNIQUE (schedule_id, due_unix)
) STRICT;

CREATE TABLE disk_start (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- the kernel's name of the disk
    disk TEXT NOT NULL,
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    written_bytes INTEGER NOT NULL,
    -- flushes of the disk's cache; NULL where the kernel does not count them
    flushes INTEGER
) STRICT;

CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE CHECK (uuid <> ''),
    -- digests (128 bits, hexadecimal) of the board's serial number and of /etc/machine-id; NULL where there is none. A copied
    -- card has the machine-id of the first one, so the board counts where it has a number
    board TEXT,
    installation TEXT,
    -- created: the database, or its account of machines, began here; moved, copied: a person has said that it came so; NULL: it
    -- came from another machine, and nobody has said how
    origin TEXT CHECK (origin IN ('created', 'moved', 'copied')),
    -- when it was seen first
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    CHECK (board IS NOT NULL OR installation IS NOT NULL)
) STRICT;

CREATE TABLE machine_boot (
    host_boot_id INTEGER PRIMARY KEY REFERENCES host_boot (id),
    machine_id INTEGER NOT NULL REFERENCES machine (id)
) STRICT;

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

CREATE TABLE merged_recording (
    recording_id INTEGER PRIMARY KEY REFERENCES recording (id),
    -- the name of the file, without its directories
    source TEXT NOT NULL CHECK (source <> ''),
    -- when it came
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE merged_machine (
    machine_id INTEGER PRIMARY KEY REFERENCES machine (id)
) STRICT;

CREATE TABLE merge_conflict (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    n INTEGER NOT NULL,
    -- the other database's values
    c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,
    c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER,
    -- the name of its file, without its directories
    source TEXT NOT NULL CHECK (source <> ''),
    -- when they were found to differ
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE whole_confirmation (
    recording_id INTEGER NOT NULL REFERENCES recording (id),
    -- who has it, such as the address of a server
    destination TEXT NOT NULL CHECK (destination <> ''),
    -- the sum of the SHA-256 of its rows, as they are there; of a recording that has changed since it is another one
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    host_boot_id INTEGER NOT NULL REFERENCES host_boot (id),
    boottime_ns INTEGER NOT NULL,
    PRIMARY KEY (recording_id, destination)
) STRICT, WITHOUT ROWID;

INSERT INTO "grdb_migrations" VALUES
    ('m0001_tables'),
    ('m0002_views'),
    ('m0003_not_sent'),
    ('m0004_signal_check'),
    ('m0005_capture'),
    ('m0006_handle_map'),
    ('m0007_bond'),
    ('m0008_impedance'),
    ('m0009_status_bytes'),
    ('m0010_link_key'),
    ('m0011_changed_streams'),
    ('m0012_certainty'),
    ('m0013_reading'),
    ('m0014_quarantine'),
    ('m0015_channel_declaration'),
    ('m0016_refit'),
    ('m0017_adapter_power'),
    ('m0018_connection_cause'),
    ('m0019_adoption'),
    ('m0020_pause'),
    ('m0021_history'),
    ('m0022_annotation'),
    ('m0023_evidence'),
    ('m0024_provenance'),
    ('m0025_annotation_history'),
    ('m0026_digested_tables'),
    ('m0029_start'),
    ('m0030_spool'),
    ('m0031_deletion'),
    ('m0032_pairing_keys'),
    ('m0033_schedule'),
    ('m0034_process_death'),
    ('m0035_identity'),
    ('m0036_full_disk'),
    ('m0037_merge'),
    ('m0038_whole_confirmation');

INSERT INTO "gap_cause" VALUES
    ('adapterUnavailable', 'the Bluetooth adapter was off, blocked or gone'),
    ('bufferOverrun', 'the headset overwrote samples before they could be read'),
    ('daemonDown', 'the acquisition process was not running'),
    ('headsetRestarted', 'the headset restarted and lost its memory or its place'),
    ('hostRestarted', 'this machine restarted or lost power'),
    ('impedance', 'the headset measured the impedance of its electrodes instead'),
    ('linkLost', 'the link broke: out of range, interference, or disconnected by a person'),
    ('notSent', 'the headset took the sample and never sends it'),
    ('operator', 'a person paused the recording'),
    ('packetDamaged', 'a packet arrived damaged'),
    ('packetLost', 'a packet was lost on a link that stayed up'),
    ('quarantined', 'the headset was let go, because what it sends breaks a rule'),
    ('queueOverflow', 'samples arrived faster than they could be stored'),
    ('silence', 'the headset was connected but silent'),
    ('storageUnavailable', 'the database could not be written');

CREATE UNIQUE INDEX recording_wanted ON recording (headset_id) WHERE desired_state = 'recording';

CREATE INDEX recording_by_headset ON recording (headset_id);

CREATE INDEX status_report_by_headset ON status_report (headset_id, id);

CREATE INDEX connection_attempt_by_headset ON connection_attempt (headset_id, id);

CREATE INDEX connection_event_by_headset ON connection_event (headset_id, id);

CREATE INDEX clock_observation_by_headset ON clock_observation (headset_id, id);

CREATE INDEX capture_chunk_by_capture ON capture_chunk (capture_id, id);

CREATE INDEX impedance_by_recording ON impedance (recording_id, id);

CREATE INDEX stream_by_position ON stream (recording_id, position);

CREATE INDEX gap_of_no_count ON gap (stream_id) WHERE count = 0;

CREATE INDEX clock_offset_by_rank ON clock_offset (host_boot_id, is_synchronised DESC, boottime_ns DESC, id DESC);

CREATE INDEX segment_by_time ON segment (
    stream_id, host_boot_id, CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER));

CREATE INDEX stream_by_view ON stream (view_name);

CREATE INDEX refit_by_stream ON refit (stream_id, id);

CREATE INDEX adoption_by_headset ON adoption (headset_id, id);

CREATE UNIQUE INDEX pause_that_lasts ON pause (ended_host_boot_id IS NULL) WHERE ended_host_boot_id IS NULL;

CREATE INDEX connection_event_by_time ON connection_event (headset_id, host_boot_id, boottime_ns);

CREATE INDEX connection_attempt_by_time ON connection_attempt (headset_id, host_boot_id, began_boottime_ns);

CREATE INDEX streaming_return_by_time ON streaming_return (headset_id, host_boot_id, boottime_ns);

CREATE INDEX link_quality_by_time ON link_quality (headset_id, host_boot_id, boottime_ns);

CREATE INDEX annotation_by_recording ON annotation (recording_id);

CREATE INDEX late_block_by_n ON block (stream_id, first_n, channel) WHERE chain = 'late';

CREATE INDEX channel_correction_by_channel ON channel_correction (stream_id, number, id);

CREATE INDEX link_by_recording ON link (recording_id, host_boot_id, began_boottime_ns);

CREATE INDEX recording_edit_by_recording ON recording_edit (recording_id, id);

CREATE INDEX annotation_by_sample ON annotation (stream_id, n) WHERE stream_id IS NOT NULL;

CREATE INDEX annotation_by_replaced ON annotation (replaces) WHERE replaces IS NOT NULL;

CREATE INDEX deleted_stream_by_uuid ON deleted_stream (uuid);

CREATE UNIQUE INDEX headset_by_uuid ON headset (uuid);

CREATE UNIQUE INDEX recording_by_uuid ON recording (uuid);

CREATE INDEX merge_conflict_by_sample ON merge_conflict (stream_id, n);

CREATE VIEW recording_overview AS
SELECT
    r.id AS recording_id, h.name AS headset, h.model AS model, h.serial_number AS serial_number,
    r.label AS label, r.subject AS subject, r.task AS task,
    CASE WHEN r.stopped_boottime_ns IS NOT NULL THEN 'stopped'
        WHEN r.desired_state = 'stopped' THEN 'stopping'
        WHEN r.started_boottime_ns IS NULL THEN 'waiting'
        ELSE 'recording' END AS state,
    min(o.start_time) AS start_time, max(o.end_time) AS end_time,
    (max(o.end_unix_ns) - min(o.start_unix_ns)) / 1e9 AS duration_seconds,
    group_concat(DISTINCT o.view_name) AS view_names,
    coalesce(sum(o.rows), 0) AS rows, coalesce(sum(o.missing), 0) AS missing,
    coalesce(sum(o.recovered), 0) AS recovered, coalesce(sum(o.gaps), 0) AS gaps,
    min(o.start_unix_ns) AS start_unix_ns, max(o.end_unix_ns) AS end_unix_ns,
    requested.offset_ns + r.requested_boottime_ns AS requested_unix_ns,
    stopped.offset_ns + r.stopped_boottime_ns AS stopped_unix_ns
FROM recording AS r
JOIN headset AS h ON h.id = r.headset_id
JOIN host_boot_clock AS requested ON requested.host_boot_id = r.requested_host_boot_id
LEFT JOIN host_boot_clock AS stopped ON stopped.host_boot_id = r.stopped_host_boot_id
LEFT JOIN stream_overview AS o ON o.recording_id = r.id
GROUP BY r.id;

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

CREATE VIEW impedance_time AS
SELECT i.recording_id AS recording_id, k.offset_ns + i.boottime_ns AS unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + i.boottime_ns) / 1e9, 'unixepoch') AS time,
    i.electrode AS electrode, i.kilohms AS kilohms
FROM impedance AS i JOIN host_boot_clock AS k ON k.host_boot_id = i.host_boot_id;

CREATE VIEW host_boot_clock AS
SELECT b.id AS host_boot_id, b.uuid AS uuid, o.offset_ns AS offset_ns, o.is_synchronised AS is_synchronised
FROM host_boot AS b
LEFT JOIN clock_offset AS o ON o.id = (
    SELECT c.id FROM clock_offset AS c WHERE c.host_boot_id = b.id
    ORDER BY c.is_synchronised DESC, c.boottime_ns DESC, c.id DESC LIMIT 1);

CREATE VIEW segment_time AS
SELECT
    st.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, st.bank AS bank,
    g.stream_id AS stream_id, g.first_n AS first_n, g.last_n AS last_n, g.reference_n AS reference_n,
    k.offset_ns + g.reference_boottime_ns AS reference_unix_ns, g.period_ns AS period_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.first_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS start_unix_ns,
    k.offset_ns + g.reference_boottime_ns + CAST(round((g.last_n - g.reference_n) * g.period_ns) AS INTEGER)
        AS end_unix_ns,
    g.residual_ns AS residual_ns, g.epoch AS epoch, k.is_synchronised AS is_synchronised,
    g.uncertainty_ns AS uncertainty_ns, g.observation_count AS observation_count, g.host_boot_id AS host_boot_id
FROM segment AS g
JOIN stream AS st ON st.id = g.stream_id
JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id;

CREATE VIEW gap_between_boots AS
SELECT gap_id, stream_id, first_n, start_unix_ns, end_unix_ns,
    CASE WHEN is_synchronised = 1 AND end_unix_ns >= start_unix_ns
        THEN CAST(round((end_unix_ns - start_unix_ns) / 1e9 * sampling_frequency) AS INTEGER) END AS missing
FROM (
    SELECT g.id AS gap_id, g.stream_id AS stream_id, g.first_n AS first_n, st.sampling_frequency AS sampling_frequency,
        ka.offset_ns + a.reference_boottime_ns + CAST(round((g.first_n - a.reference_n) * a.period_ns) AS INTEGER)
            AS start_unix_ns,
        CASE WHEN b.first_n IS NOT NULL
            THEN kb.offset_ns + b.reference_boottime_ns + CAST(round((g.first_n - b.reference_n) * b.period_ns) AS INTEGER)
            ELSE kr.offset_ns + r.stop_requested_boottime_ns END AS end_unix_ns,
        ka.is_synchronised AND CASE WHEN b.first_n IS NOT NULL THEN kb.is_synchronised ELSE kr.is_synchronised END
            AS is_synchronised
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN recording AS r ON r.id = st.recording_id
    LEFT JOIN segment AS a ON a.stream_id = g.stream_id AND a.first_n = (
        SELECT max(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n < g.first_n)
    LEFT JOIN host_boot_clock AS ka ON ka.host_boot_id = a.host_boot_id
    LEFT JOIN segment AS b ON b.stream_id = g.stream_id AND b.first_n = (
        SELECT min(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n >= g.first_n)
    LEFT JOIN host_boot_clock AS kb ON kb.host_boot_id = b.host_boot_id
    LEFT JOIN host_boot_clock AS kr ON kr.host_boot_id = r.stop_requested_host_boot_id
    WHERE g.count = 0);

CREATE VIEW gap_time AS
SELECT recording_id, stream, bank, view_name, stream_id, first_n, last_n, count, channel, channel_name, cause, meaning,
    recovered, missing, sampling_frequency, noticed_unix_ns, start_unix_ns, end_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time,
    CASE WHEN count > 0 THEN count / sampling_frequency ELSE missing / sampling_frequency END AS duration_seconds,
    certainty, uncertainty
FROM (
    SELECT
        st.recording_id AS recording_id, st.name AS stream, st.bank AS bank, st.view_name AS view_name,
        g.stream_id AS stream_id, g.first_n AS first_n, g.first_n + g.count - 1 AS last_n, g.count AS count,
        g.channel AS channel,
        (SELECT c.name FROM channel AS c WHERE c.stream_id = g.stream_id AND c.number = g.channel) AS channel_name,
        g.cause AS cause, w.meaning AS meaning, g.recovered AS recovered,
        CASE WHEN g.count = 0 THEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id)
            ELSE g.count - g.recovered END AS missing,
        st.sampling_frequency AS sampling_frequency,
        k.offset_ns + g.boottime_ns AS noticed_unix_ns,
        CASE WHEN g.count IS NULL THEN 'unknown'
            WHEN g.count = 0 AND (SELECT missing FROM gap_between_boots WHERE gap_id = g.id) IS NULL THEN 'unknown'
            ELSE g.certainty END AS certainty,
        -- two hosts' clocks that are synchronised over the network differ by less than a tenth of a second
        CASE WHEN g.count = 0 THEN CASE WHEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id) IS NOT NULL
            THEN CAST(round(0.1 * st.sampling_frequency) AS INTEGER) + 1 END
            ELSE g.uncertainty END AS uncertainty,
        -- continue the segment before the gap; a gap at the very start counts back from the first segment
        (SELECT k2.offset_ns + s.reference_boottime_ns + CAST(round((g.first_n - s.reference_n) * s.period_ns) AS INTEGER)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = g.stream_id AND first_n < g.first_n),
            (SELECT min(first_n) FROM segment WHERE stream_id = g.stream_id))) AS start_unix_ns,
        CASE WHEN g.count = 0 THEN (SELECT end_unix_ns FROM gap_between_boots WHERE gap_id = g.id)
        ELSE (SELECT k2.offset_ns + s.reference_boottime_ns
            + CAST(round((g.first_n + g.count - s.reference_n) * s.period_ns) AS INTEGER)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n <= g.first_n + g.count
        ORDER BY s.first_n DESC LIMIT 1) END AS end_unix_ns
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN gap_cause AS w ON w.cause = g.cause
    JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id);

CREATE VIEW stream_overview AS
SELECT recording_id, stream_id, stream, bank, view_name, sampling_frequency, channels, first_n, last_n,
    missing_n + missing_between_boots AS missing, recovered, gaps, open_gap_first_n, start_unix_ns, end_unix_ns,
    last_n - first_n + 1 - missing_n AS rows,
    (last_n - first_n + 1 + missing_between_boots) / sampling_frequency AS duration_seconds,
    strftime('%Y-%m-%dT%H:%M:%fZ', start_unix_ns / 1e9, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%fZ', end_unix_ns / 1e9, 'unixepoch') AS end_time,
    unknown_gaps, loss_detection
FROM (
    SELECT *,
        (SELECT t.reference_unix_ns + CAST(round((e.first_n - t.reference_n) * t.period_ns) AS INTEGER)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n LIMIT 1) AS start_unix_ns,
        (SELECT t.reference_unix_ns + CAST(round((e.last_n - t.reference_n) * t.period_ns) AS INTEGER)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n DESC LIMIT 1) AS end_unix_ns
    FROM (
        SELECT
            st.recording_id AS recording_id, st.id AS stream_id, st.name AS stream, st.bank AS bank,
            st.view_name AS view_name, st.sampling_frequency AS sampling_frequency,
            CASE WHEN st.counter_modulus IS NOT NULL THEN 'counter' ELSE coalesce(
                (SELECT means FROM loss_detection WHERE stream_id = st.id ORDER BY first_n DESC LIMIT 1), 'nothing') END
                AS loss_detection,
            (SELECT group_concat(name, ' ') FROM (SELECT name FROM channel WHERE stream_id = st.id ORDER BY number))
                AS channels,
            (SELECT min(n) FROM (
                SELECT min(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0))
                AS first_n,
            (SELECT max(n) FROM (
                SELECT max(n) AS n FROM sample WHERE stream_id = st.id
                UNION ALL SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0))
                AS last_n,
            (SELECT coalesce(sum(count - recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS missing_n,
            (SELECT coalesce(sum(b.missing), 0) FROM gap_between_boots AS b WHERE b.stream_id = st.id)
                AS missing_between_boots,
            (SELECT count(*) FROM gap_between_boots AS b WHERE b.stream_id = st.id AND b.missing IS NULL)
                + (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS unknown_gaps,
            (SELECT coalesce(sum(recovered), 0) FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        FROM stream AS st) AS e);

CREATE VIEW stream_certainty AS
SELECT recording_id, view_name, stream, bank, stream_id, loss_detection, counted, timed_n + timed_between_boots AS timed,
    CASE WHEN unstated = 0 THEN uncertainty_n + uncertainty_between_boots END AS uncertainty, unknown,
    unknown_gaps
FROM (
    SELECT o.recording_id AS recording_id, o.view_name AS view_name, o.stream AS stream, o.bank AS bank,
        o.stream_id AS stream_id, o.loss_detection AS loss_detection, o.unknown_gaps AS unknown_gaps,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'counted') AS counted,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed') AS timed_n,
        (SELECT coalesce(sum(missing), 0) FROM gap_between_boots WHERE stream_id = o.stream_id) AS timed_between_boots,
        (SELECT count(*) FROM gap WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed' AND count > recovered
            AND uncertainty IS NULL) AS unstated,
        (SELECT coalesce(sum(uncertainty), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'timed' AND count > recovered) AS uncertainty_n,
        -- as in gap_time
        (SELECT count(*) FROM gap_between_boots WHERE stream_id = o.stream_id AND missing IS NOT NULL)
            * (CAST(round(0.1 * o.sampling_frequency) AS INTEGER) + 1) AS uncertainty_between_boots,
        (SELECT coalesce(sum(count - recovered), 0) FROM gap
            WHERE stream_id = o.stream_id AND channel = 0 AND certainty = 'unknown') AS unknown
    FROM stream_overview AS o);

CREATE VIEW sample_long AS
SELECT recording_id, stream, n, unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', unix_ns / 1e9, 'unixepoch') AS time,
    channel, value, unit
FROM (
    SELECT st.recording_id AS recording_id, st.name AS stream, s.n AS n,
        (SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((s.n - g.reference_n) * g.period_ns) AS INTEGER)
        FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
        WHERE g.stream_id = s.stream_id AND g.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = s.stream_id AND first_n <= s.n),
            (SELECT min(first_n) FROM segment WHERE stream_id = s.stream_id))) AS unix_ns,
        c.name AS channel,
        c.scale * CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
            WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END + c."offset" AS value,
        c.unit AS unit
    FROM stream AS st
    JOIN channel AS c ON c.stream_id = st.id
    JOIN sample AS s ON s.stream_id = st.id);

CREATE VIEW annotation_onset AS
SELECT a.id AS annotation_id, a.recording_id AS recording_id,
    coalesce(g.host_boot_id, a.host_boot_id) AS host_boot_id,
    coalesce(g.reference_boottime_ns + CAST(round((a.n - g.reference_n) * g.period_ns) AS INTEGER), a.boottime_ns)
        AS boottime_ns,
    a.duration_seconds AS duration_seconds, a.description AS description, a.source AS source, a.stream_id AS said_of_stream_id,
    a.n AS said_of_n, a.device_ticks AS device_ticks, a.code AS code, a.replaces AS replaces
FROM annotation AS a
LEFT JOIN segment AS g ON g.stream_id = a.stream_id AND g.first_n = coalesce(
    (SELECT max(first_n) FROM segment WHERE stream_id = a.stream_id AND first_n <= a.n),
    (SELECT min(first_n) FROM segment WHERE stream_id = a.stream_id))
WHERE a.withdrawn_boottime_ns IS NULL;

CREATE VIEW annotation_time AS
SELECT o.recording_id AS recording_id, k.offset_ns + o.boottime_ns AS onset_unix_ns,
    strftime('%Y-%m-%dT%H:%M:%fZ', (k.offset_ns + o.boottime_ns) / 1e9, 'unixepoch') AS onset,
    o.duration_seconds AS duration_seconds, o.description AS description, o.source AS source,
    o.annotation_id AS annotation_id, (SELECT view_name FROM stream WHERE id = o.said_of_stream_id) AS view_name,
    o.said_of_n AS n, o.device_ticks AS device_ticks, o.code AS code
FROM annotation_onset AS o JOIN host_boot_clock AS k ON k.host_boot_id = o.host_boot_id;

CREATE VIEW annotation_sample AS
SELECT recording_id, view_name, stream, stream_id,
    CASE WHEN said_of_stream_id = stream_id THEN said_of_n
        WHEN x < first_n THEN CASE WHEN before_n IS NULL OR x > before_n THEN x END
        WHEN next_n IS NULL OR x < next_n THEN x
        WHEN (x - next_n) * period_ns <= 1000000000 THEN next_n END AS n,
    onset, onset_unix_ns, duration_seconds, description, source, annotation_id, code
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
            a.annotation_id AS annotation_id, a.code AS code, a.said_of_stream_id AS said_of_stream_id,
            a.said_of_n AS said_of_n, a.boottime_ns AS boottime_ns,
            coalesce(
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                    AND CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) <= a.boottime_ns
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) DESC LIMIT 1),
                (SELECT first_n FROM segment WHERE stream_id = st.id AND host_boot_id = a.host_boot_id
                ORDER BY CAST(reference_boottime_ns + (first_n - reference_n) * period_ns AS INTEGER) LIMIT 1)) AS segment_n
        FROM annotation_onset AS a
        JOIN host_boot_clock AS k ON k.host_boot_id = a.host_boot_id
        JOIN stream AS st ON st.recording_id = a.recording_id AND st.bank = (
            SELECT min(bank) FROM stream WHERE recording_id = st.recording_id AND view_name = st.view_name)) AS o
    LEFT JOIN segment AS g ON g.stream_id = o.stream_id AND g.first_n = o.segment_n);

CREATE VIEW link_provenance AS
SELECT l.id AS link, h.name AS headset, l.recording_id AS recording,
    strftime('%Y-%m-%dT%H:%M:%fZ', (l.began_boottime_ns + (SELECT offset_ns FROM clock_offset AS o
        WHERE o.host_boot_id = l.host_boot_id ORDER BY is_synchronised DESC, boottime_ns, id LIMIT 1)) / 1e9, 'unixepoch')
        AS began,
    strftime('%Y-%m-%dT%H:%M:%fZ', (l.ended_boottime_ns + (SELECT offset_ns FROM clock_offset AS o
        WHERE o.host_boot_id = l.host_boot_id ORDER BY is_synchronised DESC, boottime_ns, id LIMIT 1)) / 1e9, 'unixepoch')
        AS ended,
    p.facts ->> 'eegsync' AS eegsync, p.facts ->> 'kernel' AS kernel, p.facts ->> 'bluetoothd' AS bluetoothd,
    p.facts ->> 'route' AS route, p.facts ->> 'adapter' AS adapter,
    p.facts ->> 'model' AS model, p.facts ->> 'model_number' AS model_number,
    p.facts ->> 'firmware_revision' AS firmware_revision, p.facts ->> 'hardware_revision' AS hardware_revision,
    p.facts ->> 'software_revision' AS software_revision, p.facts ->> 'preset' AS preset, p.facts ->> 'settings' AS settings,
    p.facts ->> 'montage' AS montage, p.facts ->> 'reference' AS reference, p.facts ->> 'ground' AS ground
FROM link AS l JOIN headset AS h ON h.id = l.headset_id JOIN provenance AS p ON p.id = l.provenance_id;

CREATE VIEW epoch_link AS
SELECT e.stream_id, e.number AS epoch, e.first_n,
    (SELECT l.id FROM link AS l
    WHERE l.recording_id = s.recording_id AND l.host_boot_id = e.host_boot_id AND l.began_boottime_ns <= e.boottime_ns
    ORDER BY l.began_boottime_ns DESC LIMIT 1) AS link
FROM epoch AS e JOIN stream AS s ON s.id = e.stream_id;

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

CREATE VIEW merge_conflict_value AS
SELECT recording_id, view_name, stream, stream_id, n, channel, here, there, source,
    strftime('%Y-%m-%dT%H:%M:%fZ', found_unix_ns / 1e9, 'unixepoch') AS found, found_unix_ns
FROM (
    SELECT st.recording_id AS recording_id, st.view_name AS view_name, st.name AS stream, m.stream_id AS stream_id, m.n AS n,
        c.name AS channel, c.number AS number,
        CASE c.number WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
            WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END AS here,
        CASE c.number WHEN 1 THEN m.c1 WHEN 2 THEN m.c2 WHEN 3 THEN m.c3 WHEN 4 THEN m.c4
            WHEN 5 THEN m.c5 WHEN 6 THEN m.c6 WHEN 7 THEN m.c7 ELSE m.c8 END AS there,
        m.source AS source, k.offset_ns + m.boottime_ns AS found_unix_ns, m.id AS id
    FROM merge_conflict AS m
    JOIN stream AS st ON st.id = m.stream_id
    JOIN channel AS c ON c.stream_id = m.stream_id
    LEFT JOIN sample AS s ON s.stream_id = m.stream_id AND s.n = m.n
    JOIN host_boot_clock AS k ON k.host_boot_id = m.host_boot_id)
WHERE here <> there
ORDER BY stream_id, n, id, number;

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

CREATE TRIGGER channel_is_declared AFTER INSERT ON channel BEGIN
    INSERT INTO channel_declaration (stream_id, number, name, unit, scale, "offset")
    VALUES (new.stream_id, new.number, new.name, new.unit, new.scale, new."offset");
END;

CREATE TRIGGER annotation_time_insert INSTEAD OF INSERT ON annotation_time BEGIN
    SELECT RAISE(ABORT, 'an annotation needs recording_id, description, and onset (ISO 8601, UTC) or onset_unix_ns')
    WHERE NEW.recording_id IS NULL OR NEW.description IS NULL
        OR coalesce(NEW.onset_unix_ns, julianday(NEW.onset)) IS NULL;
    SELECT RAISE(ABORT, 'there is no such recording')
    WHERE NOT EXISTS (SELECT 1 FROM recording WHERE id = NEW.recording_id);
    INSERT INTO annotation (
        recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id, n, device_ticks, code)
    SELECT NEW.recording_id, k.host_boot_id, e.unix_ns - k.offset_ns, NEW.duration_seconds, NEW.description, 'sql', NULL, NULL,
        NEW.device_ticks, NEW.code
    FROM (SELECT coalesce(
        NEW.onset_unix_ns, CAST(round((julianday(NEW.onset) - 2440587.5) * 86400e3) AS INTEGER) * 1000000) AS unix_ns) AS e
    JOIN host_boot_clock AS k ON k.offset_ns IS NOT NULL AND k.host_boot_id IN (
        SELECT requested_host_boot_id FROM recording WHERE id = NEW.recording_id
        UNION SELECT g.host_boot_id FROM stream AS st JOIN segment AS g ON g.stream_id = st.id
            WHERE st.recording_id = NEW.recording_id)
    ORDER BY k.offset_ns > e.unix_ns, CASE WHEN k.offset_ns > e.unix_ns THEN k.offset_ns ELSE -k.offset_ns END LIMIT 1;
END;

CREATE TRIGGER channel_is_corrected AFTER INSERT ON channel_correction BEGIN
    UPDATE channel SET name = coalesce(NEW.name, name), unit = coalesce(NEW.unit, unit), scale = coalesce(NEW.scale, scale),
        "offset" = coalesce(NEW."offset", "offset")
    WHERE stream_id = NEW.stream_id AND number = NEW.number;
END;

CREATE TRIGGER headset_is_identified AFTER INSERT ON headset WHEN NEW.uuid IS NULL BEGIN
    UPDATE headset SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

CREATE TRIGGER recording_is_identified AFTER INSERT ON recording WHEN NEW.uuid IS NULL BEGIN
    UPDATE recording SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

CREATE TRIGGER annotation_is_identified AFTER INSERT ON annotation WHEN NEW.uuid IS NULL BEGIN
    UPDATE annotation SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;

CREATE TRIGGER link_is_identified AFTER INSERT ON link WHEN NEW.uuid IS NULL BEGIN
    UPDATE link SET uuid = lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    WHERE id = NEW.id;
END;
