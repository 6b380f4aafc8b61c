import Bluetooth
import BluetoothManagement
import Testing

@testable import KernelBluetooth

/// What one process keeps for the next of a person's switching off.
@Suite struct PowerMemoryTests {
    /// A process with an adapter, and what it keeps.
    private final class Process {
        var memory: PowerMemory
        var isBluetoothdRunning = false
        private(set) var now = MonotonicTime.boot
        private(set) var kept: [PowerMemory.Change] = []

        init(switchedOff: [UInt64] = []) { memory = PowerMemory(switchedOff: switchedOff) }

        /// The adapter is in a state. Returns whether it is to be switched on.
        func see(_ state: AdapterState, after pause: Duration = .zero) -> Bool {
            now = now + pause
            let isRunning = isBluetoothdRunning
            let wants = memory.wantsPower(7, on: ControllerIndex(rawValue: 0), in: state, at: now) { isRunning }
            kept += memory.takeChanges()
            return wants
        }

        func remove() { memory.removed(ControllerIndex(rawValue: 0), at: now) }
    }

    private let off = PowerMemory.Change(address: 7, isSwitchedOff: true)
    private let on = PowerMemory.Change(address: 7, isSwitchedOff: false)

    @Test func whatAPersonSwitchesOffIsKeptOnceItIsSureAndForgottenWhenItIsOnAgain() throws {
        let process = Process()
        #expect(!process.see(.poweredOn))
        #expect(!process.see(.poweredOff, after: .seconds(10)))
        #expect(process.memory.deadline(of: 7) == process.now + PowerMemory.removalLimit)
        #expect(!process.see(.poweredOff, after: .milliseconds(2999)) && process.kept.isEmpty)
        #expect(!process.see(.poweredOff, after: .milliseconds(1)) && process.kept == [off])
        #expect(!process.see(.poweredOff, after: .seconds(60)) && process.kept == [off], "once")
        #expect(process.memory.deadline(of: 7) == nil)
        #expect(!process.see(.poweredOn) && process.kept == [off, on])
    }

    @Test func theNextProcessLeavesItOffWhateverHappensUntilItIsOn() {
        let process = Process(switchedOff: [7])
        #expect(!process.see(.poweredOff) && process.memory.deadline(of: 7) == nil)
        process.remove()
        #expect(!process.see(.poweredOff, after: .seconds(1)), "right after the start of the machine, too")
        #expect(!process.see(.blocked))
        #expect(!process.see(.poweredOff, after: .seconds(60)) && process.kept.isEmpty)
        #expect(!process.see(.poweredOn) && process.kept == [on])
        #expect(!process.see(.blocked) && process.see(.poweredOff, after: .seconds(1)), "it is on again as it was")
        // Any other adapter that is off when it appears is switched on.
        let other = Process(switchedOff: [8])
        #expect(other.see(.poweredOff))
    }

    @Test func anAdapterThatIsPulledOutIsNotKept() {
        let process = Process()
        _ = process.see(.poweredOn)
        _ = process.see(.poweredOff)
        process.remove()
        #expect(process.see(.poweredOff, after: .seconds(5)) && process.kept.isEmpty)
    }

    @Test func whatBluetoothdSwitchesOffWhenTheMachineShutsDownIsNotKept() {
        let process = Process()
        process.isBluetoothdRunning = true
        _ = process.see(.poweredOn)
        for _ in 0..<9 { #expect(!process.see(.poweredOff, after: .seconds(1)) && process.kept.isEmpty) }
        process.isBluetoothdRunning = false
        #expect(process.see(.poweredOff, after: .seconds(1)) && process.kept.isEmpty)
        // One that goes on running has done nothing.
        process.isBluetoothdRunning = true
        _ = process.see(.poweredOn)
        for _ in 0..<12 { _ = process.see(.poweredOff, after: .seconds(1)) }
        #expect(process.kept == [off])
    }
}
