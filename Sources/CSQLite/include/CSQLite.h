#ifndef CSQLITE_H
#define CSQLITE_H

// Who links this target has SQLite count no bytes of its memory (SQLITE_CONFIG_MEMSTATUS,
// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html), from the start of the process on: each allocation takes a lock for
// the count that all connections share. Where two threads read databases of their own, that took two fifths of the time.
//
// There is nothing to call: SQLite takes the setting only before the first connection, whoever opens that.

#endif
