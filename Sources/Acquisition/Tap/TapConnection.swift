import CLinux
import Glibc
package import Tap

/// Why nothing can be read from a tap.
package enum TapConnectionError: Error, Hashable, Sendable {
    /// Nobody listens: no daemon runs, or it offers no tap there.
    case nobodyListens(path: String)
    /// This user may not connect.
    case notPermitted(path: String)
    /// The system refuses it.
    case system(path: String, code: Int32)
    /// What came is no tap, or one of another version.
    case format(path: String, TapError)
}

/// A reader's end of the tap. It reads and never writes, and whoever is slow with it is dropped.
package final class TapConnection: Sendable {
    private static let readSize = 1 << 16

    /// Where the daemon listens.
    package let path: String
    /// The socket, which another thread may shut down to end ``next(_:)``.
    package let socket: Int32

    /// Connects.
    package init(path: String) throws(TapConnectionError) {
        self.path = path
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .system(path: path, code: errno) }
        // `deinit` closes the socket, also of an object whose initializer throws from here on.
        let code = -clinux_connect_local(socket, path)
        switch code {
        case 0: return
        case ENOENT, ECONNREFUSED: throw .nobodyListens(path: path)
        case EACCES, EPERM: throw .notPermitted(path: path)
        default: throw .system(path: path, code: code)
        }
    }

    deinit { close(socket) }

    /// Waits for the next message; nil where the daemon has ended, or has dropped this reader.
    package func next(_ decoder: inout TapDecoder) throws(TapConnectionError) -> TapMessage? {
        while true {
            do throws(TapError) {
                if let message = try decoder.next() { return message }
            } catch {
                throw .format(path: path, error)
            }
            var bytes = [UInt8](repeating: 0, count: Self.readSize)
            let count = read(socket, &bytes, bytes.count)
            if count > 0 {
                decoder.append(bytes[..<count])
            } else if count == 0 || errno == ECONNRESET {
                return nil
            } else if errno != EINTR {
                throw .system(path: path, code: errno)
            }
        }
    }
}
