import ArgumentParser
import CLinux
import Foundation
import Glibc

/// One connection to the control service: who asks, what for, and the command that is run for them.
///
/// The service runs as the user that may write the database, with nothing that the one who asks has chosen but the command's
/// own words: the program, the configuration and the database are the machine's.
struct ControlService {
    /// How long a request may take to come.
    private static let requestSeconds = 5
    /// How long a command has, after it was interrupted, to end in order.
    private static let endLimit: UInt32 = 15

    let socket: Int32

    /// Serves it.
    ///
    /// - Returns: what the other end is answered: the exit code.
    func run() -> Int32 {
        var limit = timeval(tv_sec: Self.requestSeconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let (request, descriptors) = receive() else { return Failure.Code.usage.rawValue }
        defer { for descriptor in descriptors { close(descriptor) } }
        let code: Int32
        do {
            try check(request, fileCount: descriptors.count - 3)
            code = execute(request, descriptors)
        } catch {
            let failure = Failure(error)
            let message = failure.message(style: TerminalStyle.detected(for: descriptors[2])) + "\n"
            _ = Array(message.utf8).withUnsafeBytes { write(descriptors[2], $0.baseAddress, $0.count) }
            code = failure.code.rawValue
        }
        var answer = UInt8(truncatingIfNeeded: code)
        _ = send(socket, &answer, 1, Int32(MSG_NOSIGNAL))
        return code
    }

    /// The request and what came with it; nil for what is none.
    private func receive() -> (ControlRequest, [Int32])? {
        var bytes: [UInt8] = []
        var descriptors: [Int32] = []
        var chunk = [UInt8](repeating: 0, count: ControlRequest.sizeMaximum)
        while bytes.last != UInt8(ascii: "\n"), bytes.count <= ControlRequest.sizeMaximum {
            var (found, count) = ([Int32](repeating: -1, count: 8), Int32(0))
            let received = clinux_receive_descriptors(socket, &chunk, chunk.count, &found, &count)
            descriptors += found.prefix(Int(count))
            guard received > 0 else { break }
            bytes += chunk.prefix(Int(received))
        }
        if (3...4).contains(descriptors.count), let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(bytes))
        {
            return (request, descriptors)
        }
        for descriptor in descriptors { close(descriptor) }
        return nil
    }

    /// - Throws: ``Failure`` for what is not done for this user.
    private func check(_ request: ControlRequest, fileCount: Int) throws {
        if let problem = request.problem ?? (fileCount == (request.hasFile ? 1 : 0) ? nil : "the file does not come with it") {
            throw Self.refused(problem)
        }
        let parsed: any ParsableCommand
        do { parsed = try Eegsync.parseAsRoot(request.arguments) } catch {
            throw Self.refused(Eegsync.message(for: error))
        }
        guard let command = parsed as? any ControlledCommand, command.isWriting else {
            throw Self.refused("the command is none that writes wishes, and needs no service")
        }
        guard command.options.config == nil, command.options.database == nil else {
            throw Self.refused("the service has its own configuration and database")
        }
        var (pid, user) = (Int32(0), UInt32(0))
        var groups = [UInt32](repeating: 0, count: 65_537)
        let count = clinux_peer_groups(socket, &groups, Int32(groups.count))
        guard clinux_peer(socket, &pid, &user) == 0, count > 0 else { throw type(of: command).right.refusal() }
        guard type(of: command).right.isHeld(user: user, groups: Array(groups.prefix(Int(count))), owner: geteuid()) else {
            throw type(of: command).right.refusal()
        }
        let configuration = try ConfigurationFile.load(path: Configuration.defaultPath)
        guard configuration.names(request.database) else {
            throw Failure(
                problem:
                    "this user may not write the database \(request.database), and the control service writes only that of "
                    + "\(Configuration.defaultPath), \(configuration.databasePath).",
                consequence: "nothing was changed.",
                remedy: "run the command as the owner of the database (ls -l says who), or name that one.", code: .noPermission)
        }
    }

    private static func refused(_ reason: String) -> Failure {
        Failure(
            problem: "the control service does not run this command: \(reason).", consequence: "nothing was changed.",
            remedy: "use eegsync of the version that the service has, in the words of `eegsync help`.", code: .usage)
    }

    /// Runs the command in a process of its own, with the streams of the one who asks, until it ends or that one goes away.
    private func execute(_ request: ControlRequest, _ descriptors: [Int32]) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // They are 3 at least, and in order: none is overwritten before it has moved.
        let moved = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for descriptor in moved { close(descriptor) } }
        for (target, descriptor) in moved.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        var environment = request.environment
        environment["PATH"] = "/usr/bin:/bin"
        if request.hasFile { environment[PassedFile.variable] = "3" }
        environment[Requester.controlVariable] = requesterName
        let arguments = (["eegsync"] + request.arguments).map { strdup($0) } + [nil]
        let variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/proc/self/exe", &actions, nil, arguments, variables) == 0 else {
            return Failure.Code.osError.rawValue
        }
        interrupt(child)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Who asks, as the kernel attests it: the login name, or the number of one who has none.
    private var requesterName: String? {
        var (pid, user) = (Int32(0), UInt32(0))
        guard clinux_peer(socket, &pid, &user) == 0 else { return nil }
        return getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "uid \(user)"
    }

    /// Interrupts the command once the other end has nothing more to say, or is gone.
    private func interrupt(_ child: pid_t) {
        let socket = socket
        let thread = Thread { @Sendable in
            var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            while poll(&event, 1, -1) < 0 && errno == EINTR {}
            kill(child, SIGINT)
            sleep(Self.endLimit)
            kill(child, SIGKILL)
        }
        thread.start()
    }
}
