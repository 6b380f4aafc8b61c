// Reads live blocks of the Buffered EEG service from a descriptor and does nothing with them: what no program can do for less,
// beside which the processor time and the time stamps of eegsync are reported.
//
//   reader DESCRIPTOR SECONDS [HEADER [ARRIVALS]]
//
// The descriptor is that of bluetoothd's AcquireNotify, whose messages are values, or the L2CAP socket of the Attribute
// Protocol, where HEADER bytes stand before each value: 3, opcode and handle; other packets than notifications are passed over.
// With ARRIVALS it also asks the clock after each message, and writes into that file at the end a line for each: the index of the
// block, and its arrival on CLOCK_BOOTTIME in nanoseconds; without those that had waited for the reader to be started.
//
// Prints a line of JSON: messages, bytes, sampling periods that never came, how often it was woken, seconds, processor seconds.
// The time begins with the first message.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// ATT_HANDLE_VALUE_NTF (Core 5.4, volume 3, part F, 3.4.7.1).
#define NOTIFICATION 0x1B
// Of a BLOCK, see the page BufferedEEGService: number of instants, index of the first one.
#define INSTANTS_OFFSET 9
#define INDEX_OFFSET 10
#define SHORTEST_BLOCK 21
// Of arrivals; what comes after them is not noted.
#define MOST_ARRIVALS 1000000

struct arrival {
    int64_t nanoseconds;
    uint32_t index;
};

static volatile sig_atomic_t is_over;

static void end(int number) {
    (void)number;
    is_over = 1;
}

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int write_arrivals(const char *path, const struct arrival *arrivals, unsigned long count) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return -1;
    for (unsigned long place = 0; place < count; place++) {
        fprintf(file, "%u %lld\n", arrivals[place].index, (long long)arrivals[place].nanoseconds);
    }
    return fclose(file);
}

int main(int count, char **arguments) {
    if (count < 3 || count > 5) {
        fprintf(stderr, "usage: reader DESCRIPTOR SECONDS [HEADER [ARRIVALS]]\n");
        return 2;
    }
    size_t header = count > 3 ? (size_t)atoi(arguments[3]) : 0;
    // Pages that are touched for the first time cost time: all of them are, before it counts.
    struct arrival *arrivals = count > 4 ? malloc(MOST_ARRIVALS * sizeof *arrivals) : NULL;
    if (arrivals != NULL) memset(arrivals, 1, MOST_ARRIVALS * sizeof *arrivals);
    struct pollfd waiting = {.fd = atoi(arguments[1]), .events = POLLIN};
    // Without SA_RESTART, so that the alarm ends poll(2) and the loop needs no clock.
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGALRM, &action, NULL);
    if (poll(&waiting, 1, 10000) <= 0) {
        fprintf(stderr, "no message came within 10 s\n");
        return 1;
    }
    double used = processor_seconds();
    int64_t began = nanoseconds(CLOCK_MONOTONIC);
    alarm((unsigned)atoi(arguments[2]));
    unsigned long messages = 0, bytes = 0, missing = 0, awakenings = 0, noted = 0;
    uint32_t expected = 0;
    int has_caught_up = 0;
    unsigned char packet[512];
    while (!is_over) {
        if (poll(&waiting, 1, -1) < 0) continue;
        awakenings += 1;
        ssize_t received;
        while ((received = recv(waiting.fd, packet, sizeof packet, MSG_DONTWAIT)) > 0) {
            int64_t arrived = arrivals != NULL ? nanoseconds(CLOCK_BOOTTIME) : 0;
            if (header > 0 && packet[0] != NOTIFICATION) continue;
            size_t length = (size_t)received - header;
            if (length >= SHORTEST_BLOCK) {
                uint32_t index;
                memcpy(&index, packet + header + INDEX_OFFSET, sizeof index);
                if (messages > 0) missing += (uint32_t)(index - expected);
                expected = index + packet[header + INSTANTS_OFFSET];
                if (has_caught_up && arrivals != NULL && noted < MOST_ARRIVALS) {
                    arrivals[noted++] = (struct arrival){arrived, index};
                }
            }
            messages += 1;
            bytes += length;
        }
        if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
            fprintf(stderr, "the link ended after %lu messages\n", messages);
            return 1;
        }
        has_caught_up = 1;
    }
    double seconds = (double)(nanoseconds(CLOCK_MONOTONIC) - began) / 1e9;
    double processor = processor_seconds() - used;
    if (arrivals != NULL && write_arrivals(arguments[4], arrivals, noted) != 0) {
        fprintf(stderr, "%s: %s\n", arguments[4], strerror(errno));
        return 1;
    }
    printf("{\"messages\": %lu, \"bytes\": %lu, \"missing\": %lu, \"awakenings\": %lu, ", messages, bytes, missing, awakenings);
    printf("\"seconds\": %.3f, \"processorSeconds\": %.3f}\n", seconds, processor);
    return 0;
}
