import Glibc

/// What commands say besides their output: errors, questions, progress.
enum StandardError {
    /// For so long, in milliseconds, a reader is waited for that takes nothing just now.
    private static let patience: Int32 = 1000

    /// Writes a text, as far as it can be written. Where standard error is full, closed, or read by nobody, there is nobody to
    /// say that to either: the command goes on, and its exit code says what became of it.
    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                done += count
            } else if count == 0 || errno != EINTR {
                // A program that shares the terminal may have made it one that does not wait.
                var wait = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                guard count < 0, errno == EAGAIN, poll(&wait, 1, patience) == 1 else { return }
            }
        }
    }
}
