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

    @Test("a name that somebody has who does not listen there keeps a command away, and a daemon for a second")
    func nobodyListens() throws {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array((prefix + "hci0").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.enumerated() { path[index + 1] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.count)
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        try #require(result == 0)
        var now: Int64 = 0
        let command = AdapterLock(respect: .everybody, prefix: prefix, clock: { now })
        let daemon = AdapterLock(respect: .administrators, prefix: prefix, clock: { now })
        for second in 0..<3 {
            now = Int64(second) * 600_000_000
            #expect(!command.take("hci0"))
            #expect(daemon.take("hci0") == (second == 2))
        }
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
