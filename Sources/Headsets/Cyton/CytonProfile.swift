package import Bluetooth

/// The OpenBCI Cyton, with or without a Daisy, whose serial stream comes over a classic Bluetooth link: 8 channels at 250 Hz
/// or 16 at 125 Hz.
package struct CytonProfile: SerialPortProfile {
    /// The index of the stream of the board's channels.
    package static let eeg = 0
    /// The index of the stream of accelerations or readings of pins, without a Daisy.
    package static let auxiliary = 1
    /// The index of the stream of the Daisy's channels: the second bank of the EEG.
    package static let daisy = 1
    /// The index of the stream of accelerations or readings of pins, with a Daisy.
    package static let auxiliaryWithDaisy = 2

    /// Frames per second, with and without a Daisy.
    package static let frameFrequency = 250.0

    private let setup: CytonSettings
    private let hasDaisy: Bool

    /// Creates the profile.
    ///
    /// - Parameters:
    ///   - settings: how the amplifiers are to be set.
    ///   - hasDaisy: true where the headset was found to send 16 channels.
    package init(settings: CytonSettings = CytonSettings(), hasDaisy: Bool = false) {
        setup = settings
        self.hasDaisy = hasDaisy
    }

    package var model: String { "cyton" }
    package var displayName: String { "OpenBCI Cyton (serial)" }
    package var manufacturer: String? { "OpenBCI" }

    /// By name alone: the radios that carry the stream are everybody's, and their owners name them.
    package var recognition: Recognition { Recognition(serviceUUIDs: [], namePrefixes: ["OpenBCI", "OBCI", "Cyton"]) }
    /// Answers and samples share the port.
    package var controlCharacteristics: [BluetoothUUID] { [.serialPort] }
    package var dataCharacteristics: [BluetoothUUID] { [] }

    /// A headset that streams knows only the command to stop.
    package var isAskedWhileStreaming: Bool { false }

    /// Milliseconds in 32 bits, in frames that bear the board's time; see the setting `time_stamps`.
    package var sampleStamps: SampleStamps? { SampleStamps(tickFrequency: 1000, modulus: 1 << 32, isExact: false) }

    /// With a Daisy, the firmware sends means of two conversions.
    package var constantDelay: ConstantDelay? {
        let mean = ConstantDelay.Part(
            .milliseconds(2), meaning: "the mean of two conversions: half of one",
            source: "OpenBCI's firmware (OpenBCI_32bit_Library)")
        return ConstantDelay(
            parts: [.ads1299Filter(frequency: Self.frameFrequency)] + (hasDaisy ? [mean] : []) + [
                .serialPort(bytes: CytonFrame.length, baud: 115_200, source: "OpenBCI, Cyton data format")
            ])
    }

    /// Looking for a Daisy takes the board a few tenths of a second.
    package var timing: ProfileTiming {
        ProfileTiming(
            packetPeriod: Self.packetPeriod, silenceLimit: Self.silenceLimit, statusLimit: .milliseconds(2000))
    }

    package var streams: [StreamDescription] {
        let banks = hasDaisy ? 2 : 1
        let eeg = (0..<banks).map { bank in
            StreamDescription(
                name: "eeg", bank: bank, samplingFrequency: Self.frameFrequency / Double(banks),
                counterModulus: Int64(256 / banks),
                channels: (bank * 8..<bank * 8 + 8).map { Self.channel($0, setup) })
        }
        return eeg + [auxiliaryStream]
    }

    /// A channel of the EEG, from 0.
    static func channel(_ number: Int, _ settings: CytonSettings) -> ChannelDescription {
        ChannelDescription(
            name: "Ch\(number + 1)", scale: settings.channel(number).gain.microvoltsPerCount, rawMinimum: -0x80_0000,
            rawMaximum: 0x7F_FFFF)
    }

    private var auxiliaryStream: StreamDescription {
        func channel(_ name: String, _ type: String, _ unit: String, _ scale: Double) -> ChannelDescription {
            ChannelDescription(
                name: name, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
        }
        if setup.auxiliary == .accelerometer {
            // The accelerometer has a clock of its own and no number.
            return StreamDescription(
                name: "accelerometer", samplingFrequency: 25, counterModulus: nil,
                channels: ["X", "Y", "Z"].map { channel($0, "ACCEL", "g", 0.002 / 16) })
        }
        return StreamDescription(
            name: "auxiliary", samplingFrequency: Self.frameFrequency, counterModulus: 256,
            channels: (1...(setup.stampsTime ? 1 : 3)).map { channel("Aux\($0)", "MISC", "n/a", 1) })
    }

    /// The headset does not notice the end of a link and streams on: it is stopped before anything is asked.
    ///
    /// The question is the command that attaches a Daisy, whose answer says how many channels there are. A headset that does
    /// not answer is set to eight.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        let pause = CommandStep.wait(.milliseconds(100))
        switch purpose {
        case .queryStatus: return setup.usesDaisy ? [Self.step("s"), pause, Self.step("C")] : []
        case .initialise:
            let channelCount = status?.streams?.contains { $0.bank == 1 } == true ? 16 : 8
            return (status == nil ? ["s", "c"] : []).flatMap { [Self.step($0), pause] }
                + setup.commands(channelCount: channelCount).flatMap { [Self.step($0), .wait(.milliseconds(50))] }
        case .start: return [Self.step("b")]
        case .stop: return [Self.step("s")]
        case .wake, .keepAlive, .queryVersion: return []
        }
    }

    private static func step(_ command: String) -> CommandStep {
        .write(Array(command.utf8), to: .serialPort, type: .withoutResponse)
    }

    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        HeadsetByteStream(
            characteristic: .serialPort, bytesPerSecond: Self.frameFrequency * Double(CytonFrame.length))
    }

    package func makeDecoder() -> any HeadsetDecoder { CytonDecoder(settings: setup) }
}
