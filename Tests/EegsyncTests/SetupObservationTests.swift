import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal
@testable import eegsync

/// A headset that is set up.
private struct ObservedHeadset {
    let world: SimulatedWorld
    let driver: VirtualDriver
    let watched: Watched
    let named: NamedHeadset

    final class Watched {
        var observation: HeadsetObservation
        init(_ recording: RecordingID) { observation = HeadsetObservation(recording: recording) }
    }

    /// - Parameter headsets: those in the room, of the model that is wanted.
    init(_ headsets: [HeadsetSpecification]) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: "buffered-eeg")
        world = SimulatedWorld(seed: 5, headsets: headsets, start: MonotonicTime(nanoseconds: 60_000_000_000))
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "setup"))
        let recording = try store.control.startRecording(headset: "setup-1", model: profile.model, at: world.now)
        let watched = Watched(recording)
        self.watched = watched
        driver = try VirtualDriver(
            in: world, store: store, seed: 1, unixNanosecondsAtBoot: 1_700_000_000_000_000_000,
            lookUp: { KnownHeadset(name: $0.headsetName, profile: profile) })
        driver.committed = { watched.observation.take($0, at: $1) }
        named = NamedHeadset(
            name: "left",
            candidate: SetupCandidate(
                identifier: PeripheralIdentifier(address: 1, type: .public), model: profile.model, modelName: "M"))
    }

    func result() -> SignalTest { watched.observation.test(of: named, silence: "no signal: it is looked for") }
}

/// What setting up sees of headsets: the engine, a database and a simulated radio, in virtual time.
@Suite struct SetupObservationTests {
    @Test func tenSecondsShowRateSerialNumberAndChannels() throws {
        let test = try ObservedHeadset([.buffered(number: 1, BufferedHeadsetSpecification())])
        test.driver.advance(test.world, to: test.world.now + .seconds(5))
        test.watched.observation.restart()
        #expect(test.watched.observation.duration == .zero)
        test.driver.advance(test.world, to: test.world.now + .seconds(15))
        #expect(test.watched.observation.duration >= .seconds(10) && test.watched.observation.isJudged)
        let result = test.result()
        #expect(result.isGood, "\(result)")
        #expect(result.serialNumber != nil)
        let stream = try #require(result.streams.first)
        #expect(abs((stream.measuredFrequency ?? 0) - stream.samplingFrequency) < 1, "\(stream)")
        #expect(stream.missing == 0 && !result.channels.isEmpty)
    }

    @Test func whereNothingComesTheTestSaysSo() throws {
        let test = try ObservedHeadset([])
        test.driver.advance(test.world, to: test.world.now + .seconds(30))
        #expect(test.watched.observation.duration == .zero && !test.watched.observation.isJudged)
        #expect(test.result().problems == ["no signal: it is looked for"])
    }

    @Test func wrongRatesMissingSamplesAndFlatChannelsAreNamed() {
        func problems(_ measured: Double?, missing: Int64 = 0, condition: String = "good") -> [String] {
            SignalTest(
                name: "left", address: "", seconds: 10,
                streams: [
                    .init(name: "eeg", samplingFrequency: 250, measuredFrequency: measured, samples: 2500, missing: missing)
                ],
                channels: [
                    .init(stream: "eeg", name: "TP9", condition: condition),
                    .init(stream: "eeg", name: "AF7", condition: "good"),
                ]
            ).problems
        }
        #expect(problems(250) == [] && problems(260) == [])
        #expect(problems(125) == ["eeg comes with 125 Hz instead of 250 Hz"])
        #expect(problems(nil) == ["nothing comes of eeg"])
        #expect(problems(250, missing: 500) == ["17 % of eeg are missing"])
        #expect(problems(250, condition: "flat") == ["flat: TP9"])
        #expect(problems(250, condition: "noContact") == ["no contact with the skin: TP9"])
    }
}
