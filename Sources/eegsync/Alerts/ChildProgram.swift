import Foundation
import Glibc
import Synchronization

/// A program that is run once, with an input, and that may not last for longer than a limit.
struct ChildProgram {
    /// How it ended.
    enum End: Hashable {
        case exited(code: Int32, output: String, errors: String)
        /// By itself or by us, when its time was over.
        case killed(signal: Int32, isOverdue: Bool)
        case notStarted(reason: String)
    }

    /// What a pipe surely takes without anybody reading, in bytes (pipe(7): 65,536).
    private static let inputMaximum = 60_000
    /// How much of what it prints is kept, in bytes.
    private static let outputMaximum = 4096

    /// A path, with slashes.
    let path: String
    var arguments: [String] = []
    /// What it gets besides this process's environment.
    var environment: [String: String] = [:]
    var input = ""
    var limit = Duration.seconds(30)

    /// Runs it to its end. Its own children may go on; Foundation's `Process` would wait for them.
    func run() async -> End {
        guard input.utf8.count <= Self.inputMaximum else { return .notStarted(reason: "its input is too long") }
        // Files instead of pipes: a grandchild that keeps them open holds nobody up.
        guard let output = tmpfile(), let errors = tmpfile() else {
            return .notStarted(reason: "no temporary file: \(String(cString: strerror(errno)))")
        }
        defer {
            fclose(output)
            fclose(errors)
        }
        let pid: pid_t
        do throws(FileReason) {
            pid = try start(output: fileno(output), errors: fileno(errors))
        } catch {
            return .notStarted(reason: error.words)
        }
        let child = StartedChild(pid: pid)
        let killing = Task {
            try await Task.sleep(for: limit)
            child.kill()
        }
        let status = await child.end()
        killing.cancel()
        // wait(2): the low seven bits are the signal, the next byte but one is the code.
        let signal = status & 0x7F
        if signal != 0 { return .killed(signal: signal, isOverdue: child.isOverdue) }
        return .exited(code: status >> 8 & 0xFF, output: Self.text(output), errors: Self.text(errors))
    }

    /// Starts it as the leader of a process group of its own.
    private func start(output: Int32, errors: Int32) throws(FileReason) -> pid_t {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileReason(String(cString: strerror(errno))) }
        defer { close(ends[0]) }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        // It is all in the pipe before anybody could close the other end.
        let bytes = Array(input.utf8)
        let written = write(ends[1], bytes, bytes.count)
        close(ends[1])
        guard written == bytes.count else { throw FileReason("its input cannot be written") }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in [(STDIN_FILENO, ends[0]), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        // What this process ignores, such as SIGPIPE, would be ignored there.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let result = Self.withStrings([path] + arguments) { argv in
            Self.withStrings(variables) { envp in posix_spawn(&pid, path, &actions, &attributes, argv, envp) }
        }
        guard result == 0 else { throw FileReason(String(cString: strerror(result))) }
        return pid
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }

    /// What a program has printed into a file.
    ///
    /// - Parameter isEnd: true for the end of it, where it is too long; else its beginning is kept.
    static func text(_ file: UnsafeMutablePointer<FILE>, isEnd: Bool = false) -> String {
        var bytes = [UInt8](repeating: 0, count: outputMaximum)
        let offset = isEnd ? max(0, lseek(fileno(file), 0, SEEK_END) - bytes.count) : 0
        let count = pread(fileno(file), &bytes, bytes.count, offset)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A child that runs, or whose end nobody has taken yet: only so long is its number its own.
private final class StartedChild: Sendable {
    private let pid: pid_t
    private let state = Mutex((hasEnded: false, isOverdue: false))

    init(pid: pid_t) { self.pid = pid }

    /// Whether it was killed.
    var isOverdue: Bool { state.withLock { $0.isOverdue } }

    /// Ends it together with those of its children that are in its process group.
    func kill() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.isOverdue = true
            _ = Glibc.kill(-pid, SIGKILL)
        }
    }

    /// Waits for its end, on a thread of its own.
    ///
    /// - Returns: as wait(2) has it.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { @Sendable [self] in
                var end = siginfo_t()
                while waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                state.withLock { $0.hasEnded = true }
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
    }
}

extension ChildProgram.End {
    /// Why it did not do what it was to do, in words; nil where it exited with 0.
    var problem: String? {
        switch self {
        case .exited(0, _, _): nil
        case .exited(let code, _, let errors):
            "it ended with exit code \(code)"
                + (errors.split(whereSeparator: \.isNewline).first.map { ": \(String($0.prefix(200)).printable)" } ?? "")
        case .killed(_, true): "it did not end in time and was killed"
        case .killed(let signal, false): "it was ended by signal \(signal)"
        case .notStarted(let reason): "it cannot be started: \(reason)"
        }
    }
}
