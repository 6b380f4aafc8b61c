import Bluetooth

/// The GATT service *eegsync companion*; its specification is the documentation page `Companion`.
///
/// All UUIDs are `9984NNNN-8bc2-4951-8f5e-3f8d7b94806a`, where the base is a random UUID of this project; they are compared
/// whole.
enum CompanionService {
    /// The version of the service: the first byte of the status.
    static let version: UInt8 = 1
    /// The service (0001), advertised.
    static let service = uuid(0x0001)
    /// How things stand (0002): read, notify.
    static let status = uuid(0x0002)
    /// The headsets (0003): read all, notify those that changed.
    static let headsets = uuid(0x0003)
    /// Commands and their results (0004): write with response, notify; only over an authenticated link.
    static let control = uuid(0x0004)

    /// The longest value of an attribute (Core Specification, Vol 3, Part F, 3.2.9).
    static let valueLengthMaximum = 512
    /// The longest name of a headset, in bytes of UTF-8.
    static let nameLengthMaximum = 40

    /// The company of the status byte in the advertisement: of none (Assigned Numbers, 7: 0xFFFF is for internal use).
    static let company: UInt16 = 0xFFFF
    /// What its data begins with, so that it is not taken for another program's.
    static let companyDataPrefix: [UInt8] = [0x99, 0x84]

    /// The characteristics, as they are published.
    static let published: [PublishedCharacteristic] = [
        PublishedCharacteristic(Characteristic(service: service, uuid: status, properties: [.read, .notify])),
        PublishedCharacteristic(Characteristic(service: service, uuid: headsets, properties: [.read, .notify])),
        PublishedCharacteristic(
            Characteristic(service: service, uuid: control, properties: [.write, .notify]), security: .authenticated),
    ]

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x9984_0000_8BC2_4951 | number << 32, low: 0x8F5E_3F8D_7B94_806A)
    }
}
