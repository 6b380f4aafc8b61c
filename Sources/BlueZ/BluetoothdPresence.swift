import Bluetooth
import CLinux
import CSystemd

/// Whether bluetoothd is there, without a central for it: a connection to the system bus that follows who owns `org.bluez`.
///
/// To be asked by the thread that stamps the arrival of samples, which waits for nobody. Made before there are any.
package final class BluetoothdPresence {
    /// How long the bus has for its first answer, in microseconds: it takes a millisecond. Nobody waits longer for one that
    /// hangs.
    private static let answerMicroseconds: UInt64 = 200_000

    /// How often the bus is tried again: where there is none, each try costs a socket.
    private static let connectPause = Duration.seconds(1)

    private let open: () -> BusConnection?
    private let readClock: () -> MonotonicTime
    private var nextTry = MonotonicTime.boot
    private var bus: BusConnection?
    private var owner = BluetoothdOwner()
    /// The call that asks who owns the name, as long as it was not answered.
    private var question: UInt64?

    /// Asks the bus, and waits for its answer, 0.2 s at most. That systemd could start bluetoothd on demand does not count: a
    /// question does not start it.
    package convenience init() {
        self.init(
            open: { try? BusConnection() },
            readClock: { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) })
    }

    /// The same with another bus and another clock.
    init(open: @escaping () -> BusConnection?, readClock: @escaping () -> MonotonicTime) {
        self.open = open
        self.readClock = readClock
        connect()
        var rest = Self.answerMicroseconds
        while question != nil, rest > 0, let bus {
            rest = bus.wait(microseconds: rest)
            receive()
        }
    }

    /// True where somebody owns the name `org.bluez` on the system bus, as far as the bus has said. False where there is no
    /// bus. Never waits.
    package var isRunning: Bool {
        if bus == nil { connect() }
        receive()
        return owner.uniqueName != nil
    }

    /// The same for who asks once.
    package static func isOnBus() -> Bool { BluetoothdPresence().isRunning }

    private func connect() {
        let now = readClock()
        guard nextTry <= now else { return }
        nextTry = now + Self.connectPause
        bus = open()
        bus?.addMatch(BluetoothdOwner.matchRule)
        question = bus?.send(BluetoothdOwner.question(CallNumber(rawValue: 0)))
    }

    private func receive() {
        for _ in 0..<BusConnection.turnLimit {
            guard let received = bus?.receive(isAwaited: { $0 == question }, mayBelieve: owner.mayBelieve) else { return }
            switch received {
            case .reply(_, let result):
                question = nil
                owner.replied(result)
            case .signal(let signal): _ = owner.received(signal)
            case .call, .nothing: break
            case .lost:
                bus = nil
                question = nil
                owner.reset()
            }
        }
    }
}
