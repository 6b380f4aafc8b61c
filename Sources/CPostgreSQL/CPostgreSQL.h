// libpq (PostgreSQL licence): the client of a PostgreSQL server. Debian package libpq-dev.
#include <libpq-fe.h>
