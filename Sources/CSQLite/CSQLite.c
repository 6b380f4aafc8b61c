#include "CSQLite.h"

#include <sqlite3.h>

__attribute__((constructor)) static void count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
