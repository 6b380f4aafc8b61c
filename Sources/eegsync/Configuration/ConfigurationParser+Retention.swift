import YAMLReading

extension ConfigurationParser {
    /// Which recordings go by themselves.
    mutating func retention(_ value: YAMLValue) -> Configuration.Retention {
        let found = fields(value, ["keep_days", "max_size", "require_confirmed"])
        var retention = Configuration.Retention()
        retention.keepDays = integer(found["keep_days"], 1...36_500)
        if let stated = found["max_size"], let written = text(stated, limit: 32, allowed: ByteSize.allowed) {
            retention.sizeMaximum = ByteSize(written)
            if retention.sizeMaximum == nil { complain(stated, "\(stated.kind) is no size", ByteSize.allowed) }
        }
        retention.requiresConfirmation = flag(found["require_confirmed"]) ?? false
        if value.entries != nil, found["keep_days"] == nil, found["max_size"] == nil {
            complain(value, "neither 'keep_days' nor 'max_size' is there", "allowed is one of them, or both")
        }
        return retention
    }
}
