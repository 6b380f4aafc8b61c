/* The floors of the benchmarks: the same work on the same database with SQLite's C interface and nothing else.
 *
 *   floor insert DATABASE     takes all rows out of the database, and inserts them again as eegsync did: one transaction for
 *                             each second of 250 Hz, stream after stream, with eegsync's pragmas
 *   floor read DATABASE       steps through the rows of the first stream as an export selects them
 *   floor export DATABASE FILE BYTES
 *                             steps through them, and writes so many bytes to a file
 *   floor text DATABASE FILE  steps through them, writes them as a table by printf, and reads its numbers back
 *   floor copy DATABASE FILE  steps through them, inserts them into a table of the same kind in another database, and steps
 *                             through that one
 *   floor open DATABASE       opens the database as a writer, and prints the memory that this takes
 *
 * Each prints one line of JSON. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CHANNELS = 8, ROWS_PER_SECOND = 250 };

struct row {
    int64_t stream, n;
    int32_t values[CHANNELS];
};

static sqlite3 *db;

static void check(int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "floor: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK); }

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* In the order of eegsync's commits. */
static int by_second(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int64_t first = a->n / ROWS_PER_SECOND, second = b->n / ROWS_PER_SECOND;
    if (first != second) return first < second ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    return a->n < b->n ? -1 : a->n > b->n;
}

static struct row *load(int64_t *count) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db, "SELECT count(*) FROM sample", -1, &statement, NULL), SQLITE_OK);
    check(sqlite3_step(statement), SQLITE_ROW);
    *count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    struct row *rows = malloc(sizeof *rows * (size_t)(*count + 1));
    check(sqlite3_prepare_v2(db, "SELECT * FROM sample", -1, &statement, NULL), SQLITE_OK);
    for (int64_t i = 0; i < *count; i++) {
        check(sqlite3_step(statement), SQLITE_ROW);
        rows[i].stream = sqlite3_column_int64(statement, 0);
        rows[i].n = sqlite3_column_int64(statement, 1);
        for (int channel = 0; channel < CHANNELS; channel++)
            rows[i].values[channel] = sqlite3_column_int(statement, channel + 2);
    }
    sqlite3_finalize(statement);
    qsort(rows, (size_t)*count, sizeof *rows, by_second);
    return rows;
}

static void insert(void) {
    int64_t count;
    struct row *rows = load(&count);
    run("DELETE FROM sample; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    double begin = cpu_seconds();
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db,
        "INSERT INTO sample (stream_id, n, c1, c2, c3, c4, c5, c6, c7, c8) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
        &statement, NULL), SQLITE_OK);
    for (int64_t i = 0; i < count;) {
        int64_t second = rows[i].n / ROWS_PER_SECOND;
        run("BEGIN IMMEDIATE");
        for (; i < count && rows[i].n / ROWS_PER_SECOND == second; i++) {
            sqlite3_bind_int64(statement, 1, rows[i].stream);
            sqlite3_bind_int64(statement, 2, rows[i].n);
            for (int channel = 0; channel < CHANNELS; channel++)
                sqlite3_bind_int(statement, channel + 3, rows[i].values[channel]);
            check(sqlite3_step(statement), SQLITE_DONE);
            sqlite3_reset(statement);
        }
        run("COMMIT");
    }
    sqlite3_finalize(statement);
    check(sqlite3_close(db), SQLITE_OK);
    printf("{\"units\": %lld, \"cpuSeconds\": %f}\n", (long long)count, cpu_seconds() - begin);
}

/* As many bytes as an export writes, in pieces of 256 KiB. */
static void write_bytes(const char *path, long long bytes) {
    static char piece[1 << 18];
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    setvbuf(file, NULL, _IONBF, 0);
    for (; bytes > 0; bytes -= (long long)sizeof piece) {
        size_t count = bytes < (long long)sizeof piece ? (size_t)bytes : sizeof piece;
        if (fwrite(piece, 1, count, file) != count) {
            perror(path);
            exit(1);
        }
    }
    fclose(file);
}

static void report(double begin, int64_t count, int64_t sum) {
    printf("{\"units\": %lld, \"cpuSeconds\": %f, \"sum\": %lld}\n", (long long)count, cpu_seconds() - begin, (long long)sum);
}

static void read_rows(const char *path, long long bytes) {
    double begin = cpu_seconds();
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db,
        "SELECT n, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n", -1,
        &statement, NULL), SQLITE_OK);
    sqlite3_bind_int64(statement, 1, 1);
    sqlite3_bind_int64(statement, 2, 0);
    sqlite3_bind_int64(statement, 3, INT64_MAX);
    int64_t count = 0, sum = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        sum += sqlite3_column_int64(statement, 0);
        for (int channel = 0; channel < CHANNELS; channel++) sum += sqlite3_column_int(statement, channel + 1);
        count++;
    }
    check(code, SQLITE_DONE);
    if (path) write_bytes(path, bytes);
    report(begin, count, sum);
}

static sqlite3_stmt *selection(sqlite3 *of) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(of, "SELECT n, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample WHERE stream_id = 1 ORDER BY n", -1,
        &statement, NULL), SQLITE_OK);
    return statement;
}

/* As many digits as eegsync writes, of the scale of eegsync's benchmark. */
static void text(const char *path) {
    static const double scale = 0.022351744455307063;
    double begin = cpu_seconds();
    FILE *file = fopen(path, "w+");
    if (!file) {
        perror(path);
        exit(1);
    }
    setvbuf(file, NULL, _IOFBF, 1 << 18);
    sqlite3_stmt *statement = selection(db);
    int64_t written = 0, read = 0, count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        fprintf(file, "%lld,2026-01-01T00:00:%09.6fZ", (long long)sqlite3_column_int64(statement, 0), (double)(count % 60));
        for (int channel = 0; channel < CHANNELS; channel++) {
            int value = sqlite3_column_int(statement, channel + 1);
            fprintf(file, ",%.8f", value * scale);
            written += value;
        }
        fputc('\n', file);
        count++;
    }
    rewind(file);
    char line[1024];
    while (fgets(line, sizeof line, file)) {
        char *next = strchr(strchr(line, ',') + 1, ',');
        for (int channel = 0; channel < CHANNELS; channel++) {
            double units = strtod(next + 1, &next) / scale;
            read += (int64_t)(units < 0 ? units - 0.5 : units + 0.5);
        }
    }
    fclose(file);
    if (written != read) {
        fprintf(stderr, "floor: what was read back is not what was written\n");
        exit(1);
    }
    report(begin, count, read);
}

static void copy(const char *path) {
    double begin = cpu_seconds();
    sqlite3 *other;
    check(sqlite3_open(path, &other), SQLITE_OK);
    check(sqlite3_exec(other, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        "CREATE TABLE sample (stream_id INTEGER NOT NULL, n INTEGER NOT NULL, c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,"
        "c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER, PRIMARY KEY (stream_id, n)) WITHOUT ROWID; BEGIN", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_stmt *from = selection(db), *to;
    check(sqlite3_prepare_v2(other, "INSERT INTO sample VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1, &to, NULL), SQLITE_OK);
    while (sqlite3_step(from) == SQLITE_ROW) {
        sqlite3_bind_int64(to, 1, sqlite3_column_int64(from, 0));
        for (int channel = 0; channel < CHANNELS; channel++)
            sqlite3_bind_int(to, channel + 2, sqlite3_column_int(from, channel + 1));
        check(sqlite3_step(to), SQLITE_DONE);
        sqlite3_reset(to);
    }
    check(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *back = selection(other);
    int64_t count = 0, sum = 0;
    while (sqlite3_step(back) == SQLITE_ROW) {
        for (int channel = 0; channel < CHANNELS; channel++) sum += sqlite3_column_int(back, channel + 1);
        count++;
    }
    report(begin, count, sum);
}

static void open_only(void) {
    run("BEGIN IMMEDIATE; COMMIT");
    /* Not ru_maxrss, which remembers the program that started this one. */
    FILE *status = fopen("/proc/self/status", "r");
    char text[256];
    while (status && fgets(text, sizeof text, status)) {
        if (strncmp(text, "VmHWM:", 6) == 0) printf("{\"residentKiB\": %ld}\n", strtol(text + 6, NULL, 10));
    }
}

int main(int count, char **arguments) {
    int is_export = count == 5 && strcmp(arguments[1], "export") == 0;
    int has_file = count == 4 && (strcmp(arguments[1], "text") == 0 || strcmp(arguments[1], "copy") == 0);
    if (count != 3 && !is_export && !has_file) {
        fprintf(stderr, "usage: floor insert|read|open DATABASE, floor text|copy DATABASE FILE, or floor export DATABASE FILE BYTES\n");
        return 64;
    }
    check(sqlite3_open(arguments[2], &db), SQLITE_OK);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    run("PRAGMA journal_size_limit = 67108864");
    if (strcmp(arguments[1], "insert") == 0) insert();
    else if (has_file && strcmp(arguments[1], "text") == 0) text(arguments[3]);
    else if (has_file) copy(arguments[3]);
    else if (is_export) read_rows(arguments[3], atoll(arguments[4]));
    else if (strcmp(arguments[1], "read") == 0) read_rows(NULL, 0);
    else open_only();
    return 0;
}
