import Bluetooth
import Capture
import Headsets
import Synchronization

/// A model whose headset is a capture: it is sent nothing, sends from the first piece on, and is never given up while the
/// capture goes on. What was found out about it, it keeps from one link to the next.
struct ReplayedProfile: HeadsetProfile {
    private let base: any HeadsetProfile
    private let learnt: LearntHeadset

    /// - Parameters:
    ///   - base: the profile of the very headset that was captured.
    ///   - learnt: what is known of it, and will be.
    init(_ base: any HeadsetProfile, learnt: LearntHeadset) {
        self.base = base
        self.learnt = learnt
    }

    var model: String { base.model }
    var displayName: String { base.displayName }
    var recognition: Recognition { base.recognition }
    var services: [BluetoothUUID] { base.services }
    /// A capture has no other headset that it could be taken for.
    var identityCharacteristic: BluetoothUUID? { nil }
    var isAskedWhileStreaming: Bool { false }
    var controlCharacteristics: [BluetoothUUID] { base.controlCharacteristics }
    var dataCharacteristics: [BluetoothUUID] { base.dataCharacteristics }
    var streams: [StreamDescription] { learnt.streams ?? base.streams }
    var epochRule: EpochRule { base.epochRule }
    var memory: MemoryCapability { base.memory }
    var impedance: ImpedanceMeasurement? { base.impedance }
    var sampleStamps: SampleStamps? { base.sampleStamps }

    /// A headset that counts over its links counts over a pause, too: nothing is gained by a new link. Of others, only time
    /// shows how much is missing, as it does for a headset that is silent for so long.
    var timing: ProfileTiming {
        var timing = base.timing
        timing.keepAliveInterval = nil
        if epochRule == .boot { timing.silenceLimit = .seconds(1_000_000_000) }
        return timing
    }

    /// Only a headset that describes its streams itself is asked for them.
    func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        purpose == .queryStatus && base.streams.isEmpty ? base.commands(for: purpose, status: status) : []
    }

    func makeDecoder() -> any HeadsetDecoder {
        learnt.beginLink()
        return ReplayedDecoder(learnt: learnt)
    }
}

/// The decoder of a captured headset, and what it has learnt of it.
final class LearntHeadset: Sendable {
    private struct Knowledge {
        var decoder: any HeadsetDecoder
        var streams: [StreamDescription]?
        var discardedByteCount = 0
    }

    private let knowledge: Mutex<Knowledge>
    private let fresh: @Sendable () -> any HeadsetDecoder

    /// - Parameter fresh: makes a decoder that has learnt nothing yet.
    init(fresh: @escaping @Sendable () -> any HeadsetDecoder) {
        self.fresh = fresh
        knowledge = Mutex(Knowledge(decoder: fresh()))
    }

    /// What the headset said that it sends; nil where it said nothing.
    var streams: [StreamDescription]? { knowledge.withLock { $0.streams } }

    /// Bytes that belonged to nothing valid.
    var discardedByteCount: Int { knowledge.withLock { $0.discardedByteCount } }

    /// What was learnt so far was only looked ahead.
    func rewind() {
        beginLink()
        knowledge.withLock { $0.discardedByteCount = 0 }
    }

    func beginLink() {
        knowledge.withLock { $0.decoder = $0.decoder.continued() ?? fresh() }
    }

    /// Learns from values that the headset would have sent before anything else.
    func decode(_ values: [Capture.Piece]) {
        var ignored = Decoded()
        for value in values { decode(value.value, from: value.characteristic, into: &ignored) }
    }

    func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        let first = decoded.items.count
        knowledge.withLock { known in
            known.decoder.decode(bytes, from: characteristic, into: &decoded)
            for index in first..<decoded.items.count {
                switch decoded.items[index] {
                case .discarded(let byteCount): known.discardedByteCount += byteCount
                case .status(var status):
                    if let streams = status.streams { known.streams = streams }
                    // Whatever it did when it was asked: its samples are in the capture.
                    status.condition = .streaming
                    decoded.items[index] = .status(status)
                default: break
                }
            }
        }
    }
}

/// A link's view of the one decoder of a capture.
private struct ReplayedDecoder: HeadsetDecoder {
    let learnt: LearntHeadset

    mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        learnt.decode(bytes, from: characteristic, into: &decoded)
    }
}
