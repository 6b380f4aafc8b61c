import Bluetooth
import Headsets
import Simulation
import Testing

/// The headset with memory, seen from the air.
struct BufferedHeadsetTests {
    private func host(
        _ specification: BufferedHeadsetSpecification = BufferedHeadsetSpecification(),
        faults: FaultProbabilities = .none, script: [ScriptedFault] = []
    ) -> BufferedHost {
        BufferedHost(Bench(headsets: [.buffered(specification)], faults: faults, script: script))
    }

    private func contiguous(_ indexes: [UInt32]) -> Bool {
        zip(indexes, indexes.dropFirst()).allSatisfy { $1 == $0 &+ 1 }
    }

    @Test("After power-on the headset is idle, describes its streams, and refuses START until it is configured")
    func idle() {
        let host = host()
        host.connect()
        host.send(.status, .start, .configure, .status, .start, .status)
        host.run(seconds: 2)
        #expect(host.statuses.map(\.condition) == [.idle, .sampling, .streaming])
        #expect(host.statuses.first?.streams == [BufferedHeadsetSpecification.eeg()])
        let refused = DecodedItem.refused(
            command: BufferedEEGCommand.start.opcode, code: BufferedEEGService.ResultCode.wrongCondition.rawValue)
        #expect(host.items.contains(refused))
    }

    @Test("Live samples are contiguous, true, and as many as the crystal makes")
    func live() {
        let host = host()
        host.connect()
        host.send(.configure, .start)
        host.run(seconds: 1)
        host.forget()
        host.run(seconds: 60)
        let indexes = host.indexes(origin: .live)
        #expect(contiguous(indexes))
        #expect((14_990...15_010).contains(indexes.count))
        #expect(host.valuesAreTrue)
    }

    @Test("Sampling goes on while the link is down, and a read brings what was missed, across the wrap of the index")
    func drain() throws {
        var specification = BufferedHeadsetSpecification()
        specification.firstIndex = .max - 5000
        let host = host(specification, script: [ScriptedFault(at: .seconds(12), .outOfRange, for: .seconds(60))])
        host.connect()
        host.send(.configure, .start)
        host.run(seconds: 66)
        let lastLive = try #require(host.indexes(origin: .live).last)
        host.bench.run(seconds: 5)
        host.connect()
        host.forget()
        host.send(.status)
        host.run(seconds: 1)
        let status = try #require(host.statuses.first)
        #expect(status.condition == .streaming)
        host.send(.read(stream: 0, from: lastLive &+ 1, credit: 65_535))
        host.run(seconds: 60)
        let read = host.indexes(origin: .memory)
        #expect(read.first == lastLive &+ 1)
        #expect(contiguous(read))
        let end = try #require(read.last) &+ 1
        #expect(host.items.contains(.drainEnded(stream: 0, next: end)))
        #expect(contiguous(host.indexes(origin: .live)))
        #expect(host.valuesAreTrue)
        #expect(host.bench.world.injected[.counterWrap] == 1)
        #expect(host.bench.world.injected[.outOfRange] == 1)
    }

    @Test("A read without credit waits; each block takes one credit")
    func credit() {
        let host = host()
        host.connect()
        host.send(.configure)
        host.run(seconds: 20)
        host.forget()
        host.send(.read(stream: 0, from: 2000, credit: 3))
        host.run(seconds: 5)
        #expect(host.blocks.count == 3)
        host.send(.credit(stream: 0, blocks: 2))
        host.run(seconds: 5)
        #expect(host.blocks.count == 5)
        host.send(.abort(stream: 0))
        host.run(seconds: 1)
        #expect(host.items.contains(.drainEnded(stream: 0, next: 2000 + 45)))
    }

    @Test("A small memory overwrites the oldest samples, says so, and counts it")
    func overrun() throws {
        let host = host(BufferedHeadsetSpecification(capacity: 1000))
        host.connect()
        host.send(.configure)
        host.run(seconds: 20)
        host.forget()
        host.send(.status, .read(stream: 0, from: 1000, credit: 65_535))
        host.run(seconds: 5)
        let range = try #require(host.statuses.first?.buffered.first)
        #expect(range.end &- range.oldest == 1000)
        let gaps = host.items.compactMap { item -> Range<UInt32>? in
            if case .overwritten(_, let from, let end) = item { from..<end } else { nil }
        }
        let read = host.indexes(origin: .memory)
        #expect(gaps.first?.lowerBound == 1000)
        #expect(read.first == gaps.last?.upperBound)
        #expect(contiguous(read))
        #expect(host.bench.world.injected[.bufferOverrun] > 0)
    }

    @Test("Acknowledged samples are forgotten, and the acknowledgement is recorded")
    func acknowledge() throws {
        let host = host()
        host.connect()
        host.send(.configure)
        host.run(seconds: 10)
        host.send(.acknowledge(stream: 0, upTo: 2000), .status)
        host.run(seconds: 1)
        #expect(host.statuses.last?.buffered.first?.oldest == 2000)
        host.send(.acknowledge(stream: 0, upTo: 1500), .acknowledge(stream: 0, upTo: 1_000_000), .status)
        host.run(seconds: 1)
        #expect(host.statuses.last?.buffered.first?.oldest == 2000)
        let code = BufferedEEGService.ResultCode.indexOutOfRange.rawValue
        #expect(host.items.contains(.refused(command: 8, code: code)))
        let buffered = try #require(host.bench.world.headsets[0].buffered)
        #expect(buffered.takeAcknowledgements().map(\.upTo) == [2000, 1500, 1_000_000])
        #expect(buffered.acknowledgements.isEmpty)
    }

    @Test("A reboot ends the link, empties the memory and makes a new boot identifier")
    func reboot() throws {
        let host = host(script: [ScriptedFault(at: .seconds(10), .reboot)])
        host.connect()
        host.send(.configure, .start, .status)
        host.run(seconds: 20)
        host.connect()
        host.send(.status)
        host.run(seconds: 1)
        #expect(host.statuses.map(\.condition) == [.streaming, .idle])
        #expect(host.statuses[0].bootIdentifier != host.statuses[1].bootIdentifier)
        let history = try #require(host.bench.world.headsets[0].buffered?.bootHistory)
        #expect(history.map(\.bootIdentifier) == host.statuses.compactMap(\.bootIdentifier))
        #expect(history[0].ended == .seconds(10))
        #expect(host.bench.world.injected[.reboot] == 1)
    }

    @Test("In low power the headset answers only STATUS and WAKE; the time without samples is a gap")
    func lowPower() throws {
        let host = host(script: [ScriptedFault(at: .seconds(10), .lowPower)])
        host.connect()
        host.send(.configure, .start)
        host.run(seconds: 11)
        #expect(host.statuses.last?.condition == .lowPower)
        host.send(.start, .wake, .configure, .start, .status)
        host.run(seconds: 2)
        #expect(host.statuses.last?.condition == .streaming)
        let code = BufferedEEGService.ResultCode.wrongCondition.rawValue
        #expect(host.items.contains(.refused(command: 4, code: code)))
        host.forget()
        host.send(.read(stream: 0, from: 2000, credit: 65_535))
        host.run(seconds: 5)
        let record = try #require(host.bench.world.headsets[0].buffered?.bootHistory[0].streams[0])
        let pause = try #require(record.runs[0].end)..<record.runs[1].start
        let gap = DecodedItem.overwritten(
            stream: 0, from: UInt32(pause.lowerBound), end: UInt32(pause.upperBound))
        #expect(host.items.contains(gap))
        #expect(pause.count > 250)
        #expect(host.valuesAreTrue)
    }

    @Test("Of a block sent as two packets, one half of the channels can be lost")
    func channels() {
        var specification = BufferedHeadsetSpecification()
        specification.splitsChannels = true
        let host = host(specification, script: [ScriptedFault(at: .seconds(10), .lostChannelPacket, for: .seconds(1))])
        host.connect()
        host.send(.configure, .start)
        host.run(seconds: 20)
        let first = host.indexes(origin: .live, channel: 0)
        let last = host.indexes(origin: .live, channel: 7)
        #expect(!contiguous(first) || !contiguous(last))
        let all = Set(first).union(last).sorted()
        #expect(contiguous(all))
        #expect((10...40).contains(host.bench.world.injected[.lostChannelPacket]))
    }

    @Test("An unanswered status query is written, but no report comes")
    func unanswered() {
        let host = host(script: [ScriptedFault(at: .seconds(5), .statusUnanswered, for: .seconds(2))])
        host.connect()
        host.bench.run(seconds: 1.5)
        host.send(.status)
        host.run(seconds: 1)
        #expect(host.statuses.isEmpty)
        #expect(host.bench.world.injected[.statusUnanswered] == 1)
        host.run(seconds: 2)
        host.send(.status)
        host.run(seconds: 1)
        #expect(host.statuses.count == 1)
    }

    @Test("Any bytes written to the control characteristic are answered, and harm nothing")
    func garbage() {
        let host = host()
        host.connect()
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let value = (0..<Int(generator.below(20))).map { _ in UInt8(truncatingIfNeeded: generator.next() & 0x0F) }
            host.bench.central.request(
                .writeValue(
                    value, to: BufferedEEGService.control, type: .withResponse, on: host.identifier, attempt: Attempt(number: 9)
                ))
            host.run(seconds: 0.1)
        }
        host.send(.wake, .configure, .start)
        host.run(seconds: 5)
        #expect(!host.blocks.isEmpty)
        #expect(host.valuesAreTrue)
    }

    @Test("The time of a position and the position at a time agree")
    func positions() throws {
        let host = host()
        host.bench.run(seconds: 1)
        let record = try #require(host.bench.world.headsets[0].buffered?.bootHistory[0])
        for position: Int64 in [0, 1, 249, 250, 1_000_000, 453_600_000] {
            let taken = record.time(of: position, stream: 0)
            #expect(record.position(at: taken, stream: 0) == position + 1)
            #expect(record.position(at: taken - .nanoseconds(1000), stream: 0) == position)
        }
    }
}
