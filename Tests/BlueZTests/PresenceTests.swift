import Bluetooth
import Testing

@testable import BlueZ

/// Whether bluetoothd is there, on a machine without a system bus.
@Suite struct PresenceTests {
    @Test("Whoever asks with each packet makes no connection with each packet")
    func pauses() {
        var tries = 0
        var now = MonotonicTime(nanoseconds: 5_000_000_000)
        let presence = BluetoothdPresence(
            open: {
                tries += 1
                return nil
            }, readClock: { now })
        for _ in 0..<100 { #expect(!presence.isRunning) }
        #expect(tries == 1)
        now = now + .seconds(1)
        for _ in 0..<100 { #expect(!presence.isRunning) }
        #expect(tries == 2)
    }
}
