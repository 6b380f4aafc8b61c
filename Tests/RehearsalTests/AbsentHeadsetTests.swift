import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// A headset that is away for a day.
struct AbsentHeadsetTests {
    @Test("costs a few rows a day, which say since when, how often and when last it was tried")
    func day() throws {
        let world = SimulatedWorld(seed: 7, headsets: [], start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "absent"))
        let address = PeripheralIdentifier(address: 0x00_55_DA_B0_13_24, type: .public)
        try store.control.startRecording(headset: "left", model: "muse", at: world.now)
        let driver = try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: 1_700_000_000_000_000_000,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: MuseProfile(), identifiers: [address]) })
        var batches = 0
        driver.committed = { _, _ in batches += 1 }
        let begin = world.now
        driver.advance(world, to: begin + .seconds(86_400))
        let events = try store.history(of: "left", limit: 100_000).filter { $0.kind != .process && $0.kind != .machine }
        #expect(events.count <= 16, "\(events.map { "\($0.name) \($0.count)" })")
        // What a row for each would have cost: more than 500 an hour.
        let tried = events.filter { $0.kind == .attempt }.reduce(0) { $0 + $1.count }
        #expect(tried > 24 * 500, "\(tried)")
        #expect(batches < 24 * 60 * 2, "\(batches) commits")
        let searching = try #require(events.first { $0.name == "searching" })
        #expect(searching.boottimeNanoseconds - begin.nanoseconds < 5_000_000_000)
        let last = events.compactMap(\.lastBoottimeNanoseconds).max() ?? 0
        #expect(world.now.nanoseconds - last < 100_000_000_000)
        #expect(try store.returns() == [])
    }

    @Test("A link that holds is measured once a minute")
    func linkQuality() throws {
        let world = SimulatedWorld(seed: 3, headsets: [.muse()], start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "quality"))
        try store.control.startRecording(headset: "left", model: "muse", at: world.now)
        let driver = try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: 1_700_000_000_000_000_000,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: MuseProfile()) })
        var qualities: [LinkQualityRecord] = []
        driver.committed = { batch, _ in
            for case .linkQuality(let record) in batch.changes { qualities.append(record) }
        }
        driver.advance(world, to: world.now + .seconds(630))
        #expect((10...11).contains(qualities.count))
        #expect(qualities.allSatisfy { $0.quality == LinkQuality(rssi: -60, transmitPower: 8) })
        let distances = zip(qualities, qualities.dropFirst()).map { $1.at - $0.at }
        #expect(distances.allSatisfy { $0 >= .seconds(60) && $0 < .seconds(62) }, "\(distances)")
    }
}
