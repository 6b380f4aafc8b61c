import Bluetooth
import Headsets
import Simulation

/// The least host that can talk to a buffered headset: keeps what came, checks nothing.
final class BufferedHost {
    let bench: Bench
    private var decoder = BufferedEEGDecoder()
    private(set) var statuses: [HeadsetStatus] = []
    private(set) var blocks: [(block: SampleBlock, values: [Int32])] = []
    private(set) var items: [DecodedItem] = []
    private var attempt: UInt64 = 100

    init(_ bench: Bench) {
        self.bench = bench
    }

    var identifier: PeripheralIdentifier { bench.world.headsets[0].identifier }

    /// Connects, discovers and subscribes.
    func connect() {
        bench.connect()
        decoder = BufferedEEGDecoder()
        for characteristic in [BufferedEEGService.control, BufferedEEGService.data] {
            bench.central.request(.setNotifyValue(true, for: characteristic, on: identifier, attempt: Attempt(number: 3)))
        }
        run(seconds: 1)
    }

    func send(_ commands: BufferedEEGCommand...) {
        for command in commands {
            attempt += 1
            bench.central.request(
                .writeValue(
                    command.encoded(), to: BufferedEEGService.control, type: .withResponse, on: identifier,
                    attempt: Attempt(number: attempt)))
        }
    }

    func run(seconds: Double) {
        bench.run(seconds: seconds)
        for event in bench.take() {
            guard case .didUpdateValue(let characteristic, _, let value, _) = event else { continue }
            var decoded = Decoded()
            decoder.decode(value, from: characteristic, into: &decoded)
            for item in decoded.items {
                items.append(item)
                if case .status(let status) = item { statuses.append(status) }
                if case .samples(let block) = item { blocks.append((block, Array(decoded.values[block.values]))) }
            }
        }
    }

    func forget() {
        statuses = []
        blocks = []
        items = []
    }

    /// True where every received value is the one that was sampled.
    var valuesAreTrue: Bool {
        blocks.allSatisfy { block, values in
            var position = 0
            for instant in 0..<block.instantCount {
                for channel in 0..<block.channelCount {
                    let value = SimulatedSignal.value(
                        seed: bench.world.seed, boot: block.bootIdentifier ?? 0, stream: block.stream,
                        channel: block.firstChannel + channel,
                        index: (block.counter ?? 0) &+ UInt32(truncatingIfNeeded: instant))
                    guard value == values[position] else { return false }
                    position += 1
                }
            }
            return true
        }
    }

    /// The indexes of all received samples of one channel, in the order of their arrival.
    func indexes(origin: SampleBlock.Origin, channel: Int = 0) -> [UInt32] {
        blocks.flatMap { block, _ -> [UInt32] in
            let channels = block.firstChannel..<block.firstChannel + block.channelCount
            guard block.origin == origin, channels.contains(channel) else { return [] }
            return (0..<block.instantCount).map { (block.counter ?? 0) &+ UInt32($0) }
        }
    }
}
