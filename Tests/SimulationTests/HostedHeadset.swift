import Bluetooth
import Headsets
import Simulation

/// A simulated headset behind the commands and the decoder of its profile, without an engine in between.
struct HostedHeadset {
    let bench: Bench
    private(set) var profile: any HeadsetProfile
    private var decoder: any HeadsetDecoder
    private var attempts: UInt64 = 10
    /// How many statuses there were before the present link.
    private var statusesBefore = 0
    /// What was decoded, with the values of each block.
    private(set) var items: [DecodedItem] = []
    private(set) var blocks: [(block: SampleBlock, values: [Int32])] = []
    /// The notifications of each characteristic, in order.
    private(set) var notifications: [(characteristic: BluetoothUUID, value: [UInt8])] = []

    init(
        _ specification: HeadsetSpecification, profile: any HeadsetProfile, seed: UInt64 = 1, script: [ScriptedFault] = [],
        tape: (any SignalTape)? = nil
    ) {
        bench = Bench(seed: seed, headsets: [specification], script: script)
        bench.world.tape = tape
        self.profile = profile
        decoder = profile.makeDecoder()
    }

    var headset: SimulatedHeadset { bench.world.headsets[0] }

    /// Connects, discovers, and lets the profile adapt itself.
    mutating func connect() {
        statusesBefore = statuses.count
        bench.run(seconds: 1)
        bench.central.request(.connect(headset.identifier, attempt: attempt()))
        bench.run(seconds: 1)
        bench.central.request(.discoverServices(on: headset.identifier, attempt: attempt()))
        bench.run(seconds: 1)
        for case .didDiscoverServices(_, .success(let database), _) in bench.take() { profile = profile.adapted(to: database) }
        decoder = profile.makeDecoder()
        subscribe(profile.controlCharacteristics)
    }

    mutating func subscribe(_ characteristics: [BluetoothUUID]) {
        for characteristic in characteristics {
            bench.central.request(.setNotifyValue(true, for: characteristic, on: headset.identifier, attempt: attempt()))
        }
        run(seconds: 1)
    }

    /// Carries out the profile's commands.
    mutating func perform(_ purpose: CommandPurpose) {
        perform(profile.commands(for: purpose, status: statuses.dropFirst(statusesBefore).last))
    }

    private mutating func perform(_ steps: [CommandStep]) {
        var itemsBefore = items.count
        for step in steps {
            switch step {
            case .write(let bytes, let characteristic, let type):
                bench.central.request(
                    .writeValue(bytes, to: characteristic, type: type, on: headset.identifier, attempt: attempt()))
            case .read(let characteristic):
                bench.central.request(.readValue(of: characteristic, on: headset.identifier, attempt: attempt()))
            case .wait(let duration): run(seconds: Double(duration.nanoseconds) / 1e9)
            case .awaitReply(let timeout, let otherwise):
                run(seconds: Double(timeout.nanoseconds) / 1e9)
                if !items[itemsBefore...].contains(where: \.isReply) { perform(otherwise) }
            case .abandonLink: bench.central.request(.cancelPeripheralConnection(headset.identifier, attempt: attempt()))
            }
            if case .write = step { itemsBefore = items.count }
            run(seconds: 0.2)
        }
    }

    /// Everything from the status query to streaming.
    mutating func start() {
        connect()
        for purpose in [CommandPurpose.queryStatus, .initialise] { perform(purpose) }
        subscribe(profile.dataCharacteristics)
        perform(.start)
    }

    /// Lets the time pass and decodes what came.
    mutating func run(seconds: Double) {
        bench.run(seconds: seconds)
        for event in bench.take() {
            switch event {
            case .didUpdateValue(let characteristic, _, let value, _):
                notifications.append((characteristic, value))
                decode(value, from: characteristic)
            case .didReadValue(let characteristic, _, .success(let value), _): decode(value, from: characteristic)
            default: break
            }
        }
    }

    private mutating func decode(_ value: [UInt8], from characteristic: BluetoothUUID) {
        var decoded = Decoded()
        decoder.decode(value, from: characteristic, into: &decoded)
        items += decoded.items
        for case .samples(let block) in decoded.items { blocks.append((block, Array(decoded.values[block.values]))) }
    }

    private mutating func attempt() -> Attempt {
        attempts += 1
        return Attempt(number: attempts)
    }

    /// The statuses so far.
    var statuses: [HeadsetStatus] { items.compactMap { if case .status(let status) = $0 { status } else { nil } } }

    /// Sampling instants of a stream that came, channels of the first kind of block only.
    func instantCount(stream: Int) -> Int {
        blocks.filter { $0.block.stream == stream && $0.block.firstChannel == 0 }.reduce(0) { $0 + $1.block.instantCount }
    }

    /// The first block whose values are not what the headset sent in the session; nil where all are.
    ///
    /// - Parameter stream: the only stream that is looked at; nil for all. Of a stream without counter, all samples must have
    ///   come.
    func firstWrong(session: Int = 0, stream only: Int? = nil) -> SampleBlock? {
        wrong(in: profile.streams, session: session, stream: only)
    }

    /// The same for streams that the headset has described itself.
    func wrong(in streams: [StreamDescription]?, session: Int = 0, stream only: Int? = nil) -> SampleBlock? {
        guard let truth = headset.sessions, let streams else { return blocks.first?.block }
        let found = located(in: streams, firstIndexes: truth.sessions[session].firstIndexes, stream: only).first {
            truth.sent(session: session, stream: $0.block.stream, channel: $0.channel, position: $0.position) != $0.value
        }
        return found?.block
    }

    /// A decoded value, and how many sampling periods after the first index of its stream it was taken.
    struct LocatedValue {
        var block: SampleBlock
        var channel: Int
        var position: Int64
        var value: Int32
    }

    /// Every value that was decoded.
    func located(in streams: [StreamDescription], firstIndexes: [Int64], stream only: Int? = nil) -> [LocatedValue] {
        var located: [LocatedValue] = []
        var next = [Int: Int64]()
        for (block, values) in blocks where only == nil || only == block.stream {
            let stream = streams[block.stream]
            let step = Int64(stream.samplesPerCount)
            let key = block.stream * 8 + block.firstChannel
            let turn = (stream.counterModulus ?? 1 << 32) * step
            // Near the block before of the same channels.
            let expected = next[key] ?? firstIndexes[block.stream]
            let counter = Int64(block.counter ?? 0) * step
            let turned = counter + Int64((Double(expected - counter) / Double(turn)).rounded()) * turn
            let index = block.counter == nil ? expected : turned
            next[key] = index + Int64(block.instantCount)
            for (offset, value) in values.enumerated() {
                located.append(
                    LocatedValue(
                        block: block, channel: block.firstChannel + offset % block.channelCount,
                        position: index - firstIndexes[block.stream] + Int64(offset / block.channelCount), value: value))
            }
        }
        return located
    }
}

extension DecodedItem {
    /// True for an answer that is no refusal.
    fileprivate var isReply: Bool {
        switch self {
        case .status, .answered: true
        default: false
        }
    }
}
