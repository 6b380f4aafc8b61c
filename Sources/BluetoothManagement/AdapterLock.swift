import CLinux
import Foundation
import Glibc

/// The right to connect headsets through an adapter: of all processes of a machine one has it at a time, whatever database it
/// stores into.
///
/// It is a listening socket with an abstract name such as `\0org.eegsync.adapter/hci0` (unix(7)). The kernel gives the name to
/// one process and takes it back when that process ends, in whatever way, so that no lock is ever stale; no directory has to
/// be writable, and every user sees the same names, because Bluetooth sockets exist in one network namespace only.
package final class AdapterLock {
    /// Whose lock is respected. Any local user may take a free name, so that a program that must not be kept from its work by
    /// others' respects fewer.
    package enum Respect: Sendable {
        /// Everybody's: a command gives way.
        case everybody
        /// The superuser's and those of this process's own user.
        case administrators

        /// True where a process of the user gives way to the holder.
        func includes(_ holder: Holder, user: UInt32) -> Bool {
            switch self {
            case .everybody: true
            case .administrators: holder.user == 0 || holder.user == user
            }
        }
    }

    /// A process that has a lock.
    package struct Holder: Hashable, Sendable {
        package var pid: Int32
        package var user: UInt32
    }

    /// Questions that stay without an answer, one after the other.
    private struct Unanswered {
        /// When the first and the latest of them were asked.
        let since: Int64
        var latest: Int64
        /// Since when nobody listens there; nil while somebody does.
        var notListeningSince: Int64?
    }

    private static let prefix = "org.eegsync.adapter/"
    /// How many questions are dismissed in one turn: whoever asks without end does not keep this process from its other work.
    private static let turnLimit = 256
    /// A holder listens as soon as it has the name: one that does not for so long, in nanoseconds, is no eegsync.
    private static let listeningLimit: Int64 = 1_000_000_000
    /// For how long, in nanoseconds, one that listens and takes no question may be an eegsync.
    ///
    /// The kernel takes a thousand questions for it, whether it is busy, idle, stopped or in a debugger, and whoever waits for
    /// the adapter leaves one there at a time. So an eegsync answers the first one, and with that keeps the adapter for as long
    /// as it lives (``question``). It is full only where somebody floods it; then it makes room once a second, and one of sixty
    /// questions may well get through. Where none does, two that respect each other use one adapter, which disturbs their
    /// links. Without a limit, whoever has a name and never answers would keep a daemon from its adapter for good.
    private static let answerLimit: Int64 = 60_000_000_000
    /// Questions that lie further apart, in nanoseconds, say nothing of the time between them: the machine slept, or this
    /// process was stopped. Who waits asks once a second.
    private static let longestPause: Int64 = 5_000_000_000

    private let respect: Respect
    private let name: (String) -> String
    private let readClock: () -> Int64
    private var adapter: String?
    private var socket: Int32 = -1
    /// The question to a holder that is respected: until that one dismisses it or ends, nobody else has the lock.
    private var question: (adapter: String, socket: Int32)?
    /// By adapter; none since its holder has answered.
    private var unanswered: [String: Unanswered] = [:]
    /// When those who asked were dismissed last.
    private var lastDismissal: Int64 = 0

    /// - Parameters:
    ///   - respect: whose lock keeps this process from the adapter.
    ///   - prefix: what names begin with; tests have one of their own.
    ///   - clock: nanoseconds that go on.
    package init(
        respect: Respect, prefix: String? = nil, clock: @escaping () -> Int64 = { clinux_boottime_nanoseconds() }
    ) {
        self.respect = respect
        readClock = clock
        let prefix = prefix ?? Self.prefix
        name = { prefix + $0 }
    }

    deinit { release() }

    /// Takes the lock of an adapter such as `hci0`, and gives back that of another one. Returns false where a process has it
    /// that is respected; then it is to be asked again. Never waits.
    package func take(_ adapter: String) -> Bool {
        if self.adapter == adapter { return true }
        if self.adapter != nil { release() }
        if let socket = AbstractAddress(name(adapter)).listen() {
            self.socket = socket
        } else if isHeld(adapter) {
            return false
        }
        stopAsking()
        self.adapter = adapter
        return true
    }

    /// True where somebody who is respected has the lock.
    private func isHeld(_ adapter: String) -> Bool {
        if let question, question.adapter == adapter, clinux_has_ended(question.socket) == 0 { return true }
        withdrawQuestion()
        switch AbstractAddress(name(adapter)).ask() {
        case .holder(let holder, let socket):
            unanswered[adapter] = nil
            guard respect.includes(holder, user: geteuid()) else {
                close(socket)
                return false
            }
            question = (adapter, socket)
            return true
        case .unknown:
            unanswered[adapter] = nil
            return true
        case .nobodyListens: return mayBeHeld(adapter, isListening: false)
        case .noAnswer: return mayBeHeld(adapter, isListening: true)
        }
    }

    /// True where one that has the name and does not answer may be an eegsync all the same.
    private func mayBeHeld(_ adapter: String, isListening: Bool) -> Bool {
        let now = readClock()
        var run = unanswered[adapter] ?? Unanswered(since: now, latest: now)
        if now - run.latest > Self.longestPause { run = Unanswered(since: now, latest: now) }
        run.latest = now
        run.notListeningSince = isListening ? nil : run.notListeningSince ?? now
        unanswered[adapter] = run
        if respect == .everybody { return true }
        if let since = run.notListeningSince, now - since >= Self.listeningLimit { return false }
        return now - run.since < Self.answerLimit
    }

    private func withdrawQuestion() {
        if let question { close(question.socket) }
        question = nil
    }

    private func stopAsking() {
        withdrawQuestion()
        unanswered.removeAll()
    }

    /// Lets those go who have asked who has the lock: the kernel keeps some until they are, and turns the next away. To be
    /// called now and then; it looks once a second, and lets go as many as a turn may.
    package func dismissQuestions() {
        let now = readClock()
        guard socket >= 0, now - 1_000_000_000 >= lastDismissal else { return }
        lastDismissal = now
        for _ in 0..<Self.turnLimit {
            let question = accept(socket, nil, nil)
            guard question >= 0 else { return }
            close(question)
        }
    }

    /// Gives the lock back, and asks for none; nothing happens where there is none.
    package func release() {
        stopAsking()
        if socket >= 0 { close(socket) }
        (socket, adapter) = (-1, nil)
    }

    /// Who has the lock of an adapter; nil where it is free, or who has it does not answer.
    package func holder(of adapter: String) -> Holder? {
        guard case .holder(let holder, let socket) = AbstractAddress(name(adapter)).ask() else { return nil }
        close(socket)
        return holder
    }

    /// Who has the lock of an adapter that this process would use.
    ///
    /// - Parameter wanted: `hci0`; nil for any. An address is looked up when the adapter is there, and not here.
    package func obstacle(to wanted: String?) -> (adapter: String, holder: Holder)? {
        for adapter in lockedAdapters() where wanted == nil || wanted == adapter {
            if let holder = holder(of: adapter) { return (adapter, holder) }
        }
        return nil
    }

    /// The adapters of which somebody has the lock: `/proc/net/unix` has abstract names with an `@` (proc(5)).
    func lockedAdapters() -> [String] {
        // Names are any bytes, and this file of the kernel says that it is empty.
        guard let file = FileHandle(forReadingAtPath: "/proc/net/unix"), let bytes = try? file.readToEnd() else { return [] }
        let table = String(decoding: bytes, as: UTF8.self)
        let adapters = table.split(separator: "\n").compactMap { line -> String? in
            guard let path = line.split(separator: " ").last, path.hasPrefix("@" + name("")) else { return nil }
            return String(path.dropFirst(1 + name("").count))
        }
        return Set(adapters).sorted()
    }
}

/// An abstract name of a socket.
private struct AbstractAddress {
    /// What is found at a name.
    enum Answer {
        /// Somebody listens, and has got a question, which is to be closed.
        case holder(AdapterLock.Holder, question: Int32)
        /// Nobody has it, or somebody who does not listen.
        case nobodyListens
        /// Somebody listens and takes no question.
        case noAnswer
        /// This process cannot ask.
        case unknown
    }

    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Parameter name: at most 107 bytes; what is longer is cut.
    init(_ name: String) {
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8.prefix(107))
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in bytes.enumerated() { path[index + 1] = byte }
        }
        length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + bytes.count)
    }

    private func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private static func makeSocket() -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        return Glibc.socket(AF_UNIX, type, 0)
    }

    /// A socket with the name; nil where another has it.
    func listen() -> Int32? {
        let socket = Self.makeSocket()
        guard socket >= 0 else { return nil }
        guard with({ bind(socket, $0, $1) }) == 0, Glibc.listen(socket, 1024) == 0 else {
            close(socket)
            return nil
        }
        return socket
    }

    /// Asks who listens at the name.
    func ask() -> Answer {
        let socket = Self.makeSocket()
        guard socket >= 0 else { return .unknown }
        guard with({ connect(socket, $0, $1) }) == 0 else {
            let code = errno
            close(socket)
            return code == ECONNREFUSED ? .nobodyListens : .noAnswer
        }
        var holder = AdapterLock.Holder(pid: 0, user: 0)
        guard clinux_peer(socket, &holder.pid, &holder.user) == 0 else {
            close(socket)
            return .unknown
        }
        return .holder(holder, question: socket)
    }
}
