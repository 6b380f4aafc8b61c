// Linux system calls that Swift's Glibc module does not import.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>

/// Nanoseconds since the host booted, suspended time included (CLOCK_BOOTTIME, clock_gettime(2)). Never steps.
int64_t clinux_boottime_nanoseconds(void);

/// Nanoseconds since the host booted, without those for which it was suspended (CLOCK_MONOTONIC).
int64_t clinux_monotonic_nanoseconds(void);

/// Nanoseconds since 1970-01-01T00:00:00Z (CLOCK_REALTIME). Steps whenever somebody sets the clock.
int64_t clinux_realtime_nanoseconds(void);

/// 1 where the kernel says that the wall clock is synchronised, 0 where it is not (STA_UNSYNC, adjtimex(2)), or -errno.
int clinux_clock_is_synchronised(void);

/// A new event counter at 0, non-blocking and closed on exec (eventfd(2)); -errno on failure.
int clinux_eventfd(void);

/// Adds 1 to an event counter, which makes it readable. 0 or -errno. May be called in a signal handler.
int clinux_eventfd_signal(int descriptor);

/// Sets an event counter back to 0. 0, also where it was 0 already, or -errno.
int clinux_eventfd_clear(int descriptor);

/// A timer on CLOCK_BOOTTIME, non-blocking and closed on exec (timerfd_create(2)); -errno on failure.
int clinux_timerfd(void);

/// Arms a timer for an instant of CLOCK_BOOTTIME in nanoseconds; an instant in the past fires at once, a negative one
/// disarms. 0 or -errno.
int clinux_timerfd_arm(int descriptor, int64_t boottime_nanoseconds);

/// A set of watched descriptors, readable while one of them is, closed on exec (epoll_create1(2)); -errno on failure.
int clinux_epoll(void);

/// Adds a descriptor to the set, watched for reading (epoll_ctl(2)). 0 or -errno.
int clinux_epoll_insert(int set, int descriptor);

/// Says what a descriptor of the set is watched for, and adds it where it is not in the set: until it can be read, until it can
/// be written, both, or neither. An error and the end of a connection are reported in any case. 0 or -errno.
int clinux_epoll_watch(int set, int descriptor, int reading, int writing);

/// Takes a descriptor out of the set. 0, also where it was not in it, or -errno.
int clinux_epoll_remove(int set, int descriptor);

/// Writes at most `capacity` descriptors of the set for which what they are watched for has come true, or which have ended; how
/// many, or -errno. Never waits.
int clinux_epoll_ready(int set, int *descriptors, int capacity);

/// Lets a socket say when the kernel got each packet from the device below it (SO_TIMESTAMPNS, socket(7)). 0 or -errno.
int clinux_stamp_arrivals(int socket);

/// Takes one packet from a socket, and sets `arrival` to when the kernel got it, in nanoseconds of CLOCK_REALTIME, or to -1 where
/// the socket does not say. How many bytes (0: an empty packet, or the end: see clinux_has_ended), or -errno; -EAGAIN where none waits. Never waits.
int clinux_receive(int socket, void *bytes, size_t capacity, int64_t *arrival);

/// Connects a local socket to the one that has a path, of at most 107 bytes (unix(7)). 0 or -errno; -ENAMETOOLONG for a longer path.
int clinux_connect_local(int socket, const char *path);

/// Gives a local socket a path, of at most 107 bytes, where nothing is yet (unix(7)). 0 or -errno; -ENAMETOOLONG for a longer path.
int clinux_bind_local(int socket, const char *path);

/// The process that listens at, or has connected, the other end of a local socket, and its user (SO_PEERCRED, unix(7)). 0 or
/// -errno.
int clinux_peer(int socket, int32_t *pid, uint32_t *user);

/// The groups of the process that has connected the other end of a local socket, as they were then, its own group first
/// (SO_PEERCRED, SO_PEERGROUPS, socket(7)). At most `capacity`; how many, or -errno: -ERANGE where there are more.
int clinux_peer_groups(int socket, uint32_t *groups, int capacity);

/// Sends bytes through a local socket, and with the first of them descriptors, 1 ... 8 (SCM_RIGHTS, unix(7)). How many bytes, or
/// -errno.
int clinux_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Takes bytes from a local socket, and at most 8 descriptors that came with them, which are closed on exec. `descriptors` holds
/// 8; `descriptor_count` says how many came. How many bytes (0: the end), or -errno.
int clinux_receive_descriptors(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

/// 1 where the other end of a socket of packets is closed and nothing more is to be read, 0 otherwise: an empty packet is read as 0
/// bytes, too (poll(2), FIONREAD). To be asked after such a read. Never waits.
int clinux_has_ended(int socket);

/// Writes what standard output still holds back (fflush(3)). 0 where everything that was ever printed was written, or -errno;
/// -EIO also where a write failed before and nothing says any more why.
int clinux_flush_output(void);

/// Has the kernel kill this process with SIGKILL when the thread that started it ends (PR_SET_PDEATHSIG, prctl(2)). 0, or
/// -errno; -ESRCH where `parent` is not the parent any more, and nothing will come.
int clinux_end_with_parent(int32_t parent);

/// Names the calling thread for `ps -L` and debuggers; what exceeds 15 bytes is cut off (prctl(2)).
void clinux_name_thread(const char *name);

/// Fills a buffer with random bytes of the kernel (getrandom(2)); waits only while the kernel has not been seeded yet, early
/// in the boot. 0 or -errno.
int clinux_random(void *bytes, size_t count);

/// When a file was made, in nanoseconds of CLOCK_REALTIME (STATX_BTIME, statx(2)); 0 where its file system does not say, or
/// -errno.
int64_t clinux_birth_nanoseconds(const char *path);

/// Has the allocator give memory back to the system as soon as more than 1 MiB of it is free at the end of the heap, for as long
/// as the process lives (mallopt(3)). Otherwise what a process held once, such as the rows of a full disk, stays with it.
void clinux_return_freed_memory(void);

#endif
