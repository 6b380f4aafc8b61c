// Reads live blocks of the Buffered EEG service from the descriptor of AcquireNotify and does nothing with them: what no
// program can do for less, beside which the processor time of eegsync is reported.
//
//   reader DESCRIPTOR SECONDS
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

// Of a BLOCK, see the page BufferedEEGService: number of instants, index of the first one.
#define INSTANTS_OFFSET 9
#define INDEX_OFFSET 10
#define SHORTEST_BLOCK 21

static volatile sig_atomic_t is_over;

static void end(int number) {
    (void)number;
    is_over = 1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: reader DESCRIPTOR SECONDS\n");
        return 2;
    }
    struct pollfd waiting = {.fd = atoi(arguments[1]), .events = POLLIN};
    // Without SA_RESTART, so that the alarm ends poll(2) and the loop needs no clock.
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGALRM, &action, NULL);
    if (poll(&waiting, 1, 10000) <= 0) {
        fprintf(stderr, "no message came within 10 s\n");
        return 1;
    }
    double began = now(), used = processor_seconds();
    alarm((unsigned)atoi(arguments[2]));
    unsigned long messages = 0, bytes = 0, missing = 0, awakenings = 0;
    uint32_t expected = 0;
    unsigned char message[512];
    while (!is_over) {
        if (poll(&waiting, 1, -1) < 0) continue;
        awakenings += 1;
        ssize_t length;
        while ((length = recv(waiting.fd, message, sizeof message, MSG_DONTWAIT)) > 0) {
            if (length >= SHORTEST_BLOCK) {
                uint32_t index;
                memcpy(&index, message + INDEX_OFFSET, sizeof index);
                if (messages > 0) missing += (uint32_t)(index - expected);
                expected = index + message[INSTANTS_OFFSET];
            }
            messages += 1;
            bytes += (unsigned long)length;
        }
        if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
            fprintf(stderr, "the link ended after %lu messages\n", messages);
            return 1;
        }
    }
    double seconds = now() - began;
    printf("{\"messages\": %lu, \"bytes\": %lu, \"missing\": %lu, \"awakenings\": %lu, ", messages, bytes, missing, awakenings);
    printf("\"seconds\": %.3f, \"processorSeconds\": %.3f}\n", seconds, processor_seconds() - used);
    return 0;
}
