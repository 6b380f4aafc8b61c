"""Writes the first stream of a database as a file of Parquet with nothing but pyarrow, and says what that cost.

write_parquet_hour.py DATABASE FILE

The cost is that of a program with a table in memory, which is written and read back: without the reading of the database.
"""

import json
import sqlite3
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MICROVOLTS_PER_COUNT = 0.022351744455307063
MICROSECONDS_PER_SAMPLE = 4000


def table(database: str) -> pa.Table:
    """The times and microvolts of all rows."""
    query = "SELECT n, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample WHERE stream_id = 1 ORDER BY n"
    rows = np.array(sqlite3.connect(database).execute(query).fetchall())
    columns = {f"E{number}": row * MICROVOLTS_PER_COUNT for number, row in enumerate(rows.T[1:])}
    times = pa.array(rows[:, 0] * MICROSECONDS_PER_SAMPLE).cast(pa.timestamp("us", tz="UTC"))
    return pa.table({"n": rows[:, 0], "time": times} | columns)


def main() -> None:
    database, path = sys.argv[1:]
    begun = time.process_time()
    written = table(database)
    reading = time.process_time() - begun
    pq.write_table(written, path, compression="zstd", use_dictionary=False)
    if not pq.ParquetFile(path).read().equals(written):
        sys.exit("what was read back is not what was written")
    print(json.dumps({"cpuSeconds": time.process_time() - reading}))


if __name__ == "__main__":
    main()
