-- Keys that headsets which insist on an encrypted link have exchanged with this machine over the kernel's sockets; bluetoothd
-- keeps its own. They are loaded into the kernel at each start. By address, as the kernel wants them.
--
-- SECRET: whoever reads the column value can listen to the headset and pose as it. No export carries these tables, no log line
-- shows them.

CREATE TABLE long_term_key (
    -- the headset's identity address, as written
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('public', 'random')),
    -- the kernel's number: 0 or 1 legacy, 2 or 3 Secure Connections; odd where a person or a passkey confirmed
    type INTEGER NOT NULL CHECK (type BETWEEN 0 AND 255),
    -- 1 where it encrypts while this machine is the central; 0 also for keys of both roles
    is_for_central INTEGER NOT NULL CHECK (is_for_central IN (0, 1)),
    -- bytes of value that count
    encryption_size INTEGER NOT NULL CHECK (encryption_size BETWEEN 0 AND 255),
    -- by these an older headset finds its key; 0 for Secure Connections
    encrypted_diversifier INTEGER NOT NULL CHECK (encrypted_diversifier BETWEEN 0 AND 65535),
    random_number INTEGER NOT NULL,
    value BLOB NOT NULL CHECK (length(value) = 16),
    PRIMARY KEY (address, address_type, type, is_for_central)
) STRICT, WITHOUT ROWID;

-- By these the kernel recognises headsets whose address changes.
CREATE TABLE identity_resolving_key (
    address TEXT NOT NULL,
    address_type TEXT NOT NULL CHECK (address_type IN ('public', 'random')),
    value BLOB NOT NULL CHECK (length(value) = 16),
    PRIMARY KEY (address, address_type)
) STRICT, WITHOUT ROWID;
