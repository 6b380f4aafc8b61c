/// The form of an error in the database: the name of its case, and apart from it what the case leaves open. Words for people
/// are made where they are shown.
extension CentralError {
    /// The name of the case, such as `pairingRefused`.
    public var code: String {
        switch self {
        case .connectionTimedOut: "connectionTimedOut"
        case .connectionFailed: "connectionFailed"
        case .notConnected: "notConnected"
        case .linkLost: "linkLost"
        case .peripheralDisconnected: "peripheralDisconnected"
        case .disconnectedByOperator: "disconnectedByOperator"
        case .peripheralBlocked: "peripheralBlocked"
        case .adapterUnavailable: "adapterUnavailable"
        case .unknownPeripheral: "unknownPeripheral"
        case .channelBusy: "channelBusy"
        case .notificationsAcquired: "notificationsAcquired"
        case .heldByBluetoothd: "heldByBluetoothd"
        case .pairingRefused: "pairingRefused"
        case .repairingForbidden: "repairingForbidden"
        case .inProgress: "inProgress"
        case .noSuchCharacteristic: "noSuchCharacteristic"
        case .att: "att"
        case .notPermitted: "notPermitted"
        }
    }

    /// What the case leaves open: a reason, a UUID, the code of the Error Response in decimal, the state of the adapter; nil
    /// where it says all.
    public var parameter: String? {
        switch self {
        case .connectionFailed(let reason): reason
        case .adapterUnavailable(let state): state.rawValue
        case .noSuchCharacteristic(let uuid): uuid.description
        case .att(let error): "\(error.code)"
        case .notPermitted(let what): what
        case .connectionTimedOut, .notConnected, .linkLost, .peripheralDisconnected, .disconnectedByOperator,
            .peripheralBlocked, .unknownPeripheral, .channelBusy, .notificationsAcquired, .heldByBluetoothd, .pairingRefused,
            .repairingForbidden, .inProgress:
            nil
        }
    }

    /// The errors whose case says all.
    private static let simple: [CentralError] = [
        .connectionTimedOut, .notConnected, .linkLost, .peripheralDisconnected, .disconnectedByOperator, .peripheralBlocked,
        .unknownPeripheral, .channelBusy, .notificationsAcquired, .heldByBluetoothd, .pairingRefused, .repairingForbidden,
        .inProgress,
    ]

    /// The error of a code and its parameter; nil where there is none.
    public init?(code: String, parameter: String?) {
        if let error = Self.simple.first(where: { $0.code == code }) {
            self = error
            return
        }
        guard let parameter else { return nil }
        switch code {
        case "connectionFailed": self = .connectionFailed(reason: parameter)
        case "adapterUnavailable":
            guard let state = AdapterState(rawValue: parameter) else { return nil }
            self = .adapterUnavailable(state)
        case "noSuchCharacteristic":
            guard let uuid = BluetoothUUID(parameter) else { return nil }
            self = .noSuchCharacteristic(uuid)
        case "att":
            guard let code = UInt8(parameter) else { return nil }
            self = .att(ATTError(code: code))
        case "notPermitted": self = .notPermitted(what: parameter)
        default: return nil
        }
    }
}
