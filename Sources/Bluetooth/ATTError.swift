/// An error code of the Attribute Protocol (Core Specification, Vol 3, Part F, 3.4.1.1; Core Specification Supplement, Part B).
package struct ATTError: Error, Hashable, Sendable {
    /// The code of the Error Response.
    package let code: UInt8

    /// Creates an error from its code.
    package init(code: UInt8) {
        self.code = code
    }

    package static let invalidHandle = ATTError(code: 0x01)
    package static let readNotPermitted = ATTError(code: 0x02)
    package static let writeNotPermitted = ATTError(code: 0x03)
    package static let invalidPDU = ATTError(code: 0x04)
    package static let insufficientAuthentication = ATTError(code: 0x05)
    package static let requestNotSupported = ATTError(code: 0x06)
    package static let invalidOffset = ATTError(code: 0x07)
    package static let insufficientAuthorization = ATTError(code: 0x08)
    package static let prepareQueueFull = ATTError(code: 0x09)
    package static let attributeNotFound = ATTError(code: 0x0A)
    package static let attributeNotLong = ATTError(code: 0x0B)
    package static let insufficientEncryptionKeySize = ATTError(code: 0x0C)
    package static let invalidAttributeValueLength = ATTError(code: 0x0D)
    package static let unlikelyError = ATTError(code: 0x0E)
    package static let insufficientEncryption = ATTError(code: 0x0F)
    package static let unsupportedGroupType = ATTError(code: 0x10)
    package static let insufficientResources = ATTError(code: 0x11)
    package static let databaseOutOfSync = ATTError(code: 0x12)
    package static let valueNotAllowed = ATTError(code: 0x13)
    package static let writeRequestRejected = ATTError(code: 0xFC)
    package static let clientConfigurationImproper = ATTError(code: 0xFD)
    package static let procedureAlreadyInProgress = ATTError(code: 0xFE)
    package static let outOfRange = ATTError(code: 0xFF)

    /// True for the range that a service defines for itself (0x80 ... 0x9F).
    package var isApplicationError: Bool { (0x80...0x9F).contains(code) }

    /// True for the range of errors that all profiles and services share (0xE0 ... 0xFF), of which four are defined.
    package var isCommonProfileError: Bool { code >= 0xE0 }

    /// What the error asks for: pairing errors wait for a person, passing ones are retried, the rest ask for a fresh discovery.
    package var disposition: Disposition {
        switch self {
        case .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption, .insufficientEncryptionKeySize:
            .waitForOperator
        case .requestNotSupported, .readNotPermitted, .writeNotPermitted: .stop
        default: .retry
        }
    }
}

extension ATTError: CustomStringConvertible {
    private static let names: [String] = [
        "success", "invalid handle", "read not permitted", "write not permitted", "invalid PDU", "insufficient authentication",
        "request not supported", "invalid offset", "insufficient authorization", "prepare queue full", "attribute not found",
        "attribute not long", "insufficient encryption key size", "invalid attribute value length", "unlikely error",
        "insufficient encryption", "unsupported group type", "insufficient resources", "database out of sync",
        "value not allowed",
    ]
    /// The last codes of the range that all profiles share (Core Specification Supplement, Part B, 1.2).
    private static let commonProfileNames: [String] = [
        "write request rejected", "client characteristic configuration descriptor improperly configured",
        "procedure already in progress", "out of range",
    ]

    /// The specification's name and the code, such as `insufficient encryption (0x0f)`.
    package var description: String {
        let digits = String(code, radix: 16)
        let written = "0x" + (digits.count == 1 ? "0" : "") + digits
        if Int(code) < Self.names.count { return "\(Self.names[Int(code)]) (\(written))" }
        if code >= 0xFC { return "\(Self.commonProfileNames[Int(code) - 0xFC]) (\(written))" }
        if isCommonProfileError { return "common profile error (\(written))" }
        return isApplicationError ? "application error (\(written))" : "reserved ATT error (\(written))"
    }
}
