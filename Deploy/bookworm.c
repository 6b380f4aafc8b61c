// Symbols that the static libraries of sid's Swift use and bookworm (glibc 2.36, libstdc++ 12) does not have. Linked in by
// Deploy/cross alone, for programs that run on bookworm and on everything later.
//
// The list is what nm(1) says of the libraries beside what readelf(1) says of bookworm's; the linker names whatever is missing
// here. Nothing is overridden: where the library at run time has the symbol, the program uses these all the same.

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Headers since glibc 2.38 map strtol and its kin to these, which differ in binary literals (0b1010) only, with base 0 or 2:
// nothing in Swift's libraries reads such.
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

// As OpenBSD has them, and glibc since 2.38.
size_t strlcpy(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(to, from, copied);
        to[copied] = 0;
    }
    return length;
}

size_t strlcat(char *to, const char *from, size_t size) {
    size_t used = strnlen(to, size);
    return used + (used < size ? strlcpy(to + used, from, size - used) : strlen(from));
}

// std::ios_base_library_init() makes std::cout and its kin where a program uses them; libstdc++ 12 makes them when it is
// loaded.
void _ZSt21ios_base_library_initv(void) {}
