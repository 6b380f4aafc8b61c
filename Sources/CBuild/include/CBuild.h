// What the program was built of, where the build says so.
#ifndef CBUILD_H
#define CBUILD_H

/// The commit and its date, such as "81b5017 2026-11-24", or an empty string where the build does not say it.
///
/// It is a macro of C, because Swift's -D has no values; and it has a target of its own, so that a new commit compiles these lines
/// anew, links, and nothing else.
const char *cbuild_commit(void);

#endif
