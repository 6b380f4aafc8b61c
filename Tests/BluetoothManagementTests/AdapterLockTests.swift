import Glibc
import Testing

@testable import BluetoothManagement

@Suite("The lock of an adapter")
struct AdapterLockTests {
    private let prefix = "org.eegsync.test/\(getpid())-\(UInt64.random(in: .min ... .max))/"

    @Test("one at a time has an adapter, and it is free as soon as that one ends")
    func oneHolder() throws {
        var first: AdapterLock? = AdapterLock(respect: .administrators, prefix: prefix)
        let second = AdapterLock(respect: .administrators, prefix: prefix)
        #expect(first?.take("hci0") == true && first?.take("hci0") == true)
        #expect(!second.take("hci0"))
        #expect(second.take("hci1"))
        #expect(second.holder(of: "hci0") == AdapterLock.Holder(pid: getpid(), user: geteuid()))
        first = nil
        #expect(second.holder(of: "hci0") == nil)
        #expect(second.take("hci0"))
        // Whoever takes another one gives the former back.
        #expect(second.holder(of: "hci1") == nil)
    }

    @Test("a command finds who has the adapter that it would use")
    func obstacle() throws {
        let holder = AdapterLock(respect: .everybody, prefix: prefix)
        let command = AdapterLock(respect: .everybody, prefix: prefix)
        #expect(command.obstacle(to: nil) == nil)
        #expect(holder.take("hci3"))
        #expect(command.lockedAdapters() == ["hci3"])
        #expect(command.obstacle(to: nil)?.holder.pid == getpid())
        #expect(command.obstacle(to: "hci3")?.adapter == "hci3")
        #expect(command.obstacle(to: "hci0") == nil)
    }

    @Test("however often somebody asks who has an adapter, the answer is right")
    func manyQuestions() {
        let holder = AdapterLock(respect: .everybody, prefix: prefix)
        let command = AdapterLock(respect: .everybody, prefix: prefix)
        #expect(holder.take("hci0"))
        for _ in 0..<5 {
            for _ in 0..<200 { #expect(command.holder(of: "hci0")?.pid == getpid()) }
            holder.dismissQuestions()
        }
        #expect(!command.take("hci0"))
    }

    @Test("who asks without end keeps a holder from nothing else: one turn lets 256 go")
    func endlessQuestions() {
        let holder = AdapterLock(respect: .everybody, prefix: prefix)
        let command = AdapterLock(respect: .everybody, prefix: prefix)
        #expect(holder.take("hci0"))
        /// How many questions there is room for.
        func room() -> Int {
            var count = 0
            while count < 10_000, command.holder(of: "hci0") != nil { count += 1 }
            return count
        }
        let all = room()
        #expect((1..<10_000).contains(all))
        holder.dismissQuestions()
        #expect(room() == min(256, all))
    }

    // MARK: Names that do not answer

    private func withAddress(of adapter: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array((prefix + adapter).utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.enumerated() { path[index + 1] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.count)
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// A socket that has the name of an adapter's lock, and does not listen yet.
    private func bind(_ adapter: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = withAddress(of: adapter) { Glibc.bind(socket, $0, $1) }
        try #require(result == 0)
        return socket
    }

    /// Fills what a socket that listens takes without answering. Returns the other ends.
    private func fill(_ adapter: String) -> [Int32] {
        var others: [Int32] = []
        while others.count < 10_000 {
            let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            others.append(socket)
            if socket < 0 || withAddress(of: adapter, { Glibc.connect(socket, $0, $1) }) != 0 { break }
        }
        return others
    }

    @Test("a name that somebody has who does not listen there keeps a command away, and a daemon for a second")
    func nobodyListens() throws {
        let socket = try bind("hci0")
        defer { close(socket) }
        var now: Int64 = 0
        let command = AdapterLock(respect: .everybody, prefix: prefix, clock: { now })
        let daemon = AdapterLock(respect: .administrators, prefix: prefix, clock: { now })
        for second in 0..<3 {
            now = Int64(second) * 600_000_000
            #expect(!command.take("hci0"))
            #expect(daemon.take("hci0") == (second == 2))
        }
    }

    @Test("a name that somebody has who listens and never answers keeps a command away, and a daemon for a minute")
    func nobodyAnswers() throws {
        let stranger = try bind("hci0")
        defer { close(stranger) }
        try #require(listen(stranger, 0) == 0)
        let others = fill("hci0")
        defer { for socket in others { close(socket) } }
        var now: Int64 = 0
        let command = AdapterLock(respect: .everybody, prefix: prefix, clock: { now })
        let daemon = AdapterLock(respect: .administrators, prefix: prefix, clock: { now })
        #expect(!daemon.take("hci0"))
        // The machine slept: nobody had time to answer.
        for second in 3600...3660 {
            now = Int64(second) * 1_000_000_000
            #expect(!command.take("hci0"))
            #expect(daemon.take("hci0") == (second == 3660), "\(second)")
        }
    }

    @Test("a holder that was found keeps its adapter while it lives, however long it is stopped, and whoever asks meanwhile")
    func stoppedHolder() {
        // It has no turn any more.
        var holder: AdapterLock? = AdapterLock(respect: .administrators, prefix: prefix)
        #expect(holder?.take("hci0") == true)
        var now: Int64 = 0
        let daemon = AdapterLock(respect: .administrators, prefix: prefix, clock: { now })
        let command = AdapterLock(respect: .everybody, prefix: prefix)
        #expect(!daemon.take("hci0"))
        var count = 0
        while count < 10_000, command.holder(of: "hci0") != nil { count += 1 }
        #expect(command.holder(of: "hci0") == nil, "there is no room for another question")
        for minute in 1...5 {
            for second in 0..<60 {
                now = Int64(minute * 60 + second) * 1_000_000_000
                #expect(!daemon.take("hci0"))
            }
        }
        holder = nil
        #expect(daemon.take("hci0"))
    }

    @Test("a second without an answer is one second: neither an earlier holder nor another adapter counts")
    func countsAnew() throws {
        var now: Int64 = 0
        let daemon = AdapterLock(respect: .administrators, prefix: prefix, clock: { now })
        // One that has the name and listens a moment later.
        let first = try bind("hci0")
        #expect(!daemon.take("hci0"))
        try #require(listen(first, 8) == 0)
        now = 500_000_000
        #expect(!daemon.take("hci0"))
        close(first)
        // And another one.
        let second = try bind("hci0")
        let other = try bind("hci1")
        defer {
            close(second)
            close(other)
        }
        now = 1_200_000_000
        #expect(!daemon.take("hci0"))
        #expect(!daemon.take("hci1"))
        daemon.release()
        now = 2_400_000_000
        #expect(!daemon.take("hci0"))
        now = 3_600_000_000
        #expect(daemon.take("hci0"))
    }

    @Test("another user's process keeps a command from an adapter, and no daemon")
    func othersLock() {
        let own = AdapterLock.Holder(pid: 1, user: 990)
        let superuser = AdapterLock.Holder(pid: 2, user: 0)
        let other = AdapterLock.Holder(pid: 3, user: 1000)
        #expect([own, superuser, other].map { AdapterLock.Respect.everybody.includes($0, user: 990) } == [true, true, true])
        #expect(
            [own, superuser, other].map { AdapterLock.Respect.administrators.includes($0, user: 990) } == [true, true, false])
    }
}
