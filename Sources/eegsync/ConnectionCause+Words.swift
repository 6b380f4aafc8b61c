import Acquisition
import Bluetooth

/// What a connection waits for, in words.
extension ConnectionCause {
    /// What is the matter.
    var words: String {
        switch self {
        case .adapter(let state): state.words
        case .error(let error): error.description
        case .quarantine(let reason): reason.description
        }
    }

    /// What a person can do where nothing more is known.
    static let reload = "remove the cause, then: systemctl reload eegsync"

    /// What a person can do about it.
    var remedy: String {
        switch self {
        case .adapter(let state): state.remedy
        case .error(.peripheralBlocked): "unblock it: bluetoothctl unblock ADDRESS; eegsync goes on by itself"
        case .error(.pairingRefused):
            "write the headset's PIN as its 'passkey' into the configuration, and restart eegsync (without one eegsync says "
                + "0000); or let the headset forget earlier pairings: eegsync tries it again by itself"
        case .error(.repairingForbidden):
            "if the headset was reset, remove its old pairing: bluetoothctl remove ADDRESS; then: systemctl reload eegsync"
        case .error(.heldByBluetoothd):
            "stop bluetoothd: systemctl disable --now bluetooth; eegsync goes on by itself. Or use it: 'kind: bluez', and "
                + "restart eegsync"
        case .error: Self.reload
        case .quarantine(.otherSerialNumber):
            "correct its 'serial' in the configuration, or give the new headset another name there, then: systemctl reload "
                + "eegsync. To give it this name, end the recording (eegsync record stop NAME), then: eegsync headsets "
                + "rename NAME OTHER"
        case .quarantine:
            "see that it sends what it should, then: systemctl reload eegsync; until then its gap is open"
        }
    }
}
