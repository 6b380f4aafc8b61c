import Bluetooth
import Glibc
import Testing

@testable import BluetoothManagement

/// The kernel's word on radio switches, from a socket in its place: each event is read by itself.
struct RadioSwitchWatchTests {
    @Test("All that was told is one change, and no news are none")
    func takesAll() {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        var watched: [Int32] = []
        let watch = RadioSwitchWatch(
            adopting: ends[0],
            watch: DescriptorWatch(
                watch: { watched.append($0) }, unwatch: { member in watched.removeAll { $0 == member } }))
        #expect(watched == [ends[0]])
        #expect(watch.takeChange() == nil)
        func report(_ number: UInt8, _ operation: UInt8, soft: UInt8, hard: UInt8) {
            // The number, least significant byte first on these machines, and type Bluetooth (2).
            let event: [UInt8] = [number, 0, 0, 0, 2, operation, soft, hard]
            #expect(write(ends[1], event, event.count) == event.count)
        }
        // RFKILL_OP_CHANGE (2): blocked, and not any more. It shows all the same.
        report(7, 2, soft: 1, hard: 0)
        report(7, 2, soft: 0, hard: 0)
        // RFKILL_OP_ADD (0), and RFKILL_OP_DEL (1), which says nothing of it.
        report(3, 0, soft: 0, hard: 1)
        report(4, 1, soft: 1, hard: 0)
        #expect(watch.takeChange() == RadioSwitchWatch.Change(blocked: [7, 3]))
        report(7, 2, soft: 0, hard: 0)
        #expect(watch.takeChange() == RadioSwitchWatch.Change() && watch.takeChange() == nil)
        // What cannot be read any more would be readable for ever.
        close(ends[1])
        #expect(watch.takeChange() != nil && watch.descriptor == nil && watched.isEmpty)
        #expect(watch.takeChange() == nil)
    }
}
