import Centre
import YAMLReading

extension ConfigurationParser {
    /// Where what is recorded is sent.
    mutating func ship(_ value: YAMLValue) -> Configuration.Ship? {
        let found = fields(value, ["to", "max_rate", "hours", "live"])
        let allowed = "allowed is an address such as postgresql://pi-07@study.example.org/study, without a password"
        guard let stated = required("to", found, allowed), let address = text(stated, limit: 1024, allowed: allowed) else {
            return nil
        }
        // Without what stands there: it may be a password.
        if let problem = CentreConnection.problem(of: address) {
            complain(stated, problem, allowed)
            return nil
        }
        var ship = Configuration.Ship(to: address)
        if let stated = found["max_rate"], let written = text(stated, limit: 32, allowed: ByteRate.allowed) {
            ship.maxRate = ByteRate(written)
            if ship.maxRate == nil { complain(stated, "\(stated.kind) is no rate", ByteRate.allowed) }
        }
        if let stated = found["hours"], let written = text(stated, limit: 32, allowed: ShippingHours.allowed) {
            ship.hours = ShippingHours(written)
            if ship.hours == nil { complain(stated, "\(stated.kind) is no stretch of the day", ShippingHours.allowed) }
        }
        ship.isLive = flag(found["live"]) ?? false
        return ship
    }
}
