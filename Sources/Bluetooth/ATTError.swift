/// An error code of the Attribute Protocol (Core Specification, Vol 3, Part F, 3.4.1.1; Core Specification Supplement, Part B).
public struct ATTError: Error, Hashable, Sendable {
    /// The code of the Error Response.
    public let code: UInt8

    /// Creates an error from its code.
    public init(code: UInt8) {
        self.code = code
    }

    public static let invalidHandle = ATTError(code: 0x01)
    public static let readNotPermitted = ATTError(code: 0x02)
    public static let writeNotPermitted = ATTError(code: 0x03)
    public static let invalidPDU = ATTError(code: 0x04)
    public static let insufficientAuthentication = ATTError(code: 0x05)
    public static let requestNotSupported = ATTError(code: 0x06)
    public static let invalidOffset = ATTError(code: 0x07)
    public static let insufficientAuthorization = ATTError(code: 0x08)
    public static let prepareQueueFull = ATTError(code: 0x09)
    public static let attributeNotFound = ATTError(code: 0x0A)
    public static let attributeNotLong = ATTError(code: 0x0B)
    public static let insufficientEncryptionKeySize = ATTError(code: 0x0C)
    public static let invalidAttributeValueLength = ATTError(code: 0x0D)
    public static let unlikelyError = ATTError(code: 0x0E)
    public static let insufficientEncryption = ATTError(code: 0x0F)
    public static let unsupportedGroupType = ATTError(code: 0x10)
    public static let insufficientResources = ATTError(code: 0x11)
    public static let databaseOutOfSync = ATTError(code: 0x12)
    public static let valueNotAllowed = ATTError(code: 0x13)
    public static let writeRequestRejected = ATTError(code: 0xFC)
    public static let clientConfigurationImproper = ATTError(code: 0xFD)
    public static let procedureAlreadyInProgress = ATTError(code: 0xFE)
    public static let outOfRange = ATTError(code: 0xFF)

    /// True for the range that a service defines for itself (0x80 ... 0x9F).
    public var isApplicationError: Bool { (0x80...0x9F).contains(code) }

    /// True for the range of errors that all profiles and services share (0xE0 ... 0xFF), of which four are defined.
    public var isCommonProfileError: Bool { code >= 0xE0 }

    /// What the error asks for: pairing errors wait for a person, passing ones are retried, the rest ask for a fresh discovery.
    public var disposition: Disposition {
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
    public var description: String {
        let digits = String(code, radix: 16)
        let written = "0x" + (digits.count == 1 ? "0" : "") + digits
        if Int(code) < Self.names.count { return "\(Self.names[Int(code)]) (\(written))" }
        if code >= 0xFC { return "\(Self.commonProfileNames[Int(code) - 0xFC]) (\(written))" }
        if isCommonProfileError { return "common profile error (\(written))" }
        return isApplicationError ? "application error (\(written))" : "reserved ATT error (\(written))"
    }
}
