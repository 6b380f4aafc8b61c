import Bluetooth

/// The g.tec Unicorn Hybrid Black: 8 channels and motion at 250 Hz over a classic serial port.
package struct UnicornProfile: SerialPortProfile {
    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// The index of the stream of accelerations.
    package static let accelerometer = 1
    /// The index of the stream of angular velocities.
    package static let gyroscope = 2

    /// Microvolts of one count (unicorn2lsl: 4,500,000 / 50,331,642).
    package static let microvoltsPerCount = 4_500_000.0 / 50_331_642

    /// Creates the profile.
    package init() {}

    package var model: String { "unicorn" }
    package var displayName: String { "g.tec Unicorn Hybrid Black" }
    package var manufacturer: String? { "g.tec" }

    /// Such as `UN-2019.05.12`.
    package var recognition: Recognition { Recognition(serviceUUIDs: [], namePrefixes: ["UN-"]) }

    package var streams: [StreamDescription] {
        [
            StreamDescription(
                name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32,
                channels: ["Fz", "C3", "Cz", "C4", "Pz", "PO7", "Oz", "PO8"].map {
                    ChannelDescription(
                        name: $0, scale: Self.microvoltsPerCount, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
                }),
            Self.motion("accelerometer", type: "ACCEL", unit: "g", scale: 1 / 4096),
            Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scale: 1 / 32.8),
        ]
    }

    private static func motion(_ name: String, type: String, unit: String, scale: Double) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: 250, counterModulus: 1 << 32,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(
                    name: $0, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
            })
    }

    /// No question about the status is known. A headset that still sends from before is stopped first; its answers move
    /// nothing, since one that does not start is noticed by its silence.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .initialise: [Self.step(.stop), .wait(.milliseconds(100))]
        case .start: [Self.step(.start)]
        case .stop: [Self.step(.stop)]
        case .queryStatus, .wake, .keepAlive, .queryVersion: []
        }
    }

    private static func step(_ command: UnicornCommand) -> CommandStep {
        .write(command.bytes, to: .serialPort, type: .withoutResponse)
    }

    /// 250 frames.
    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        HeadsetByteStream(characteristic: .serialPort, bytesPerSecond: 250 * Double(UnicornFrame.length))
    }

    package func makeDecoder() -> any HeadsetDecoder { UnicornDecoder() }
}
