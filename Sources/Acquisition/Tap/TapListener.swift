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
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .pathTooLong(path) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var found = stat()
        if lstat(path, &found) == 0 {
            guard found.st_mode & S_IFMT == S_IFSOCK else { throw .inTheWay(path) }
            unlink(path)
        }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { throw .system(path: path, call: "socket", code: errno) }
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // Nobody can connect before it listens, so the mode is right for everybody.
        guard bound == 0, chmod(path, Self.mode) == 0, listen(socket, Self.backlog) == 0 else {
            let code = errno
            close(socket)
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
