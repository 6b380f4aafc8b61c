-- What the kernel's route has discovered on headsets, so that the first link after a start needs no discovery. Known by
-- address, not by headset: handles are looked up before it is proven whose address it is. Each is validated on the link that
-- uses it, so a wrong or missing one costs a discovery and nothing else.

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
