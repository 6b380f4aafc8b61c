import CLinux
import Foundation
import Glibc

/// Has the control service run a command for a user who may not write the database.
struct ControlClient {
    /// Another socket than ``ControlRequest/defaultSocket``, for tests.
    private static let variable = "EEGSYNC_CONTROL_SOCKET"

    let socketPath: String

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        socketPath = environment[Self.variable] ?? ControlRequest.defaultSocket
    }

    /// Runs a command there.
    ///
    /// - Returns: its exit code; nil where the command is this process's own affair: where it only reads, where this user may
    ///   write the database, and where there is no service.
    /// - Throws: ``Failure``.
    func run(_ command: some ControlledCommand, arguments: [String]) throws -> Int32? {
        guard command.isWriting, let path = try? command.options.databasePath(), Self.isClosed(path) else { return nil }
        guard let socket = try connect(for: type(of: command).right) else { return nil }
        defer { close(socket) }
        let file = try command.openFile()
        defer { if let file { close(file) } }
        let request = ControlRequest(
            arguments: arguments, environment: ProcessInfo.processInfo.environment, database: path, hasFile: file != nil)
        try send(request, [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] + [file].compactMap(\.self), through: socket)
        Self.passInterruptions(to: socket)
        var code: UInt8 = 0
        while true {
            let count = read(socket, &code, 1)
            if count == 1 { return Int32(code) }
            if count < 0 && errno == EINTR { continue }
            throw Failure(
                problem: "the control service has ended without an answer.",
                consequence: "whether it did what you asked for is not known.",
                remedy: "`eegsync status` shows how things are; `journalctl -u 'eegsync-control@*' -e` may say why.",
                code: .unavailable)
        }
    }

    /// Whether a database is there, or could be made, but not by this user.
    private static func isClosed(_ path: String) -> Bool {
        if access(path, W_OK) == 0 { return false }
        if errno == ENOENT {
            if access(URL(fileURLWithPath: path).deletingLastPathComponent().path, W_OK) == 0 { return false }
        }
        // Read-only: the rest of the machine in the sandbox of a service, whatever the modes allow.
        return errno == EACCES || errno == EROFS
    }

    /// - Returns: a connection; nil where nobody listens.
    private func connect(for right: ControlRight) throws -> Int32? {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        let connected = clinux_connect_local(socket, socketPath)
        if connected == 0 { return socket }
        close(socket)
        if connected == -EACCES { throw right.refusal() }
        return nil
    }

    private func send(_ request: ControlRequest, _ descriptors: [Int32], through socket: Int32) throws {
        var bytes = [UInt8](try JSONEncoder().encode(request))
        guard bytes.count < ControlRequest.sizeMaximum else {
            throw Failure(
                problem: "the command line has more than \(ControlRequest.sizeMaximum) bytes.",
                consequence: "nothing was changed.", remedy: "say it in fewer words.", code: .usage)
        }
        bytes.append(UInt8(ascii: "\n"))
        // A socket that has just been connected takes as much at once.
        let sent = clinux_send_descriptors(socket, bytes, bytes.count, descriptors, Int32(descriptors.count))
        guard sent == bytes.count else {
            throw Failure(
                problem: "the control service at \(socketPath) cannot be asked: \(String(cString: strerror(-sent))).",
                consequence: "nothing was changed.", remedy: "see `systemctl status eegsync-control.socket`.",
                code: .unavailable)
        }
    }

    /// Ctrl-C ends the command there, which may still have something to say; the second one ends this process.
    private static func passInterruptions(to socket: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let thread = Thread { @Sendable in
            var signals = sigset_t()
            sigemptyset(&signals)
            for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
            var signal: Int32 = 0
            sigwait(&signals, &signal)
            shutdown(socket, Int32(SHUT_WR))
            sigwait(&signals, &signal)
            _exit(128 + signal)
        }
        thread.start()
    }
}
