import YAMLReading

extension ConfigurationParser {
    /// How the page is served.
    mutating func serve(_ value: YAMLValue) -> Configuration.Serve {
        let found = fields(value, ["address", "port", "control", "hosts"])
        var serve = Configuration.Serve()
        if let address = found["address"], let written = text(address, limit: 64, allowed: Configuration.Serve.addressHint),
            !["localhost", "127.0.0.1"].contains(written)
        {
            complain(address, "\(address.kind) is no address that the page is served at", Configuration.Serve.addressHint)
        }
        if let port = integer(found["port"], 1...65_535) { serve.port = UInt16(port) }
        serve.allowsControl = flag(found["control"]) ?? false
        if let hosts = found["hosts"] { serve.hosts = names(hosts) }
        return serve
    }

    private mutating func names(_ value: YAMLValue) -> [String] {
        let allowed = "allowed is a list of names such as pi.example.org, without port"
        return elements(value, allowed).compactMap { element in
            guard let name = text(element, limit: 253, allowed: allowed) else { return nil }
            let isName =
                !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x2E
                }
            if !isName { complain(element, "\(element.kind) is no name of a machine", allowed) }
            return isName ? name.lowercased() : nil
        }
    }
}
