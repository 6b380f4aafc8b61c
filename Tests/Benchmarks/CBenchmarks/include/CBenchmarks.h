/* What a benchmark of decoders needs and Swift cannot give: a count of allocations, and a floor. */
#ifndef CBENCHMARKS_H
#define CBENCHMARKS_H

#include <stddef.h>
#include <stdint.h>

/* How often the calling thread has asked for memory since it began, by malloc or one of its kin. */
uint64_t allocation_count(void);

/* The least that any decoder does: reads every byte, and writes `value_count` values of 32 bits.
 *
 * The bytes are taken as big-endian numbers of 24 bits, from the front again when they are used up. */
void floor_decode(const uint8_t *bytes, size_t byte_count, int32_t *values, size_t value_count);

#endif
