/// What a Muse S Athena sends: how many channels its blocks hold. The preset decides it, and the tags of the blocks show it.
struct MuseAthenaLayout: Hashable, Sendable {
    /// Channels of the EEG, 4 or 8.
    var eegChannelCount: Int
    /// Channels of the optics, 0, 4, 8 or 16.
    var opticsChannelCount: Int

    /// The blocks of its EEG.
    var eegTag: MuseAthenaPacket.Tag { eegChannelCount == 8 ? .eeg8 : .eeg4 }

    /// The blocks of its optics; nil for none.
    var opticsTag: MuseAthenaPacket.Tag? {
        switch opticsChannelCount {
        case 4: .optics4
        case 8: .optics8
        case 16: .optics16
        default: nil
        }
    }

    /// The index of the stream of the reference electrodes: behind the banks of optics.
    var referenceStream: Int {
        let perBank = StreamDescription.channelsPerBank
        return MuseAthenaProfile.optics + (opticsChannelCount + perBank - 1) / perBank
    }

    /// Takes over the width that a tag names.
    mutating func follow(_ tag: MuseAthenaPacket.Tag) {
        switch tag {
        case .eeg4: eegChannelCount = 4
        case .eeg8: eegChannelCount = 8
        case .optics4: opticsChannelCount = 4
        case .optics8: opticsChannelCount = 8
        case .optics16: opticsChannelCount = 16
        case .motion, .reference, .battery, .newBattery: break
        }
    }

    /// The streams, in the order of their indices.
    var streams: [StreamDescription] {
        let channels = ["TP9", "AF7", "AF8", "TP10", "AUX1", "AUX2", "AUX3", "AUX4"].prefix(eegChannelCount)
        let scale = MuseAthenaProfile.microvoltsPerCount
        let streams = [
            StreamDescription(
                name: "eeg", samplingFrequency: 256, samplesPerCount: 16 / channels.count, counterModulus: 256,
                channels: channels.map {
                    // The middle of 14 bits is 0: inputs that are open lie there.
                    ChannelDescription(name: $0, scale: scale, offset: -8192 * scale, rawMinimum: 0, rawMaximum: 16_383)
                }),
            Self.motion("accelerometer", type: "ACCEL", unit: "g", scale: 1.0 / 16_384),
            Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scale: -MuseProfile.degreesPerSecondPerCount),
        ]
        return streams + optics + [reference]
    }

    /// Of any width, as the tags say. Measured by the headset's clock for 8 channels: 64.1 Hz. They may pause for seconds while
    /// their number goes on by one; an average over a pause is not their rate.
    private static let opticsFrequency = 64.0

    /// Banks of at most 8 channels.
    private var optics: [StreamDescription] {
        let count = opticsChannelCount
        let instants = count == 16 ? 1 : count == 8 ? 2 : 3
        return stride(from: 0, to: count, by: StreamDescription.channelsPerBank).map { first in
            StreamDescription(
                name: "optics", bank: first / StreamDescription.channelsPerBank, samplingFrequency: Self.opticsFrequency,
                samplesPerCount: instants, counterModulus: 256,
                channels: (first..<min(count, first + StreamDescription.channelsPerBank)).map {
                    ChannelDescription(
                        name: "OPT\($0 + 1)", type: "MISC", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 0xF_FFFF)
                })
        }
    }

    /// Two channels of 16 bits near 8192, the middle of the EEG's 14 bits, in a recording. BrainFlow names them; which is which
    /// nobody has proven, nor their scale. The tag promises 32 Hz; measured by the headset's clock they are 29.7 Hz beside 8
    /// channels of EEG, and 30.8 Hz beside 4.
    private var reference: StreamDescription {
        StreamDescription(
            name: "reference", samplingFrequency: Self.referenceFrequency(eegChannelCount: eegChannelCount),
            samplesPerCount: 6, counterModulus: 256,
            channels: ["DRL", "REF"].map {
                ChannelDescription(name: $0, type: "MISC", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 0xFFFF)
            })
    }

    private static func referenceFrequency(eegChannelCount: Int) -> Double { eegChannelCount == 8 ? 29.7 : 30.8 }

    private static func motion(_ name: String, type: String, unit: String, scale: Double) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: 52, samplesPerCount: 3, counterModulus: 256,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(
                    name: $0, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
            })
    }
}
