import Bluetooth
import Headsets
import Testing

@testable import Storage

/// What whoever watches over recordings reads every few seconds.
@Suite struct WatchTests {
    private let store: AcquisitionStore

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        try Fixture.record(into: store)
    }

    private func watched(_ window: Duration = .seconds(10), at seconds: Double = 15) throws -> [WatchedRecording] {
        try store.watchedRecordings(at: Fixture.start + .seconds(seconds), window: window)
    }

    @Test func theNewestSampleOfEachStreamHasItsTime() throws {
        let recording = try #require(try watched().first)
        #expect(recording.headset.name == "muse-1" && recording.headset.isWanted)
        #expect(recording.wantedSince == Fixture.start)
        #expect(recording.streams.map(\.name) == ["eeg", "accelerometer"])
        let ages = recording.streams.compactMap(\.lastSample).map { ($0.time - Fixture.start).inSeconds }
        #expect(ages.count == 2 && abs(ages[0] - 2559.0 / 256) < 1e-6 && abs(ages[1] - 519.0 / 52) < 1e-6)
        #expect(recording.streams.first?.signals.map(\.check.condition) == [.good, .lineNoise, .flat])
    }

    @Test func whatIsMissingInTheWindowIsAShareOfIt() throws {
        // 156 of 256 rows were not recovered; a quarter of 12 rows lacks one of four channels.
        let whole = try #require(try watched().first?.streams.first?.missingFraction)
        #expect(abs(whole - (156 + 12 / 4) / 2560) < 1e-9)
        // The window begins at row 640, within the gap: half of what was not recovered counts.
        let part = try #require(try watched(.seconds(7.5)).first?.streams.first?.missingFraction)
        #expect(abs(part - (156.0 / 2 + 12 / 4) / 1920) < 1e-9)
        // The window begins behind both.
        #expect(try watched(.seconds(5)).first?.streams.first?.missingFraction == 0)
    }

    @Test func aYoungStreamIsNotJudged() throws {
        #expect(try watched(.seconds(600)).first?.streams.map(\.missingFraction) == [nil, nil])
        #expect(try watched(.seconds(100)).first?.streams.first?.missingFraction != nil)
    }

    @Test func whatWasNeverMeantToComeIsNotMissing() throws {
        var batch = WriteBatch(number: 9)
        batch.samples = [Fixture.rows(Fixture.eeg, 2660..<2816, channels: 4)]
        batch.changes += [
            .ledger(.open(stream: Fixture.eeg, firstN: 2560, channel: 0, count: 100, cause: .notSent, noticed: Fixture.start))
        ]
        try store.commit(batch)
        #expect(try watched(.seconds(1)).first?.streams.first?.missingFraction == 0)
    }

    @Test func aStoppedRecordingIsNotWatched() throws {
        try store.control.stopRecording(headset: "muse-1", at: Fixture.start + .seconds(20))
        #expect(try watched().isEmpty)
    }

    @Test func theEndOfAPauseIsWhenSamplesCouldComeAgain() throws {
        try store.control.pause(at: Fixture.start + .seconds(11))
        try store.control.resume(at: Fixture.start + .seconds(13))
        #expect(try watched().first?.wantedSince == Fixture.start + .seconds(13))
    }

    @Test func anEarlierBootsRecordingIsWantedSinceTheMachineBooted() throws {
        let later = try AcquisitionStore(store.database, hostBoot: Fixture.secondBoot)
        #expect(try later.watchedRecordings(at: .boot + .seconds(5), window: .seconds(10)).map(\.wantedSince) == [.boot])
    }
}
