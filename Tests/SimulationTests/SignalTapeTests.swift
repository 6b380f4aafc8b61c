import Bluetooth
import Headsets
import Simulation
import Testing

/// A tape is sent as it is, with what it lacks left out, and nothing else.
struct SignalTapeTests {
    /// A tape whose values differ from instant to instant, and of which some stretches are missing.
    private final class Tape: SignalTape {
        let duration: Duration? = .seconds(20)
        /// By stream: what is missing, and of which channel; nil for all.
        let gaps: [(stream: Int, positions: Range<Int64>, channel: Int?)]
        private let values: @Sendable (_ stream: Int, _ channel: Int, _ position: Int64) -> Int32

        init(
            gaps: [(stream: Int, positions: Range<Int64>, channel: Int?)],
            values: @escaping @Sendable (_ stream: Int, _ channel: Int, _ position: Int64) -> Int32
        ) {
            self.gaps = gaps
            self.values = values
        }

        /// How often it was looked at.
        private(set) var lookupCount = 0

        func value(stream: Int, channel: Int, position: Int64) -> Int32? {
            lookupCount += 1
            let isMissing = gaps.contains {
                $0.stream == stream && $0.positions.contains(position) && ($0.channel ?? channel) == channel
            }
            return isMissing || position < 0 ? nil : values(stream, channel, position)
        }
    }

    /// A headset, and how the samples of its first stream stand in packets.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var specification: HeadsetSpecification
        var profile: any HeadsetProfile
        /// What is sent together with an instant, or needs it: nothing of these positions comes where one is missing.
        var bound: @Sendable (_ position: Int64) -> Range<Int64>
        /// True where one channel that is missing leaves the others out.
        var sendsRows = true
        /// Instants that are never sent.
        var isUnsent: @Sendable (_ position: Int64) -> Bool = { _ in false }

        var testDescription: String { name }
    }

    private static let cycle = Int64(GanglionService.cycleLength)

    static let cases: [Case] = [
        Case(
            name: "muse", specification: .muse(), profile: MuseProfile(), bound: { $0 / 12 * 12..<$0 / 12 * 12 + 12 },
            sendsRows: false),
        Case(
            name: "ganglion", specification: .ganglion(), profile: GanglionProfile(),
            bound: { position in
                let first = position - position % cycle % 2
                return first..<first + 2
            }, isUnsent: { $0 % cycle == cycle - 1 }),
        Case(
            name: "ganglion2", specification: .ganglion(GanglionSpecification(firmware: .version2)), profile: GanglionProfile(),
            // Differences of a cycle add up.
            bound: { position in
                let within = position % cycle
                return position - within..<position - within + (within + 1) / 2 * 2 + 1
            }),
        Case(name: "hermes", specification: .hermes(), profile: HermesProfile(), bound: { $0 / 10 * 10..<$0 / 10 * 10 + 10 }),
        Case(name: "buffered-eeg", specification: .buffered(), profile: BufferedEEGProfile(), bound: { $0..<$0 + 1 }),
    ]

    /// Values that each headset can send without a loss: the Ganglion's firmware 3 sends the highest 17 bits of 24, and 2
    /// differences whose lowest bit is the sign.
    private static func tape(_ model: Case, gaps: [(stream: Int, positions: Range<Int64>, channel: Int?)]) -> Tape {
        let name = model.name
        return Tape(gaps: gaps) { stream, channel, position in
            let turn = Int32(position % 97)
            if stream > 0 { return turn + Int32(channel) }
            switch name {
            case "ganglion": return (turn * 31 + Int32(channel)) * 128
            case "ganglion2": return Int32(channel) * 1000 + Int32(position / 2) - (position % 2 == 0 ? 0 : 4)
            default: return 100 + turn * 13 + Int32(channel)
            }
        }
    }

    /// By stream: the index with which the tape begins.
    private static func firstIndexes(_ host: HostedHeadset) -> [Int64] {
        if let boot = host.headset.buffered?.bootHistory.first { return boot.streams.map { $0.runs.first?.start ?? 0 } }
        return host.headset.sessions?.sessions.first?.firstIndexes ?? []
    }

    @Test("what is decoded is the tape, and all of it but the packets that it does not hold whole", arguments: cases)
    func isSent(_ model: Case) throws {
        // Of all channels, and of the second one alone; neither begins with a packet.
        let tape = Self.tape(model, gaps: [(0, 505..<533, nil), (0, 1157..<1158, 1)])
        var host = HostedHeadset(model.specification, profile: model.profile, tape: tape)
        host.start()
        host.run(seconds: 9)
        let streams = model.profile.memory == .none ? host.profile.streams : [BufferedHeadsetSpecification.eeg()]
        let first = Self.firstIndexes(host)
        let located = host.located(in: streams, firstIndexes: first)
        let wrong = located.filter {
            $0.value != tape.value(stream: $0.block.stream, channel: $0.channel, position: $0.position)
        }
        #expect(wrong.count == 0, "\(wrong.prefix(2))")
        var sent: [Int: Set<Int64>] = [:]
        for one in located where one.block.stream == 0 { sent[one.channel, default: []].insert(one.position) }
        #expect(sent.count == streams[0].channels.count)
        for (channel, positions) in sent {
            let (begin, last) = (try #require(positions.min()), try #require(positions.max()))
            #expect(begin < 400 && last > 1400)
            let channels = model.sendsRows ? 0..<streams[0].channels.count : channel..<channel + 1
            let odd = (begin..<last).filter { position in
                let isWhole = model.bound(position).allSatisfy { instant in
                    channels.allSatisfy { tape.value(stream: 0, channel: $0, position: instant) != nil }
                }
                return !model.isUnsent(position) && positions.contains(position) != isWhole
            }
            #expect(odd.count == 0, "channel \(channel) at \(odd.prefix(3))")
        }
    }

    @Test("it begins with the first sample, and goes on with the time while a headset does not sample", arguments: cases)
    func goesOn(_ model: Case) throws {
        let tape = Self.tape(model, gaps: [])
        let drop = ScriptedFault(at: MonotonicTime(nanoseconds: 15_000_000_000), .headsetDisconnect)
        var host = HostedHeadset(model.specification, profile: model.profile, script: [drop], tape: tape)
        host.start()
        host.run(seconds: 20 - Double(host.bench.world.now.nanoseconds) / 1e9)
        host.start()
        host.run(seconds: 2)
        guard let headset = host.headset.sessions else { return }
        let sessions = headset.sessions
        try #require(sessions.count == 2)
        let away = (sessions[1].began - sessions[0].began).inSeconds
        for stream in host.profile.streams.indices {
            // The same instant of the tape, but for what aligns packets.
            let nominal = Int64(away * sessions[0].samplingFrequencies[stream])
            let begins = (nominal - 2...nominal + Self.cycle + 2).filter { begin in
                (0..<40).allSatisfy { (position: Int64) -> Bool in
                    let sent = headset.sent(session: 1, stream: stream, channel: 0, position: position)
                    return sent == nil || sent == tape.value(stream: stream, channel: 0, position: begin + position)
                }
            }
            #expect(!begins.isEmpty, "stream \(stream)")
        }
    }

    @Test("what a headset with memory did not record is not sampled when its memory is read")
    func memory() {
        let model = Self.cases[4]
        let tape = Self.tape(model, gaps: [(0, 505..<533, nil)])
        var host = HostedHeadset(model.specification, profile: model.profile, tape: tape)
        host.start()
        host.run(seconds: 5)
        let lookupsBefore = tape.lookupCount
        let command = BufferedEEGCommand.read(stream: 0, from: 0, credit: 1000).encoded()
        host.bench.central.request(
            .writeValue(
                command, to: BufferedEEGService.control, type: .withResponse, on: host.headset.identifier,
                attempt: Attempt(number: 900)))
        host.run(seconds: 5)
        let first = Self.firstIndexes(host)
        let gap = DecodedItem.overwritten(stream: 0, from: UInt32(first[0] + 505), end: UInt32(first[0] + 533))
        let isNotSampled = host.items.contains(gap)
        #expect(isNotSampled)
        let positions = host.located(in: [BufferedHeadsetSpecification.eeg()], firstIndexes: first)
            .filter { $0.block.origin == .memory && $0.channel == 0 }.map(\.position)
        #expect(positions.count > 1000 && !positions.contains { (505..<533).contains($0) })
        // Eight channels, three times each, of what is read and what comes live meanwhile: not all of the rest for each packet.
        #expect(tape.lookupCount - lookupsBefore < 100 * positions.count)
    }
}
