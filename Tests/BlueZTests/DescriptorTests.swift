import Bluetooth
import CSystemd
import Glibc
import Testing

@testable import BlueZ

/// File descriptors in messages: any user of the machine may send some, and this process has only so many.
@Suite struct DescriptorTests {
    /// Two sockets of which one is sent: the other says whether anybody still has a duplicate of it.
    private final class Pair {
        private var ends: [Int32] = [-1, -1]

        init() throws {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        }

        deinit { for end in ends where end >= 0 { close(end) } }

        var sent: BusValue { .descriptor(ends[1]) }

        /// Closes the one that was sent; true where somebody else has it, too.
        func isHeldElsewhere() -> Bool {
            if ends[1] >= 0 { close(ends[1]) }
            ends[1] = -1
            var question = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            // A child of another test has a copy until it runs its program.
            return poll(&question, 1, 200) == 0
        }
    }

    /// A connection that nobody answers, which is enough to make messages of.
    private final class Bus {
        static let cookie: UInt64 = 7
        private let bus: OpaquePointer
        private let other: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            other = ends[1]
            var bus: OpaquePointer?
            try #require(sd_bus_new(&bus) >= 0)
            self.bus = try #require(bus)
            try #require(sd_bus_set_fd(self.bus, ends[0], ends[0]) >= 0 && sd_bus_start(self.bus) >= 0)
        }

        deinit {
            sd_bus_close_unref(bus)
            close(other)
        }

        func signal(_ values: [BusValue]) throws -> BusMessage {
            var pointer: OpaquePointer?
            try #require(sd_bus_message_new_signal(bus, &pointer, "/", "org.example", "News") >= 0)
            return try received(BusMessage(owning: try #require(pointer)), values)
        }

        func call(_ values: [BusValue]) throws -> BusMessage {
            var pointer: OpaquePointer?
            try #require(sd_bus_message_new_method_call(bus, &pointer, ":1.1", "/", "org.example", "Do") >= 0)
            return try received(BusMessage(owning: try #require(pointer)), values)
        }

        func reply(_ values: [BusValue]) throws -> BusMessage {
            var pointer: OpaquePointer?
            let call = try call([])
            try withExtendedLifetime(call) { try #require(sd_bus_message_new_method_return(call.pointer, &pointer) >= 0) }
            return try received(BusMessage(owning: try #require(pointer)), values)
        }

        private func received(_ message: BusMessage, _ values: [BusValue]) throws -> BusMessage {
            message.append(values)
            try #require(sd_bus_message_seal(message.pointer, Self.cookie, 0) >= 0)
            try #require(sd_bus_message_rewind(message.pointer, 1) >= 0)
            return message
        }
    }

    /// Reads a message that is gone when this returns.
    private func read(
        isAwaited: Bool, mayBelieve: Bool = true, _ make: () throws -> BusMessage
    ) rethrows -> BusConnection.Received? {
        BusConnection.read(try make(), isAwaited: { $0 == Bus.cookie && isAwaited }, mayBelieve: { _ in mayBelieve })
    }

    private static let bodies: [@Sendable (BusValue) -> [BusValue]] = [
        { [$0] }, { [.variant($0)] }, { [$0, .structure([$0])] }, { [.array([$0, $0], of: "h")] },
    ]

    @Test("Nothing is kept of what anybody may send: signals, calls, and answers that nobody waits for", arguments: bodies)
    func foreign(body: @Sendable (BusValue) -> [BusValue]) throws {
        let (bus, pair) = (try Bus(), try Pair())
        #expect(try read(isAwaited: false) { try bus.signal(body(pair.sent)) } == nil)
        #expect(try read(isAwaited: false) { try bus.call(body(pair.sent)) } == nil)
        #expect(try read(isAwaited: false) { try bus.reply(body(pair.sent)) } == nil)
        #expect(!pair.isHeldElsewhere())
    }

    @Test("What somebody sends who is not believed is not even looked into, and refused where it is a call")
    func notLookedInto() throws {
        let bus = try Bus()
        let large = BusValue.array(Array(repeating: .uint16(1), count: 1000), of: "q")
        #expect(try read(isAwaited: false, mayBelieve: false) { try bus.signal([large]) } == nil)
        guard case .call(let call, _)? = try read(isAwaited: false, mayBelieve: false, { try bus.call([large]) }) else {
            return #expect(Bool(false), "nobody answers it")
        }
        #expect(call.arguments.isEmpty)
        var owner = BluetoothdOwner()
        #expect(!owner.mayBelieve(":1.4") && owner.mayBelieve("org.freedesktop.DBus") && !owner.mayBelieve(""))
        owner.replied(.success([.string(":1.4")]))
        #expect(owner.mayBelieve(":1.4") && !owner.mayBelieve(":1.66"))
    }

    @Test("The socket of an answer that is waited for is the receiver's own, and outlives the message")
    func awaited() throws {
        let (bus, pair) = (try Bus(), try Pair())
        let received = try read(isAwaited: true) { try bus.reply([pair.sent, .uint16(517)]) }
        guard case .reply(Bus.cookie, .success(let values)) = received, case .descriptor(let own)? = values.first
        else {
            Issue.record("the answer cannot be read")
            return
        }
        #expect(values.last == .uint16(517) && pair.isHeldElsewhere())
        close(own)
        #expect(!pair.isHeldElsewhere())
    }

    @Test("Of an answer that cannot be read to its end nothing is kept", arguments: bodies.dropFirst())
    func malformed(body: @Sendable (BusValue) -> [BusValue]) throws {
        let (bus, pair) = (try Bus(), try Pair())
        let received = try read(isAwaited: true) { try bus.reply(body(pair.sent)) }
        guard case .reply(_, .failure) = received else {
            Issue.record("it was read: \(String(describing: received))")
            return
        }
        #expect(!pair.isHeldElsewhere())
    }

    @Test("A socket that comes with another answer than the one to a request for it is closed, and so is a second one")
    func unwanted() {
        typealias Script = BluetoothdScript
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        var script = Script.ready(device: up, resolved: true)
        let attempt = script.attempt()
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: attempt)) }
        script.others.removeAll()
        script.ask { $0.take(.readValue(of: Script.control, on: Script.headset, attempt: attempt)) }
        script.reply("ReadValue", [.descriptor(101)])
        script.ask { $0.take(.setNotifyValue(true, for: Script.eeg, on: Script.headset, attempt: attempt)) }
        script.reply("AcquireNotify", [.descriptor(102), .uint16(517), .descriptor(103)])
        script.ask { $0.take(.trustPeripheral(Script.headset)) }
        script.reply("Set", [.descriptor(104)])
        #expect(
            script.others == [
                .close(101), .close(103), .receive(102, characteristic: Script.eeg, of: Script.headset), .close(104),
            ])
    }
}
