import Crypto

/// What a machine is known by in databases that leave it: a digest from which neither its machine-id nor its serial number can
/// be guessed without having it.
package struct MachineDigest: Hashable, Sendable {
    /// 32 lowercase hexadecimal digits.
    package let text: String

    /// This program's number among all that ask (`systemd-id128 new`).
    private static let application: [UInt8] = [
        0x5c, 0x2e, 0x0f, 0x4b, 0x8a, 0x61, 0x4d, 0x17, 0x9b, 0x33, 0xe2, 0x7f, 0x60, 0xc4, 0x1d, 0xa8,
    ]

    /// The digest of the machine-id (machine-id(5)), as sd_id128_get_machine_app_specific(3) computes it: HMAC-SHA256 of the
    /// application's number with the machine-id for a key, cut to 128 bits and marked as a UUID of version 4.
    ///
    /// - Parameter machineID: 32 hexadecimal digits; nil comes of anything else.
    package init?(machineID: String) {
        let digits = machineID.compactMap(\.hexDigitValue)
        guard machineID.utf8.count == 32, digits.count == 32 else { return nil }
        self.init(key: (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) })
    }

    /// The digest of a board's serial number, computed in the same way.
    ///
    /// - Parameter serialNumber: as the firmware says it; nil comes of one without a sign but zero.
    package init?(boardSerialNumber serialNumber: String) {
        guard serialNumber.contains(where: { $0 != "0" }) else { return nil }
        self.init(key: Array(serialNumber.utf8))
    }

    private init(key: [UInt8]) {
        let code = HMAC<SHA256>.authenticationCode(for: Self.application, using: SymmetricKey(data: key))
        var bytes = Array(code.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
