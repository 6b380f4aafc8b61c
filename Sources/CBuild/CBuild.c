#include "CBuild.h"

// Package.swift defines it from the environment variable EEGSYNC_COMMIT, which Deploy/build sets.
#ifndef EEGSYNC_COMMIT
#define EEGSYNC_COMMIT ""
#endif

const char *cbuild_commit(void) { return EEGSYNC_COMMIT; }
