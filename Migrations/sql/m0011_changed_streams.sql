-- A headset that sends other channels than before in one recording, because of another preset for example, goes on with further
-- streams at the same positions. The table is made anew without UNIQUE (recording_id, position), which forbade them.

CREATE TABLE stream_before AS SELECT * FROM stream;

DROP TABLE stream;

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
    view_name TEXT NOT NULL CHECK (view_name <> ''),
    UNIQUE (recording_id, name, bank)
) STRICT;

INSERT INTO stream (
    id, recording_id, position, name, bank, sampling_frequency, samples_per_count, counter_modulus, channel_count, view_name)
SELECT
    id, recording_id, position, name, bank, sampling_frequency, samples_per_count, counter_modulus, channel_count, view_name
FROM stream_before;

DROP TABLE stream_before;

CREATE INDEX stream_by_position ON stream (recording_id, position);
