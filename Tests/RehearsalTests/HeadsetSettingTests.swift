import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// A headset that a person has set: what is stored means the same voltages, whatever the gain.
struct HeadsetSettingTests {
    private static func profile(gain: [String]) throws -> any HeadsetProfile {
        var settings = HeadsetSettings()
        try settings.state("gain", gain, isList: true, of: HermesProfile().settings)
        return HermesProfile().choosing(settings: settings)
    }

    /// Runs a daemon for some time; it ends as by `kill -9`.
    private static func run(_ world: SimulatedWorld, _ store: AcquisitionStore, _ profile: any HeadsetProfile, seconds: Int)
        throws
    {
        let driver = try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: 1_700_000_000_000_000_000,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: profile) })
        driver.advance(world, to: world.now + .seconds(seconds))
    }

    /// The lowest and the highest microvolts of a channel in a stream, from the stored counts and the stored scale.
    private static func range(_ reader: RecordingReader, _ stream: StreamContents, channel: Int) throws -> ClosedRange<Double> {
        let description = stream.description
        var (low, high) = (Double.infinity, -Double.infinity)
        try reader.forEachChunk(of: stream.id, in: 0...Int64.max, rowsPerChunk: 1000) { chunk in
            for row in chunk.n.indices {
                let raw = chunk.values[row * description.channels.count + channel]
                let value = Double(raw) * description.channels[channel].scale
                (low, high) = (min(low, value), max(high, value))
            }
        }
        #expect(low < high)
        return low...max(low, high)
    }

    @Test("Another gain gives a stream of its own with its scale; what was stored before stays, and the voltages are the same")
    func anotherGain() throws {
        let world = SimulatedWorld(seed: 5, headsets: [.hermes()], start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "settings"))
        let recording = try store.control.startRecording(headset: "left", model: "hermes", at: world.now)
        try Self.run(world, store, HermesProfile(), seconds: 40)
        let before = try store.reader(of: recording).contents.streams.map(\.description)
        try Self.run(world, store, Self.profile(gain: ["24", "12", "1"]), seconds: 40)
        try Self.run(world, store, Self.profile(gain: ["24", "12", "1"]), seconds: 10)
        let reader = try store.reader(of: recording)
        #expect(before.allSatisfy { old in reader.contents.streams.contains { $0.description == old } })
        let eeg = reader.contents.streams.filter { $0.description.name.hasPrefix("eeg") }.sorted { $0.id < $1.id }
        try #require(eeg.count == 2 && eeg.allSatisfy { $0.position == HermesProfile.eeg })
        let causes = eeg[0].gaps.map { "\($0.cause) \($0.firstN) \($0.count) \($0.channel)" }
        // From the last commit of the killed daemon to the link on which the other shape begins.
        #expect(eeg[0].gaps.map(\.cause) == [.daemonDown] && (eeg[0].gaps.first?.count ?? 0) > 0, "\(causes)")
        let usual = eeg[0].description.channels[0].scale
        #expect(eeg[0].description.channels.allSatisfy { $0.scale == usual })
        let ratios = eeg[1].description.channels.map { ($0.scale / usual * 1000).rounded() / 1000 }
        #expect(ratios == [0.5, 1, 12, 1, 1, 1, 1, 1])
        for channel in 0..<3 {
            let old = try Self.range(reader, eeg[0], channel: channel)
            let new = try Self.range(reader, eeg[1], channel: channel)
            // The electrode's offset is the same; what goes on about it is below 500 µV.
            #expect(abs(old.lowerBound - new.lowerBound) < 500 && abs(old.upperBound - new.upperBound) < 500)
            #expect(old.upperBound - old.lowerBound < 1500 && new.upperBound - new.lowerBound < 1500)
        }
    }

    @Test("The same settings go on in the same streams after the daemon was killed")
    func sameGain() throws {
        let world = SimulatedWorld(seed: 6, headsets: [.hermes()], start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "settings"))
        let recording = try store.control.startRecording(headset: "left", model: "hermes", at: world.now)
        for _ in 0..<2 { try Self.run(world, store, Self.profile(gain: ["24"]), seconds: 20) }
        let streams = try store.reader(of: recording).contents.streams.map(\.description.name)
        #expect(streams == ["eeg", "accelerometer", "gyroscope", "magnetometer"])
    }
}
