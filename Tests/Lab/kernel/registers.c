// Loaded into the kernel's process (LD_PRELOAD): lets it run on processors with AMX.
//
// A user-mode kernel switches between its processes by saving and restoring their registers through ptrace(2). Linux 6.1 has
// room for 2,696 bytes of them, up to AVX-512 and the protection keys (HOST_FP_SIZE in arch/x86/um/user-offsets.c). With AMX
// the host has 11,008 bytes. It saves as many as there is room for, but refuses with EFAULT to restore less than all. Here the
// rest is filled with zeros and marked as unused, which is true: nobody in the lab asked the host for leave to use AMX.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// NT_X86_XSTATE of <linux/elf.h>.
#define REGISTER_SET 0x202
// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 13.4.2: XSTATE_BV, which parts are in use.
#define USED_PARTS_OFFSET 512
// Parts 0 to 9 lie in the first 2,696 bytes.
#define KNOWN_PARTS 0x3ffUL

static char registers[65536] __attribute__((aligned(64)));

static long restore(pid_t pid, const struct iovec *given) {
    if (given->iov_len < USED_PARTS_OFFSET + sizeof(unsigned long) || given->iov_len > sizeof registers) {
        errno = EINVAL;
        return -1;
    }
    memcpy(registers, given->iov_base, given->iov_len);
    *(unsigned long *)(registers + USED_PARTS_OFFSET) &= KNOWN_PARTS;
    // The host takes what it has; what is beyond the given bytes was never written here.
    struct iovec all = {registers, sizeof registers};
    return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, REGISTER_SET, &all);
}

long ptrace(enum __ptrace_request request, ...) {
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    if (request == PTRACE_SETREGSET && (unsigned long)address == REGISTER_SET) return restore(pid, data);
    if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
        // The C library returns the word itself; see ptrace(2).
        long word;
        if (syscall(SYS_ptrace, request, pid, address, &word) < 0) return -1;
        errno = 0;
        return word;
    }
    return syscall(SYS_ptrace, request, pid, address, data);
}
