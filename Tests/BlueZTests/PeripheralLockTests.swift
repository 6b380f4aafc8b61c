import Bluetooth
import Testing

@testable import BlueZ

/// A peripheral and the lock of its adapter.
struct PeripheralLockTests {
    @Test("A peripheral that has an adapter lets those go who ask for it, in each turn")
    func dismissesQuestions() {
        var count = 0
        let peripheral = BlueZPeripheral(
            adapter: nil, mayUse: { _ in false }, dismissQuestions: { count += 1 },
            watch: DescriptorWatch(watch: { _ in }, unwatch: { _ in }))
        for second in 1...3 {
            _ = peripheral.process(at: MonotonicTime.boot + .seconds(second))
            #expect(count == second)
        }
    }
}
