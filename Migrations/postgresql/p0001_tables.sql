-- The tables of a centre: what the databases of many machines hold, together. Names, columns and units are those of the SQLite
-- database of one machine (sql/); what differs is said here. Keys (id) are the centre's own; a UUID names the same thing
-- everywhere.
--
-- Samples are blocks: a row for up to 4,096 consecutive samples of a stream, an array for each channel. A row for each instant
-- takes 108 bytes, a block of a second 37, of 4,096 instants 27; see the decision BlocksAtTheCentre.

CREATE TABLE schema_step (
    identifier text PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE study (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> '')
);

-- Roles of the server, and what they read: all of a study.
CREATE TABLE study_reader (
    study_id bigint NOT NULL REFERENCES study (id),
    role name NOT NULL,
    PRIMARY KEY (study_id, role)
);

-- Roles of the server with which machines log in, one for each machine, and the study that it records for.
CREATE TABLE shipper (
    role name PRIMARY KEY,
    study_id bigint NOT NULL REFERENCES study (id)
);

CREATE TABLE machine (
    uuid uuid PRIMARY KEY,
    role name NOT NULL REFERENCES shipper (role),
    -- of eegsync, when it was here last
    version text NOT NULL,
    last_contact timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE host_boot (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    role name NOT NULL REFERENCES shipper (role),
    uuid text NOT NULL CHECK (uuid <> ''),
    UNIQUE (role, uuid)
);

CREATE TABLE clock_offset (
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    -- its key on the machine
    id bigint NOT NULL,
    boottime_ns bigint NOT NULL,
    offset_ns bigint NOT NULL,
    step_ns bigint NOT NULL,
    is_synchronised integer NOT NULL CHECK (is_synchronised IN (0, 1)),
    PRIMARY KEY (host_boot_id, id)
);

CREATE TABLE headset (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    role name NOT NULL REFERENCES shipper (role),
    -- unique on one machine only
    name text NOT NULL CHECK (name <> ''),
    model text NOT NULL CHECK (model <> ''),
    serial_number text
);

CREATE TABLE recording (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    role name NOT NULL REFERENCES shipper (role),
    study_id bigint NOT NULL REFERENCES study (id),
    headset_id bigint NOT NULL REFERENCES headset (id),
    -- its key on the machine
    machine_recording_id bigint NOT NULL,
    desired_state text NOT NULL CHECK (desired_state IN ('recording', 'stopped')),
    label text,
    subject text,
    task text,
    requested_host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    requested_boottime_ns bigint NOT NULL,
    started_host_boot_id bigint REFERENCES host_boot (id),
    started_boottime_ns bigint,
    stop_requested_host_boot_id bigint REFERENCES host_boot (id),
    stop_requested_boottime_ns bigint,
    stopped_host_boot_id bigint REFERENCES host_boot (id),
    stopped_boottime_ns bigint
);

CREATE INDEX recording_by_subject ON recording (subject);
CREATE INDEX recording_by_headset ON recording (headset_id);

CREATE TABLE recording_detail (
    recording_id bigint PRIMARY KEY REFERENCES recording (id),
    session text, run text, operator text, notes text, time_zone text, subject_name text, subject_sex text,
    subject_birthdate text, subject_handedness text
);

CREATE TABLE recording_property (
    recording_id bigint NOT NULL REFERENCES recording (id),
    key text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (recording_id, key)
);

CREATE TABLE stream (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    recording_id bigint NOT NULL REFERENCES recording (id),
    position integer NOT NULL,
    name text NOT NULL CHECK (name <> ''),
    bank integer NOT NULL,
    sampling_frequency double precision NOT NULL CHECK (sampling_frequency > 0),
    samples_per_count integer NOT NULL,
    counter_modulus bigint,
    channel_count integer NOT NULL CHECK (channel_count BETWEEN 1 AND 8),
    -- of the view on the machine
    view_name text NOT NULL,
    UNIQUE (recording_id, name, bank)
);

CREATE INDEX stream_by_name ON stream (name);

CREATE TABLE channel (
    stream_id bigint NOT NULL REFERENCES stream (id),
    number integer NOT NULL CHECK (number BETWEEN 1 AND 8),
    name text NOT NULL,
    type text NOT NULL,
    unit text NOT NULL,
    scale double precision NOT NULL,
    "offset" double precision NOT NULL,
    raw_minimum bigint NOT NULL,
    raw_maximum bigint NOT NULL,
    PRIMARY KEY (stream_id, number)
);

CREATE TABLE epoch (
    stream_id bigint NOT NULL REFERENCES stream (id),
    number bigint NOT NULL,
    boot_identifier bigint,
    first_n bigint NOT NULL,
    first_index bigint NOT NULL,
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    boottime_ns bigint NOT NULL,
    PRIMARY KEY (stream_id, number)
);

CREATE TABLE segment (
    stream_id bigint NOT NULL REFERENCES stream (id),
    first_n bigint NOT NULL,
    last_n bigint NOT NULL,
    epoch bigint NOT NULL,
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    reference_n bigint NOT NULL,
    reference_boottime_ns bigint NOT NULL,
    period_ns double precision NOT NULL CHECK (period_ns > 0),
    residual_ns double precision,
    observation_count bigint NOT NULL,
    uncertainty_ns double precision,
    PRIMARY KEY (stream_id, first_n)
);

CREATE TABLE gap_cause (
    cause text PRIMARY KEY,
    meaning text NOT NULL
);

CREATE TABLE gap (
    stream_id bigint NOT NULL REFERENCES stream (id),
    first_n bigint NOT NULL,
    channel integer NOT NULL CHECK (channel BETWEEN 0 AND 8),
    count bigint CHECK (count >= 0),
    cause text NOT NULL REFERENCES gap_cause (cause),
    recovered bigint NOT NULL CHECK (recovered >= 0),
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    boottime_ns bigint NOT NULL,
    certainty text NOT NULL CHECK (certainty IN ('counted', 'timed', 'unknown')),
    uncertainty bigint,
    PRIMARY KEY (stream_id, channel, first_n)
);

CREATE TABLE loss_detection (
    stream_id bigint NOT NULL REFERENCES stream (id),
    first_n bigint NOT NULL,
    means text NOT NULL,
    PRIMARY KEY (stream_id, first_n)
);

CREATE TABLE annotation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    recording_id bigint NOT NULL REFERENCES recording (id),
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    boottime_ns bigint NOT NULL,
    duration_seconds double precision,
    description text NOT NULL,
    source text NOT NULL,
    stream_id bigint REFERENCES stream (id),
    n bigint,
    device_ticks bigint,
    code bigint,
    -- the UUID of the annotation that this one corrects
    replaces uuid,
    withdrawn_host_boot_id bigint REFERENCES host_boot (id),
    withdrawn_boottime_ns bigint
);

CREATE INDEX annotation_by_recording ON annotation (recording_id);

-- Each with what it was made with (on the machine, `provenance`).
CREATE TABLE link (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid uuid NOT NULL UNIQUE,
    recording_id bigint NOT NULL REFERENCES recording (id),
    host_boot_id bigint NOT NULL REFERENCES host_boot (id),
    began_boottime_ns bigint NOT NULL,
    ended_boottime_ns bigint,
    facts jsonb NOT NULL
);

CREATE INDEX link_by_recording ON link (recording_id);

-- The digests of rows as the machine has computed them: chains of blocks (on the machine, `block`). They are no blocks of
-- samples.
CREATE TABLE block (
    stream_id bigint NOT NULL REFERENCES stream (id),
    chain text NOT NULL CHECK (chain IN ('live', 'late')),
    number bigint NOT NULL,
    channel integer NOT NULL,
    first_n bigint NOT NULL,
    last_n bigint NOT NULL,
    row_count bigint NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (stream_id, chain, number)
);

-- Raw counts of consecutive samples: element i of each array is sample first_n + i - 1. NULL in an array: the channel was
-- lost; an array that is NULL: the stream has no such channel. Written once, and never changed. `stream` is the stream's UUID,
-- by which the table can be distributed.
CREATE TABLE sample_block (
    stream uuid NOT NULL,
    first_n bigint NOT NULL,
    row_count integer NOT NULL CHECK (row_count BETWEEN 1 AND 4096),
    c1 integer[] COMPRESSION lz4, c2 integer[] COMPRESSION lz4, c3 integer[] COMPRESSION lz4, c4 integer[] COMPRESSION lz4,
    c5 integer[] COMPRESSION lz4, c6 integer[] COMPRESSION lz4, c7 integer[] COMPRESSION lz4, c8 integer[] COMPRESSION lz4,
    PRIMARY KEY (stream, first_n)
);

-- Values of one channel that came late, of samples that are there without it.
CREATE TABLE sample_patch (
    stream uuid NOT NULL,
    channel integer NOT NULL CHECK (channel BETWEEN 1 AND 8),
    first_n bigint NOT NULL,
    values integer[] NOT NULL,
    PRIMARY KEY (stream, channel, first_n)
);

-- What of a stream is here, in blocks that are whole. A transaction that adds samples says it here, too.
CREATE TABLE shipment (
    stream uuid PRIMARY KEY,
    -- of the rows that came in order: all with n up to this one
    done_n bigint,
    -- and all in this range, which was sent first because somebody may look at it; NULL where done_n says it
    head_first_n bigint,
    head_last_n bigint,
    -- of the rows and values that came late: the last block of the chain, and how many of its rows
    late_number bigint,
    late_row_count bigint,
    updated timestamptz NOT NULL DEFAULT now(),
    CHECK ((head_first_n IS NULL) = (head_last_n IS NULL)),
    CHECK ((late_number IS NULL) = (late_row_count IS NULL))
);
