import CLinux
import Glibc

/// A local socket of streams that listens.
final class TapListener: Sendable {
    let descriptor: Int32

    /// Connections that wait until the thread that sends accepts them.
    private static let backlog: Int32 = 64
    /// Its owner and its group may connect: who may read the database.
    private static let mode: mode_t = 0o660

    /// - Parameter path: a socket that was left there is removed.
    init(path: String) throws(TapServerError) {
        var found = stat()
        if lstat(path, &found) == 0 {
            guard found.st_mode & S_IFMT == S_IFSOCK else { throw .inTheWay(path) }
            unlink(path)
        }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { throw .system(path: path, call: "socket", code: errno) }
        let bound = clinux_bind_local(socket, path)
        // Nobody can connect before it listens, so the mode is right for everybody.
        guard bound == 0, chmod(path, Self.mode) == 0, listen(socket, Self.backlog) == 0 else {
            let code = bound == 0 ? errno : -bound
            close(socket)
            if code == ENAMETOOLONG { throw .pathTooLong(path) }
            throw .system(path: path, call: "bind", code: code)
        }
        descriptor = socket
    }

    deinit { close(descriptor) }

    /// The next connection that waits; nil for none.
    func accept() -> Int32? {
        let socket = Glibc.accept(descriptor, nil, nil)
        guard socket >= 0 else { return nil }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        return socket
    }
}
