import Bluetooth
import Headsets
import Rehearsal
import Simulation
import Storage
import Testing

@testable import Acquisition

/// A Muse S Athena that comes back with another preset than it was told.
struct AthenaShapeTests {
    private static let identifier = PeripheralIdentifier(address: 0x00_55_DA_B0_13_24, type: .public)

    private final class Bench {
        let store: AcquisitionStore
        let driver: VirtualDriver
        let central = WillingCentral(
            AthenaShapeTests.identifier, characteristics: [MuseService.control, MuseService.multiplexed])
        private(set) var recording = RecordingID(rawValue: 0)
        private var now = MonotonicTime(nanoseconds: 1_000_000_000)
        private var number: UInt8 = 0
        /// Instants of EEG that were sent while samples were expected.
        private(set) var sent: Int64 = 0

        init() throws {
            store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "test"))
            recording = try store.control.startRecording(headset: "left", model: "muse", at: now)
            let known = KnownHeadset(
                name: "left", profile: MuseProfile(preset: "p1041", variant: .unknown),
                identifiers: [AthenaShapeTests.identifier])
            driver = try VirtualDriver(
                central: central, store: store, seed: 1, lookUp: { _ in known },
                readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
        }

        var isStreaming: Bool { driver.engine.headsets.first?.phase == .streaming }

        /// Blocks of EEG for so many milliseconds.
        func send(_ tag: MuseAthenaPacket.Tag, milliseconds: Int) throws {
            let instants = tag == .eeg8 ? 2 : 4
            let end = now + .milliseconds(milliseconds)
            while now < end {
                let content = MuseAthenaPacket.packed([Int32](repeating: 7, count: 16), width: 14)
                central.notify(
                    MuseAthenaPacket.encoded(index: 0, deviceMilliseconds: 0, blocks: [(tag, number, content)]),
                    from: MuseService.multiplexed, at: now)
                number &+= 1
                if isStreaming { sent += Int64(instants) }
                try pass(.nanoseconds(Int64(instants) * 1_000_000_000 / 256))
            }
        }

        func pass(_ duration: Duration) throws {
            let end = now + duration
            driver.step(at: now)
            while let due = driver.deadline, due <= end {
                now = max(now, due)
                driver.step(at: now)
            }
            now = end
        }

        /// Rows of EEG by the width of their stream.
        func rows() throws -> [Int: Int64] {
            let widths = try store.reader(of: recording).contents.streams.filter { $0.description.name.hasPrefix("eeg") }
            return widths.reduce(into: [:]) { $0[$1.description.channels.count, default: 0] += $1.rowCount }
        }
    }

    @Test("All is stored where its first blocks come before samples are expected", arguments: [true, false])
    func early(isEarly: Bool) throws {
        let bench = try Bench()
        try bench.pass(.milliseconds(1))
        while !bench.isStreaming { try bench.send(.eeg8, milliseconds: 100) }
        try bench.send(.eeg8, milliseconds: 20_000)
        let wide = bench.sent
        bench.central.breakLink()
        try bench.pass(.milliseconds(600))
        // Its blocks flow from the connection on, or only once it was started.
        while !bench.isStreaming {
            if isEarly { try bench.send(.eeg4, milliseconds: 50) } else { try bench.pass(.milliseconds(50)) }
        }
        try bench.send(.eeg4, milliseconds: 20_000)
        try bench.pass(.seconds(2))
        let rows = try bench.rows()
        #expect(abs((rows[8] ?? 0) - wide) <= 4)
        #expect(abs((rows[4] ?? 0) - (bench.sent - wide)) <= 8)
        #expect(try bench.store.audit().holds)
    }

    @Test("One that always sends another preset than it is told gets no further streams with each link")
    func lasting() throws {
        let bench = try Bench()
        for _ in 0..<30 {
            try bench.pass(.milliseconds(1))
            while !bench.isStreaming { try bench.pass(.milliseconds(100)) }
            try bench.send(.eeg4, milliseconds: 3000)
            bench.central.breakLink()
            try bench.pass(.milliseconds(600))
        }
        let streams = try bench.store.reader(of: bench.recording).contents.streams
        #expect(streams.count { $0.description.name.hasPrefix("eeg") } <= 2)
        #expect(bench.driver.engine.headsets.first?.phase != .quarantined)
        #expect(try bench.store.audit().holds)
    }
}
