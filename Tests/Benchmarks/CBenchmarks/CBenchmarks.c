#include "CBenchmarks.h"

#include <errno.h>

/* glibc's own allocator, behind the names that are replaced below. What it gives, glibc's free takes. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* Of each thread by itself, which costs the other benchmarks nothing that could be measured. */
static _Thread_local uint64_t allocations;

uint64_t allocation_count(void) { return allocations; }

/* A program's own malloc takes the place of glibc's in all of its libraries, the Swift runtime included. */
void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    allocations++;
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

/* noinline: the caller must not see that nobody looks at all of the values. */
__attribute__((noinline)) void floor_decode(
    const uint8_t *bytes, size_t byte_count, int32_t *values, size_t value_count) {
    size_t place = 0;
    for (size_t each = 0; each < value_count; each++) {
        if (place + 3 > byte_count) place = 0;
        values[each] = (int32_t)((uint32_t)bytes[place] << 24 | (uint32_t)bytes[place + 1] << 16
                                 | (uint32_t)bytes[place + 2] << 8) >> 8;
        place += 3;
    }
    /* Bytes beyond the values: headers, checksums. */
    int32_t rest = 0;
    for (; place < byte_count; place++) rest += bytes[place];
    if (value_count > 0) values[value_count - 1] += rest;
}
