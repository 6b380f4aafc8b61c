import Bluetooth
import Headsets
import Reconnection
import Storage
import Testing

@testable import Acquisition

/// Channels that hold triggers: what changes in them is an event, of the sample at which it changes.
@Suite("Channels of triggers")
struct TriggerChannelsTests {
    private static func description(counterModulus: Int64? = 256) -> StreamDescription {
        func channel(_ name: String, _ type: String) -> ChannelDescription {
            ChannelDescription(name: name, type: type, unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 255)
        }
        return StreamDescription(
            name: "inputs", samplingFrequency: 100, counterModulus: counterModulus,
            channels: [channel("Ch1", "EEG"), channel("GPIO", "TRIG")])
    }

    private static func block(_ counter: UInt32?, _ triggers: [Int32], _ origin: SampleBlock.Origin = .live) -> (
        SampleBlock, [Int32]
    ) {
        let values: [Int32] = triggers.flatMap { [Int32(7), $0] }
        return (
            SampleBlock(
                stream: 0, counter: counter, channelCount: 2, instantCount: triggers.count, values: 0..<values.count,
                origin: origin, deviceTicks: counter.map { UInt64($0) * 10 }), values
        )
    }

    @Test("A change to a value other than 0 counts, not what the first sample has, nor a return to 0")
    func changes() {
        var channels = TriggerChannels(Self.description())
        #expect(!channels.isEmpty)
        func changes(_ triggers: [Int32], _ origin: SampleBlock.Origin = .live, isNew: (Int) -> Bool = { _ in true })
            -> [String]
        {
            let (block, values) = Self.block(0, triggers, origin)
            return channels.changes(in: block, values[...], isNew: isNew).map { change in
                guard case .value(let value) = change.kind else { return "\(change.kind)" }
                return "\(change.channel) \(change.instant) \(value)"
            }
        }
        #expect(changes([3, 3, 0, 5]) == ["GPIO 3 5"])
        #expect(changes([5, 5, 0]) == [])
        // What is read from memory goes on from what was read before, and counts where it is new.
        #expect(changes([9, 8], .memory) == ["GPIO 1 8"])
        #expect(changes([8, 6, 4], .memory, isNew: { $0 == 2 }) == ["GPIO 2 4"])
        channels.beginLink()
        #expect(changes([2], .memory) == [])
        #expect(changes([1]) == ["GPIO 0 1"])
        var motion = Self.description()
        motion.channels[1].type = "MISC"
        #expect(TriggerChannels(motion).isEmpty)
    }

    @Test("An input that nothing is connected to does not fill the database: what is not entered is counted")
    func floatingInput() {
        var channels = TriggerChannels(Self.description())
        var (entered, counted, reports) = (0, 0, 0)
        // An hour that changes with each sample of 100 in a second, then ten seconds of rest.
        for second in 0..<3610 {
            let triggers: [Int32] = (0..<100).map { second < 3600 ? Int32(1 + $0 % 2) : 2 }
            let (block, values) = Self.block(UInt32(second % 256), triggers)
            for change in channels.changes(in: block, values[...], isNew: { _ in true }) {
                switch change.kind {
                case .value: entered += 1
                case .notEntered(let count): (counted, reports) = (counted + count, reports + 1)
                }
            }
        }
        #expect(entered + counted == 3600 * 100 - 1, "each change is entered or counted")
        #expect((36_000...36_700).contains(entered), "\(entered)")
        #expect((1...61).contains(reports), "\(reports)")
    }

    @Test("The event has stream, n, code, and the clock where that is sent for it", arguments: [256, nil])
    func events(counterModulus: Int64?) throws {
        let resume = ResumeState(
            headset: HeadsetID(rawValue: 1), recording: RecordingID(rawValue: 1), identifiers: [], identityProof: nil,
            preservedJSON: nil, streams: [], nextStreamID: 5)
        var (streams, _) = RecordedStreams.resuming(resume, montage: nil)
        var next = StreamID(rawValue: 5)
        _ = try streams.adopt(
            [Self.description(counterModulus: counterModulus)], nextID: &next, limits: AcquisitionLimits(), at: .boot)
        let link = Link(
            identifier: PeripheralIdentifier(address: 1, type: .public), layer: .scan, layerBegan: .boot,
            connectAttempt: Attempt(number: 1, machine: 1))
        streams.beginLink(StreamingSession(link), of: BufferedEEGProfile())
        var found: [RecordedStreams.Trigger] = []
        for (index, triggers) in [[0, 0, 1], [1, 1, 1], [2, 0, 3]].enumerated() {
            let (block, values) = Self.block(counterModulus.map { _ in UInt32(40 + 3 * index) }, triggers.map(Int32.init))
            let taken = streams.take(
                block, values[...], at: MonotonicTime(nanoseconds: Int64(index) * 30_000_000), hasRoom: true,
                overflowCause: .queueOverflow, readsMemory: false)
            found += taken.triggers
        }
        let id = StreamID(rawValue: 5)
        #expect(found.map(\.event.code) == [1, 2, 3])
        #expect(found.map(\.event.description) == ["Trigger 1 (GPIO)", "Trigger 2 (GPIO)", "Trigger 3 (GPIO)"])
        #expect(found.map(\.sample) == [2, 6, 8].map { AnnotatedSample(stream: id, n: $0) })
        #expect(found.map(\.event.deviceTicks) == (counterModulus == nil ? [nil, nil, nil] : [400, nil, 460]))
    }
}
