package import Bluetooth

/// The Buffered EEG service: an open GATT service for headsets that keep samples in memory until they are acknowledged.
///
/// Its specification is the documentation page `BufferedEEGService`. All UUIDs are `ab87NNNN-81bc-439d-a90a-be5d3a2ce5f9`,
/// where the base is a random UUID of this project; they are compared whole.
package enum BufferedEEGService {
    /// The version of the protocol that this program speaks; the second byte of a status header.
    package static let version: UInt8 = 1

    /// What the local name of a headset begins with; finds those whose advertisement has no room for the service.
    package static let namePrefix = "BEEG-"
    /// The service (0001), advertised in normal operation.
    package static let service = uuid(0x0001)
    /// The service UUID advertised instead of ``service`` in pairing mode (0002); no such service is in the GATT database.
    package static let pairingService = uuid(0x0002)
    /// The control characteristic (0003): write with response, notify.
    package static let control = uuid(0x0003)
    /// The data characteristic (0004): notify.
    package static let data = uuid(0x0004)

    /// The most streams (banks counted singly) that a headset may have.
    package static let streamCountMaximum = 8
    /// The most bytes of one notification: ATT_MTU 247 less 3 bytes of ATT header.
    package static let notificationLengthMaximum = 244
    /// The smallest ATT_MTU with which the service works: the status header of 8 streams has 117 bytes.
    package static let mtuMinimum = 128
    /// The most bytes of a stream's or a channel's name.
    package static let nameLengthMaximum = 16
    /// The most bytes of a unit.
    package static let unitLengthMaximum = 8

    /// The service's characteristics and the serial number's, as a headset shows them in its GATT database.
    package static let characteristics: [Characteristic] = [
        Characteristic(service: .deviceInformation, uuid: .serialNumberString, properties: [.read]),
        Characteristic(service: service, uuid: control, properties: [.write, .notify]),
        Characteristic(service: service, uuid: data, properties: [.notify]),
    ]

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0xAB87_0000_81BC_439D | number << 32, low: 0xA90A_BE5D_3A2C_E5F9)
    }
}

extension BufferedEEGService {
    /// Why a headset refuses a command, or that it does not: the code of a command result.
    package enum ResultCode: UInt8, Hashable, Sendable, CaseIterable {
        /// Done.
        case success = 0
        /// The headset does not know the opcode.
        case unknownCommand = 1
        /// The command has the wrong length.
        case malformed = 2
        /// There is no such stream.
        case noSuchStream = 3
        /// The index lies beyond the newest sample.
        case indexOutOfRange = 4
        /// Not possible in the present condition, such as START in low power.
        case wrongCondition = 5
        /// Something in the headset failed.
        case failed = 6
        /// Never sent: this program's own code for a status header of a protocol version that it does not speak.
        case unsupportedVersion = 0xFF
    }

    /// Why samples cannot be had any more. A code that this version does not know is read as ``unreadable``.
    package enum GapReason: UInt8, Hashable, Sendable, CaseIterable {
        /// Newer samples have overwritten them in memory.
        case overwritten = 0
        /// The memory could not be read back.
        case unreadable = 1
        /// The headset was not sampling at that time.
        case notSampled = 2
    }

    /// Why a read ended. A code that this version does not know is read as ``failed``.
    package enum EndReason: UInt8, Hashable, Sendable, CaseIterable {
        /// Everything up to the newest sample at the time of READ was sent.
        case complete = 0
        /// ABORT or STOP ended it; a READ that replaces another is no end.
        case aborted = 1
        /// Something in the headset failed.
        case failed = 2
    }
}
