import YAMLReading

extension Configuration {
    /// Where stimulus programs send markers to; what `eegsync markers` does.
    struct Markers: Hashable, Sendable {
        /// Messages of UDP.
        var udp: ListenAddress?
        /// The path of a local socket of datagrams; absolute.
        var socket: String?
    }
}

extension ConfigurationParser {
    /// Where stimulus programs send markers to.
    mutating func markers(_ value: YAMLValue) -> Configuration.Markers {
        let found = fields(value, ["udp", "socket"])
        var markers = Configuration.Markers()
        if let address = found["udp"] {
            let allowed = "allowed is an address in figures with a port, such as 127.0.0.1:9581"
            markers.udp = text(address, limit: 64, allowed: allowed).flatMap { ListenAddress(argument: $0) }
            if markers.udp == nil { complain(address, "\(address.kind) is no address with a port", allowed) }
        }
        if let path = found["socket"] {
            let allowed = "allowed is an absolute path, of at most 107 bytes"
            markers.socket = text(path, limit: 107, allowed: allowed)
            if markers.socket?.hasPrefix("/") != true { complain(path, "\(path.kind) is no absolute path", allowed) }
        }
        if found["udp"] == nil, found["socket"] == nil {
            complain(value, "it is not said where", "allowed are udp and socket, at least one of them")
        }
        return markers
    }
}
