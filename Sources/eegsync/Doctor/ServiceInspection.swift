/// Looks at the unit of the service manager.
struct ServiceInspection {
    let files: SystemFiles

    /// The unit, and whether it grants CAP_NET_ADMIN; nil where systemd does not know it.
    func facts(daemonPid: Int32?) -> (service: HostFacts.Service, grantsNetworkAdministration: Bool?) {
        var service = HostFacts.Service(daemonPid: daemonPid)
        service.hasSystemd = files.exists("/run/systemd/system")
        guard service.hasSystemd,
            let output = OtherProgram.output(
                of: "/usr/bin/systemctl",
                [
                    "show", "eegsync.service",
                    "--property=LoadState,ActiveState,UnitFileState,WatchdogUSec,AmbientCapabilities,User,MemoryCurrent",
                ])
        else { return (service, nil) }
        return Self.read(output, into: service)
    }

    /// Reads lines of `NAME=VALUE`.
    static func read(
        _ output: String, into service: HostFacts.Service
    ) -> (service: HostFacts.Service, grantsNetworkAdministration: Bool?) {
        var service = service
        func value(_ name: String) -> String? {
            output.split(separator: "\n").first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        service.load = value("LoadState")
        service.active = value("ActiveState")
        service.enabled = value("UnitFileState")
        service.watchdogSeconds = value("WatchdogUSec").flatMap(seconds) ?? 0
        if service.active == "active" { service.isMemoryCounted = value("MemoryCurrent").map { UInt64($0) ?? .max < .max } }
        guard service.load == "loaded" else { return (service, nil) }
        let user = value("User") ?? ""
        let isRoot = user.isEmpty || user == "root"
        return (service, isRoot || (value("AmbientCapabilities") ?? "").contains("cap_net_admin"))
    }

    /// Reads a time span of systemd.time(7), such as `1min 30s`; nil for `infinity` and for what is no time span.
    static func seconds(timeSpan: String) -> Double? {
        let units = [("min", 60.0), ("ms", 1e-3), ("us", 1e-6), ("s", 1), ("h", 3600), ("d", 86_400)]
        var sum = 0.0
        for part in timeSpan.split(separator: " ") {
            guard let unit = units.first(where: { part.hasSuffix($0.0) }), let number = Double(part.dropLast(unit.0.count))
            else {
                guard part == "0" else { return nil }
                continue
            }
            sum += number * unit.1
        }
        return sum
    }
}
