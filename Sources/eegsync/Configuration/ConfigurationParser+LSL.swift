import YAMLReading

extension ConfigurationParser {
    /// Which streams of Lab Streaming Layer markers come from.
    mutating func lslMarkers(_ value: YAMLValue) -> [String] {
        let allowed = "allowed is a list of names of streams, or of predicates such as type='Markers'"
        guard let listed = required("markers", fields(value, ["markers"]), allowed) else { return [] }
        return elements(listed, allowed).compactMap { text($0, limit: 256, allowed: allowed) }
    }
}
