import Bluetooth
package import Headsets

/// What a simulated headset with memory is like.
package struct BufferedHeadsetSpecification: Hashable, Sendable {
    /// The streams; at most 8. Samples are those of ``SimulatedSignal``.
    package var streams: [StreamDescription]
    /// How many sampling periods of each stream the memory holds; 1 ... 2^31 - 1.
    package var capacity: Int
    /// The index of each stream at power-on; near 2^32 it soon wraps.
    package var firstIndex: UInt32 = 0
    /// The same for every later power-on; nil for ``firstIndex`` again.
    package var firstIndexAfterReboot: UInt32?
    /// How much faster than nominal the headset's crystal runs, in parts per million; about ±50 is usual.
    package var crystalErrorPPM = 12.0
    /// How many packets fit into one connection interval; at least 1.
    package var packetsPerInterval = 6
    /// True where each live block is sent as two packets with half of the channels each.
    package var splitsChannels = false
    /// Battery charge at the beginning, in percent; one hour costs 2.
    package var batteryPercent = 87.0
    /// True for a headset that samples since power-on without a command.
    package var samplesFromBoot = false

    /// Creates a specification; the default is eight channels of EEG at 250 Hz and memory for 20 minutes.
    package init(streams: [StreamDescription] = [Self.eeg()], capacity: Int = 300_000) {
        self.streams = streams
        self.capacity = capacity
    }

    /// A stream of EEG channels in the 10-20 system, as an ADS1299 measures them.
    ///
    /// - Parameters:
    ///   - channelCount: 1 ... 8.
    ///   - samplingFrequency: in hertz.
    package static func eeg(channelCount: Int = 8, samplingFrequency: Double = 250) -> StreamDescription {
        let names = ["Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"]
        return StreamDescription(
            name: "eeg", samplingFrequency: samplingFrequency, counterModulus: 1 << 32,
            channels: names.prefix(max(1, channelCount)).map {
                ChannelDescription(
                    name: $0, scale: SimulatedSignal.scaleMicrovolts, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
            })
    }

    /// A stream of three accelerometer channels at 52 Hz.
    package static let accelerometer = StreamDescription(
        name: "accelerometer", samplingFrequency: 52, counterModulus: 1 << 32,
        channels: ["X", "Y", "Z"].map {
            ChannelDescription(
                name: $0, type: "ACCEL", unit: "g", scale: 1 / 1_048_576, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
        })
}

extension HeadsetSpecification {
    /// A headset with memory. Several of one model have similar names and different serial numbers.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its memory, streams and crystal.
    package static func buffered(
        number: Int = 1, _ specification: BufferedHeadsetSpecification = BufferedHeadsetSpecification()
    ) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "BEEG-\(1000 + number)", identifier: address(number: 0x100 + number),
            serialNumber: "BE-2026-\(10_000 + number)", serviceUUIDs: [BufferedEEGService.service],
            pairingServiceUUIDs: [BufferedEEGService.pairingService],
            database: GATTDatabase(characteristics: BufferedEEGService.characteristics),
            firmware: { BufferedHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(30)
        headset.playsTapes = true
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let buffered = SimulatedModel(
        profile: BufferedEEGProfile(), make: { .buffered(number: $0, BufferedHeadsetSpecification()) },
        varieties: [
            Variety(name: "headset1") { crystal in
                var specification = BufferedHeadsetSpecification()
                specification.crystalErrorPPM = crystal
                return .buffered(specification)
            }
        ],
        share: .special)
}
