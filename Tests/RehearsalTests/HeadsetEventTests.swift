import Bluetooth
import Headsets
import Storage
import Testing

@testable import Rehearsal
@testable import Simulation

/// What a headset marks is stored of the sample that it means.
@Suite("Events at the headset's time")
struct HeadsetEventTests {
    /// One stored annotation of the headset.
    private struct Event {
        var n: Int64?
        var deviceTicks: Int64?
        var code: Int64?
        var description: String
        /// The value of the first channel there; nil where the sample is missing.
        var value: Int32?
    }

    private static func events(of room: Room, stream: String) throws -> [Event] {
        let annotations = try room.store.annotations(of: room.recording).filter { $0.source == "headset" }
        let reader = try room.store.reader(of: room.recording)
        let id = try #require(reader.contents.streams.first { $0.description.name == stream }?.id)
        return try annotations.map { annotation in
            var value: Int32?
            if let n = annotation.n {
                try reader.forEachChunk(of: id, in: n...n, rowsPerChunk: 1) { value = $0.values.first }
            }
            return Event(
                n: annotation.n, deviceTicks: annotation.deviceTicks, code: annotation.code,
                description: annotation.description, value: value)
        }
    }

    @Test("An Explore's trigger is of the sample that was taken nearest to its 10 us tick, over lost links too")
    func explore() throws {
        let room = try Room([.explore()], model: ExploreProfile())
        try room.run(.seconds(40))
        room.world.schedule(ScriptedFault(at: room.world.now, .outOfRange, for: .seconds(12)))
        try room.run(.seconds(60))
        let sessions = try #require(room.world.headsets[0].sessions)
        let events = try Self.events(of: room, stream: "eeg")
        #expect(events.count >= 20, "\(events.count)")
        let known = events.filter { $0.n != nil }
        // Only before the first EEG of a link nothing shows the sample.
        #expect(events.count - known.count <= 2, "\(events)")
        for event in known {
            let ticks = try #require(event.deviceTicks)
            #expect(
                event.code == ticks / Int64(ExploreHeadset.triggerPeriod) && ticks % Int64(ExploreHeadset.triggerPeriod) == 0)
            #expect(event.description == "Trigger in \(ticks / Int64(ExploreHeadset.triggerPeriod))")
            // 250 Hz: 400 ticks a sample.
            let index = Int64((Double(ticks) / 400).rounded())
            let values = sessions.sessions.indices.map { session in
                sessions.sent(
                    session: session, stream: ExploreProfile.eeg, channel: 0,
                    position: index - sessions.sessions[session].firstIndexes[ExploreProfile.eeg])
            }
            if let value = event.value { #expect(values.contains(value), "\(event)") }
        }
        #expect(known.count { $0.value != nil } >= 15)
        #expect(try room.store.audit().holds)
    }
}
