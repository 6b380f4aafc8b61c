-- What shows that a recording is what was written: digests over blocks of rows, in chains, and sums of digests over the rows of
-- the tables that say what samples mean. Computed by the engine in the transaction that writes the rows; see the page Evidence.

-- What the stream is called wherever its rows are; the beginning of its chains.
ALTER TABLE stream ADD COLUMN uuid TEXT;

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

CREATE INDEX late_block_by_n ON block (stream_id, first_n, channel) WHERE chain = 'late';

-- Rows that earlier versions of this program stored: they have no digest, unless they came late since.
CREATE TABLE undigested_rows (
    stream_id INTEGER PRIMARY KEY REFERENCES stream (id),
    first_n INTEGER NOT NULL,
    last_n INTEGER NOT NULL CHECK (last_n >= first_n)
) STRICT;

INSERT INTO undigested_rows (stream_id, first_n, last_n)
SELECT id, first_n, last_n FROM (
    SELECT id, (SELECT min(n) FROM sample WHERE stream_id = stream.id) AS first_n,
        (SELECT max(n) FROM sample WHERE stream_id = stream.id) AS last_n
    FROM stream)
WHERE first_n IS NOT NULL;

-- How many rows of a table belong to an owner (a stream, a recording, ...; 0 for the whole table), and the sum of their digests.
CREATE TABLE digest_sum (
    table_name TEXT NOT NULL CHECK (table_name <> ''),
    owner_id INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    sum BLOB NOT NULL CHECK (length(sum) = 32),
    PRIMARY KEY (table_name, owner_id)
) STRICT, WITHOUT ROWID;

-- A person corrects a channel by inserting what is right; NULL leaves as it is. Nothing is lost: what the headset said is in
-- channel_declaration, and every correction stays.
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

CREATE INDEX channel_correction_by_channel ON channel_correction (stream_id, number, id);

CREATE TRIGGER channel_is_corrected AFTER INSERT ON channel_correction BEGIN
    UPDATE channel SET name = coalesce(NEW.name, name), unit = coalesce(NEW.unit, unit), scale = coalesce(NEW.scale, scale),
        "offset" = coalesce(NEW."offset", "offset")
    WHERE stream_id = NEW.stream_id AND number = NEW.number;
END;

-- Corrections that were made before this table was there.
INSERT INTO channel_correction (stream_id, number, name, unit, scale, "offset", reason)
SELECT c.stream_id, c.number, c.name, c.unit, c.scale, c."offset", 'before corrections were kept'
FROM channel AS c JOIN channel_declaration AS d ON d.stream_id = c.stream_id AND d.number = c.number
WHERE c.name <> d.name OR c.unit <> d.unit OR c.scale <> d.scale OR c."offset" <> d."offset";
