import Glibc

/// Standard input, output and error, the first three descriptors of every process.
enum StandardStreams {
    /// Opens the null device where one of them is closed: otherwise the next file that is opened would get its number, and
    /// what is printed would be written into that file, be it the database.
    static func open() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is given, which is this one.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
