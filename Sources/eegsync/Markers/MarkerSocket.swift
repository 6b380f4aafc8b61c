import Bluetooth
import CLinux
import Glibc
import KernelBluetooth

/// A socket on which stimulus programs send markers, a line each, with the kernel's stamp of when each message arrived.
final class MarkerSocket {
    /// A message and when it arrived.
    struct Message: Hashable {
        var bytes: [UInt8]
        var arrival: MonotonicTime
        /// True where it was longer than ``byteMaximum``: its last line is none.
        var isCut = false
    }

    /// The most bytes of a message, which may hold several lines. One of UDP cannot be longer (65,507).
    static let byteMaximum = 65_536

    let descriptor: Int32
    /// What it is called where people read.
    let name: String
    /// The path that is removed at the end; nil for none.
    private let path: String?
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: byteMaximum + 1, alignment: 1)

    /// Messages of UDP.
    ///
    /// - Throws: ``Failure`` where nobody can listen there.
    init(udp address: ListenAddress) throws(Failure) {
        descriptor = try address.listen(type: SOCK_DGRAM)
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        name = "UDP \(host):\(ListenAddress.port(of: descriptor))"
        path = nil
        clinux_stamp_arrivals(descriptor)
    }

    /// Messages to a path of this machine; who may write to the path may mark.
    ///
    /// - Throws: ``Failure`` where it cannot be made, or something else stands there.
    init(path: String) throws(Failure) {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Self.refused(path, errno) }
        // One that a dead process has left behind takes no messages.
        if Self.isAbandoned(path) { unlink(path) }
        let bound = clinux_bind_local(socket, path)
        guard bound == 0, chmod(path, 0o660) == 0 else {
            let code = bound == 0 ? errno : -bound
            close(socket)
            throw Self.refused(path, code)
        }
        (descriptor, name, self.path) = (socket, path, path)
        clinux_stamp_arrivals(socket)
    }

    deinit {
        close(descriptor)
        if let path { unlink(path) }
        memory.deallocate()
    }

    /// The next message; nil where none waits.
    func next(_ clock: inout ArrivalClock) -> Message? {
        clock.readClocks()
        var stamp: Int64 = -1
        let count = clinux_receive(descriptor, memory, Self.byteMaximum + 1, &stamp)
        guard count >= 0 else { return nil }
        let bytes = Array(UnsafeRawBufferPointer(start: memory, count: min(Int(count), Self.byteMaximum)))
        return Message(bytes: bytes, arrival: clock.arrival(stamp: stamp), isCut: count > Self.byteMaximum)
    }

    /// Whether a socket is there to which nobody listens.
    private static func isAbandoned(_ path: String) -> Bool {
        var found = stat()
        guard lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFSOCK else { return false }
        let probe = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        return clinux_connect_local(probe, path) == -ECONNREFUSED
    }

    private static func refused(_ path: String, _ code: Int32) -> Failure {
        Failure(
            problem: "no markers can be taken at \(path): \(String(cString: strerror(code))).",
            consequence: "nothing was started.",
            remedy: code == EADDRINUSE
                ? "another program takes markers there, or a file stands there: choose another path with --socket."
                : "name a path in a directory that this user may write.",
            code: code == EACCES ? .noPermission : .unavailable)
    }
}
