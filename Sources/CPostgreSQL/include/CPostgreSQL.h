// libpq (PostgreSQL licence), the client of a PostgreSQL server, loaded when it is used: what records has no need of it, nor of
// the thirty libraries that come with it. Debian packages libpq-dev to build, libpq5 to run.
#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <postgresql/libpq-fe.h>

/// The functions that are used, as libpq declares them (PostgreSQL 15, chapter 34).
#define CPOSTGRESQL_FUNCTIONS(FUNCTION)                                                                                          \
    FUNCTION(PQclear)                                                                                                            \
    FUNCTION(PQconnectdbParams)                                                                                                  \
    FUNCTION(PQconninfoFree)                                                                                                     \
    FUNCTION(PQconninfoParse)                                                                                                    \
    FUNCTION(PQconsumeInput)                                                                                                     \
    FUNCTION(PQdb)                                                                                                               \
    FUNCTION(PQerrorMessage)                                                                                                     \
    FUNCTION(PQfinish)                                                                                                           \
    FUNCTION(PQflush)                                                                                                            \
    FUNCTION(PQfreemem)                                                                                                          \
    FUNCTION(PQgetisnull)                                                                                                        \
    FUNCTION(PQgetlength)                                                                                                        \
    FUNCTION(PQgetResult)                                                                                                        \
    FUNCTION(PQgetvalue)                                                                                                         \
    FUNCTION(PQhost)                                                                                                             \
    FUNCTION(PQisBusy)                                                                                                           \
    FUNCTION(PQnfields)                                                                                                          \
    FUNCTION(PQntuples)                                                                                                          \
    FUNCTION(PQpingParams)                                                                                                       \
    FUNCTION(PQport)                                                                                                             \
    FUNCTION(PQputCopyData)                                                                                                      \
    FUNCTION(PQputCopyEnd)                                                                                                       \
    FUNCTION(PQresultErrorField)                                                                                                 \
    FUNCTION(PQresultStatus)                                                                                                     \
    FUNCTION(PQsendPrepare)                                                                                                      \
    FUNCTION(PQsendQuery)                                                                                                        \
    FUNCTION(PQsendQueryParams)                                                                                                  \
    FUNCTION(PQsendQueryPrepared)                                                                                                \
    FUNCTION(PQsetnonblocking)                                                                                                   \
    FUNCTION(PQsetNoticeProcessor)                                                                                               \
    FUNCTION(PQsocket)                                                                                                           \
    FUNCTION(PQstatus)

#define CPOSTGRESQL_MEMBER(name) __typeof__(name) *name;
/// libpq as it was loaded; a member for each function, under its name.
struct LibPQ {
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_MEMBER)
};
#undef CPOSTGRESQL_MEMBER

/// libpq, loaded at the first call, for as long as the process runs; NULL where it is not there or lacks a function, and then
/// `problem` says why. May be called by any thread.
const struct LibPQ *cpostgresql_library(const char **problem);

#endif
