#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct LibPQ library;
static char problem_text[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Looks a function up; 0 where it is not there.
static int find(void *handle, const char *name, void **function) {
    *function = dlsym(handle, name);
    if (*function == NULL) snprintf(problem_text, sizeof problem_text, "libpq.so.5 has no %s", name);
    return *function != NULL;
}

static void load(void) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(problem_text, sizeof problem_text, "%s", reason ? reason : "libpq.so.5 cannot be loaded");
        return;
    }
#define CPOSTGRESQL_FIND(name) \
    if (!find(handle, #name, (void **)&library.name)) return;
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIND)
#undef CPOSTGRESQL_FIND
}

const struct LibPQ *cpostgresql_library(const char **problem) {
    pthread_once(&once, load);
    *problem = problem_text;
    return problem_text[0] == 0 ? &library : NULL;
}
