-- What the headset, its profile and the montage said of each channel when its stream began. Names, units and scales of `channel`
-- may be corrected by people; a headset that comes back is compared with this, so that a correction splits no recording and
-- another gain of the headset still begins further streams.

CREATE TABLE channel_declaration (
    stream_id INTEGER NOT NULL REFERENCES stream (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    scale REAL NOT NULL,
    "offset" REAL NOT NULL,
    PRIMARY KEY (stream_id, number)
) STRICT, WITHOUT ROWID;

INSERT INTO channel_declaration (stream_id, number, name, unit, scale, "offset")
SELECT stream_id, number, name, unit, scale, "offset" FROM channel;

CREATE TRIGGER channel_is_declared AFTER INSERT ON channel BEGIN
    INSERT INTO channel_declaration (stream_id, number, name, unit, scale, "offset")
    VALUES (new.stream_id, new.number, new.name, new.unit, new.scale, new."offset");
END;
