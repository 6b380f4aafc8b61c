#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    // The two clocks read here exist in every kernel since 2.6.39, so the call cannot fail.
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clinux_boottime_nanoseconds(void) { return read_clock(CLOCK_BOOTTIME); }

int64_t clinux_monotonic_nanoseconds(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t clinux_realtime_nanoseconds(void) { return read_clock(CLOCK_REALTIME); }

int clinux_clock_is_synchronised(void) {
    struct timex state = {0}; // modes = 0 only reads, which needs no capability
    if (adjtimex(&state) == -1) return -errno;
    return (state.status & STA_UNSYNC) == 0;
}

int clinux_eventfd(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor == -1 ? -errno : descriptor;
}

int clinux_eventfd_signal(int descriptor) {
    int saved = errno; // a signal handler must leave errno as it was
    uint64_t one = 1;
    int result = write(descriptor, &one, sizeof one) == sizeof one || errno == EAGAIN ? 0 : -errno;
    errno = saved;
    return result; // EAGAIN: the counter is at its maximum and therefore readable, which is all that was wanted
}

int clinux_eventfd_clear(int descriptor) {
    uint64_t value;
    if (read(descriptor, &value, sizeof value) == sizeof value || errno == EAGAIN) return 0;
    return -errno;
}

int clinux_timerfd(void) {
    int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor == -1 ? -errno : descriptor;
}

int clinux_timerfd_arm(int descriptor, int64_t boottime_nanoseconds) {
    struct itimerspec when = {0};
    if (boottime_nanoseconds >= 0) {
        int64_t instant = boottime_nanoseconds == 0 ? 1 : boottime_nanoseconds; // 0 would disarm
        when.it_value.tv_sec = instant / 1000000000;
        when.it_value.tv_nsec = instant % 1000000000;
    }
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &when, NULL) == -1 ? -errno : 0;
}

int clinux_epoll(void) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    return set < 0 ? -errno : set;
}

int clinux_epoll_insert(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

int clinux_epoll_watch(int set, int descriptor, int reading, int writing) {
    struct epoll_event event = {.events = (reading ? EPOLLIN : 0) | (writing ? EPOLLOUT : 0), .data.fd = descriptor};
    if (epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    if (errno != ENOENT) return -errno;
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

int clinux_epoll_remove(int set, int descriptor) {
    if (epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL) == 0 || errno == ENOENT) return 0;
    return -errno;
}

int clinux_epoll_ready(int set, int *descriptors, int capacity) {
    struct epoll_event events[64];
    int count = epoll_wait(set, events, capacity < 64 ? capacity : 64, 0);
    if (count < 0) return -errno;
    for (int index = 0; index < count; index++) descriptors[index] = events[index].data.fd;
    return count;
}

int clinux_stamp_arrivals(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0 ? -errno : 0;
}

int clinux_receive(int socket, void *bytes, size_t capacity, int64_t *arrival) {
    struct iovec buffer = {.iov_base = bytes, .iov_len = capacity};
    // A union, so that the buffer is aligned as cmsg(3) demands.
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {
        .msg_iov = &buffer, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *arrival = -1;
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
    if (count < 0) return -errno;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
        *arrival = (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
    }
    return (int)count;
}

int clinux_has_ended(int socket) {
    struct pollfd asked = {.fd = socket, .events = POLLRDHUP};
    if (poll(&asked, 1, 0) <= 0 || (asked.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) == 0) return 0;
    int waiting = 0;
    return ioctl(socket, FIONREAD, &waiting) == 0 && waiting > 0 ? 0 : 1;
}

int clinux_flush_output(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    if (errno != 0) return -errno;
    // An earlier write has failed, and why is forgotten: but a reader that has gone, and a closed descriptor, can be seen.
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&output, 1, 0) > 0) {
        if (output.revents & POLLNVAL) return -EBADF;
        if (output.revents & POLLERR) return -EPIPE;
    }
    return -EIO;
}

int clinux_end_with_parent(int32_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1) return -errno;
    return getppid() == parent ? 0 : -ESRCH; // a parent that was gone before sends nothing
}

void clinux_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

int clinux_random(void *bytes, size_t count) {
    unsigned char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return -errno;
        }
        next += got;
        count -= (size_t)got;
    }
    return 0;
}

int clinux_peer_groups(int socket, uint32_t *groups, int capacity) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (capacity < 1) return -ERANGE;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -errno;
    groups[0] = credentials.gid;
    length = (socklen_t)(capacity - 1) * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &length) != 0) return -errno;
    return 1 + (int)(length / sizeof *groups);
}

enum { descriptor_limit = 8 };

int clinux_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    if (descriptor_count < 1 || descriptor_count > descriptor_limit) return -EINVAL;
    union {
        char bytes[CMSG_SPACE(descriptor_limit * sizeof(int))];
        struct cmsghdr header; // aligns the buffer
    } control = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    return sent < 0 ? -errno : (int)sent;
}

int clinux_receive_descriptors(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count) {
    union {
        char bytes[CMSG_SPACE(descriptor_limit * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
            if (*descriptor_count < descriptor_limit) descriptors[(*descriptor_count)++] = descriptor;
            else close(descriptor);
        }
    }
    return (int)received;
}

/// Calls connect(2) or bind(2) with the address that a path is.
static int with_path(int (*call)(int, const struct sockaddr *, socklen_t), int socket, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    return call(socket, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

int clinux_connect_local(int socket, const char *path) { return with_path(connect, socket, path); }

int clinux_bind_local(int socket, const char *path) { return with_path(bind, socket, path); }

int clinux_peer(int socket, int32_t *pid, uint32_t *user) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -errno;
    *pid = credentials.pid;
    *user = credentials.uid;
    return 0;
}

int64_t clinux_birth_nanoseconds(const char *path) {
    struct statx facts;
    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &facts) == -1) return -errno;
    if ((facts.stx_mask & STATX_BTIME) == 0) return 0;
    return (int64_t)facts.stx_btime.tv_sec * 1000000000 + facts.stx_btime.tv_nsec;
}

void clinux_return_freed_memory(void) {
    // Both at once: either call keeps glibc from raising the two thresholds by itself, to what the largest freed block had.
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}
