import Centre
import YAMLReading

extension ConfigurationParser {
    /// Where what is recorded is sent.
    mutating func ship(_ value: YAMLValue) -> Configuration.Ship? {
        let found = fields(value, ["to"])
        let allowed = "allowed is an address such as postgresql://pi-07@study.example.org/study, without a password"
        guard let stated = required("to", found, allowed), let address = text(stated, limit: 1024, allowed: allowed) else {
            return nil
        }
        // Without what stands there: it may be a password.
        if let problem = CentreConnection.problem(of: address) {
            complain(stated, problem, allowed)
            return nil
        }
        return Configuration.Ship(to: address)
    }
}
