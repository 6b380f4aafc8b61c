import Bluetooth
import Glibc
import Testing

@testable import BluetoothManagement

/// The kernel's word on radio switches, from a pipe in its place.
struct RadioSwitchWatchTests {
    @Test("All that was told is one change, and no news are none")
    func takesAll() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        var watched: [Int32] = []
        let watch = RadioSwitchWatch(
            adopting: ends[0],
            watch: DescriptorWatch(
                watch: { watched.append($0) }, unwatch: { member in watched.removeAll { $0 == member } }))
        #expect(watched == [ends[0]])
        #expect(!watch.takeChange())
        for isBlocked in [1, 0] as [UInt8] {
            // Number 0, type Bluetooth (2), RFKILL_OP_CHANGE (2), soft, hard.
            let event: [UInt8] = [0, 0, 0, 0, 2, 2, isBlocked, 0]
            #expect(write(ends[1], event, event.count) == event.count)
        }
        #expect(watch.takeChange() && !watch.takeChange())
        // What cannot be read any more would be readable for ever.
        close(ends[1])
        #expect(watch.takeChange() && watch.descriptor == nil && watched.isEmpty)
        #expect(!watch.takeChange())
    }
}
