import Bluetooth
import Headsets
import Simulation

@testable import Assembly

/// A headset that is as simple as can be, the stream that records it, and what a reader of the database may expect. Samples are
/// numbered by the time at which they are taken (`truth`), across restarts.
struct HeadsetUnderTest {
    enum Kind: String, CaseIterable {
        /// Memory, boot identifier, counter of 32 bits.
        case buffered
        /// No memory, boot identifier, a counter of one byte.
        case smallCounter
        /// No counter at all: damage is told as a count.
        case withoutCounter
        /// A counter, and packets that hold one channel each.
        case channelPackets
        /// Like a Muse: packets of 12 samples of one channel, whose number has 16 bits; a new run at each connection.
        case numberedPackets
        /// Like a Ganglion with firmware 3: a counter of 201 samples of which the last is never sent; a new run at each
        /// connection. Silence of seconds is survived.
        case wrappingCounter

        /// Samples of one packet.
        var packetLength: Int64 {
            switch self {
            case .numberedPackets: 12
            case .wrappingCounter: 2
            case .buffered, .smallCounter, .withoutCounter, .channelPackets: 8
            }
        }

        /// True where a packet holds one channel.
        var splitsChannels: Bool { self == .channelPackets || self == .numberedPackets }

        var rule: EpochRule {
            switch self {
            case .withoutCounter, .numberedPackets, .wrappingCounter: .connection
            case .buffered, .smallCounter, .channelPackets: .boot
            }
        }

        var counterModulus: Int64? {
            switch self {
            case .buffered, .channelPackets: 1 << 32
            case .smallCounter: 256
            case .numberedPackets: 1 << 16
            case .wrappingCounter: 201
            case .withoutCounter: nil
            }
        }
    }

    let kind: Kind
    var test: StreamUnderTest
    var random: SeededGenerator
    /// What must be in the database after the next commit, and after the earlier ones: truth × 8 + channel.
    private(set) var uncommitted: Set<Int64> = []
    private(set) var expected: Set<Int64> = []
    private(set) var isLinked = false

    private var truth: Int64
    /// index = truth - offset.
    private var offset: Int64
    private var boot: UInt32 = 1
    private var bootTruth: Int64
    private var held: [Int64] = []
    private static let memoryLength: Int64 = 2000

    init(kind: Kind, seed: UInt64) {
        self.kind = kind
        random = SeededGenerator(seed: seed)
        test = StreamUnderTest(
            modulus: kind.counterModulus, samplesPerCount: kind == .numberedPackets ? Int(kind.packetLength) : 1)
        truth = kind.packetLength * Int64(1 + random.below(100))
        bootTruth = 0
        // The counter of 32 bits wraps soon.
        offset = kind == .smallCounter ? 0 : -((1 << 32) - 8 * Int64(random.below(500)))
    }

    private var oldestTruth: Int64 { max(bootTruth, truth - Self.memoryLength) }
    private func counter(_ truth: Int64) -> UInt32 { UInt32(truncatingIfNeeded: truth - offset) }

    // MARK: What may happen

    mutating func step() {
        switch random.below(40) {
        case 0: disconnect()
        case 1: if !isLinked { restartHeadset() }
        case 2: kill()
        case 3: test.hasRoom.toggle()
        case 4...5: commit()
        case 8...11: readMemory(blocks: 5)
        default: packet()
        }
        if !isLinked, random.strikes(0.2) { connect() }
    }

    mutating func connect() {
        guard !isLinked else { return }
        isLinked = true
        beginRun()
        test.begin(
            boot: kind.rule == .boot ? boot : nil, rule: kind.rule, oldest: kind == .buffered ? counter(oldestTruth) : nil,
            end: counter(truth))
    }

    /// The counter begins anew with the connection: at 0, or shortly before it wraps.
    private mutating func beginRun() {
        switch kind {
        case .wrappingCounter: offset = truth
        case .numberedPackets:
            offset = truth - kind.packetLength * Int64(random.strikes(0.5) ? 65_500 : random.below(1000))
        default: break
        }
    }

    mutating func disconnect() {
        guard isLinked else { return }
        isLinked = false
        held.removeAll()
        test.stream.endLink(cause: .linkLost, at: test.now)
    }

    private mutating func restartHeadset() {
        let pause = kind.packetLength * Int64(random.below(200))
        truth += pause
        test.advance(samples: pause)
        boot += 1
        bootTruth = truth
        offset = truth
    }

    /// The process dies, and another one starts with the database.
    private mutating func kill() {
        if kind.splitsChannels {
            test.stream.settlePartialRows(at: test.now)
            commit()
        }
        isLinked = false
        held.removeAll()
        uncommitted.removeAll()
        test.restart()
    }

    mutating func commit() {
        test.commit()
        // What waits for packets, or whose n is not known yet, is in no batch.
        if test.stream.isHoldingBack { return }
        expected.formUnion(uncommitted)
        uncommitted.removeAll()
    }

    /// The headset takes the samples of a packet, and sends them.
    mutating func packet() {
        let first = truth
        truth += kind.packetLength
        test.advance(samples: kind.packetLength)
        guard isLinked else { return }
        let fate = random.below(20)
        if kind.splitsChannels {
            for channel in 0..<2 where !random.strikes(0.05) {
                deliver(first, channels: channel..<(channel + 1))
                if random.strikes(0.05) { deliver(first, channels: channel..<(channel + 1)) }
            }
            return
        }
        switch fate {
        case 0 where kind == .withoutCounter: test.stream.takeDamaged(count: 8)
        case 0: break
        case 1 where kind != .withoutCounter && test.stream.isNumbered: held.append(first)
        default:
            deliver(first)
            if fate == 2, kind != .withoutCounter { deliver(first) }
        }
        if let late = held.first, random.strikes(0.4) {
            held.removeFirst()
            if test.stream.isNumbered { deliver(late) }
        }
        if kind == .wrappingCounter { endWrap() }
    }

    /// The sample that is never sent, before a wrap, and now and then a radio that carries nothing for whole wraps.
    private mutating func endWrap() {
        if random.strikes(0.02) {
            // Whole wraps and a part of one: the counter alone tells the part only. Packets are lost whole.
            let packets = 101 + Int64(random.below(400))
            for _ in 0..<(packets % 100 == 0 ? packets + 1 : packets) { skip() }
        }
        guard (truth - offset) % 201 == 200 else { return }
        test.stream.takeUnsent(counter: 200, count: 1, at: test.now)
        skip()
    }

    private mutating func skip() {
        let count: Int64 = (truth - offset) % 201 == 200 ? 1 : kind.packetLength
        truth += count
        test.advance(samples: count)
    }

    private mutating func deliver(
        _ first: Int64, count: Int? = nil, channels: Range<Int> = 0..<2, origin: SampleBlock.Origin = .live
    ) {
        let count = count ?? Int(kind.packetLength)
        if test.hasRoom {
            for sample in first..<(first + Int64(count)) {
                for channel in channels { uncommitted.insert(sample * 8 + Int64(channel)) }
            }
        }
        test.take(
            index: kind == .withoutCounter ? nil : first - offset, truth: first, count: count,
            boot: kind.rule == .boot ? boot : nil, channels: channels, origin: origin)
    }

    /// Reads what is missing from the memory. Returns false where nothing is missing that it could have.
    @discardableResult mutating func readMemory(blocks: Int) -> Bool {
        guard kind == .buffered, isLinked, test.stream.isNumbered else { return false }
        guard let run = test.stream.firstRecoverable(), let wanted = test.stream.counter(of: run.lowerBound) else {
            return false
        }
        var first = truth - Int64(counter(truth) &- wanted)
        if first < oldestTruth {
            test.stream.giveUp(from: wanted, end: counter(oldestTruth))
            first = oldestTruth
        }
        for _ in 0..<blocks where first < truth {
            let count = min(8, truth - first)
            deliver(first, count: Int(count), origin: .memory)
            first += count
        }
        return true
    }

    // MARK: What a reader may expect

    /// Everything that is wrong with what was committed.
    func problems() -> [String] {
        var found = test.database.problems
        var stored: Set<Int64> = []
        var shift: Int64?
        for (n, row) in test.database.rows.sorted(by: { $0.key < $1.key }) {
            for (channel, value) in row.enumerated() {
                guard let value else { continue }
                let number = Int64(value) - Int64(channel)
                if number % 8 != 0 || StreamUnderTest.truth(row) != number / 8 {
                    found.append("row \(n) holds channels of several instants: \(row)")
                }
                if !stored.insert(Int64(value)).inserted { found.append("\(value) is stored twice") }
            }
            // n follows the time, within a packet, over any number of restarts.
            guard let truth = StreamUnderTest.truth(row) else { continue }
            let first = shift ?? (truth - n)
            shift = first
            if abs(truth - n - first) > kind.packetLength { found.append("row \(n) should be \(truth - first)") }
        }
        let lost = expected.subtracting(stored)
        if let example = lost.min() { found.append("\(lost.count) values were lost, such as \(example)") }
        return found
    }

    /// What of the present boot lies in the headset's memory and is not stored.
    func unread() -> Int {
        guard let began = test.stored.filter({ $0.value >= bootTruth }).values.min() else { return 0 }
        let stored = Set(test.stored.values)
        return (max(oldestTruth, began)..<truth).count { !stored.contains($0) }
    }
}
