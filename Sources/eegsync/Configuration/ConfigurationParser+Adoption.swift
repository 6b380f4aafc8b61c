import Bluetooth
import Reconnection
import YAMLReading

extension ConfigurationParser {
    /// What is done about addresses that nothing proves: `adopt` and `adopt_after_seconds`, of all headsets.
    mutating func adoption(_ found: YAMLFields) -> Adoption {
        var adoption = Adoption()
        if let policy = word(found["adopt"], Adoption.Policy.self) { adoption.policy = policy }
        if let seconds = number(found["adopt_after_seconds"], 5...86_400, unit: "s") {
            adoption.delay = .nanoseconds(Int64((seconds * 1e9).rounded()))
        }
        return adoption
    }

    /// Services that a headset advertises in pairing mode.
    mutating func services(_ value: YAMLValue) -> [BluetoothUUID] {
        let allowed = "allowed are services such as FE8D or 0000FE8D-0000-1000-8000-00805F9B34FB, in quotation marks"
        return elements(value, allowed).compactMap { element in
            guard let written = text(element, limit: 36, allowed: allowed) else { return nil }
            if let service = BluetoothUUID(written) { return service }
            complain(element, "\(element.kind) is no service", allowed)
            return nil
        }
    }
}
