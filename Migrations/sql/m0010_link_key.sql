-- Keys that headsets of Bluetooth Classic have agreed on with this machine over the kernel's sockets, such as those that are paired
-- with a PIN; bluetoothd keeps its own. They are loaded into the kernel at each start.
--
-- SECRET, as the keys of m0007: whoever reads the column value can listen to the headset and pose as it. No export carries this
-- table, no log line shows it.

CREATE TABLE link_key (
    -- the headset's address, as written
    address TEXT NOT NULL PRIMARY KEY,
    -- the kernel's number: 0 made of a PIN; 4, 5 by Secure Simple Pairing; 7, 8 by Secure Connections
    type INTEGER NOT NULL CHECK (type BETWEEN 0 AND 8),
    -- digits of that PIN; 0 for none
    pin_length INTEGER NOT NULL CHECK (pin_length BETWEEN 0 AND 16),
    value BLOB NOT NULL CHECK (length(value) = 16)
) STRICT, WITHOUT ROWID;
