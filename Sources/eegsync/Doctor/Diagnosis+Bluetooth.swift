import Bluetooth

extension Diagnosis {
    /// The oldest bluetoothd that the lab runs eegsync against.
    private static let testedVersion = SoftwareVersion(5, 66)

    /// Everything between a headset and this process.
    static func bluetooth(_ facts: HostFacts) -> [Finding] {
        var findings = adapters(facts)
        if let kernel = facts.kernel { findings.append(self.kernel(kernel)) }
        if let choice = facts.choice, case .kernel = choice.central { return findings + kernelSockets(facts, choice) }
        findings.append(bluetoothd(facts.bluetoothd, uncounted: facts.uncountedHeadsets))
        if facts.bluetoothd.pid != nil, let bus = bus(facts.bluetoothd.bus) { findings.append(bus) }
        if facts.bluetooth.managementError == nil, !facts.bluetooth.adapters.isEmpty {
            findings.append(connectionParameters(facts))
        }
        return findings + holders(facts)
    }

    // MARK: Adapters

    private static func adapters(_ facts: HostFacts) -> [Finding] {
        if facts.bluetooth.adapters.isEmpty { return [noAdapter(facts.bluetooth.managementError)] }
        let findings = facts.bluetooth.adapters.map { adapter($0, facts) }
        // Several adapters: one that works is enough, the others are worth a remark.
        guard findings.contains(where: { $0.verdict == .ok }) else { return findings }
        return findings.map { finding in
            var finding = finding
            if finding.verdict == .problem { finding.verdict = .warning }
            return finding
        }
    }

    private static func noAdapter(_ error: String?) -> Finding {
        if let error {
            return .problem(
                "adapter", "there is no Bluetooth adapter: \(error)",
                remedy: "load the driver (modprobe btusb, or hci_uart on a Raspberry Pi) and see `dmesg | grep -i bluetooth`")
        }
        return .problem(
            "adapter", "there is no Bluetooth adapter",
            remedy: "plug one in; on a Raspberry Pi see that /boot/firmware/config.txt does not disable it "
                + "(dtoverlay=disable-bt)")
    }

    private static func adapter(_ adapter: HostFacts.Adapter, _ facts: HostFacts) -> Finding {
        let check = "adapter \(adapter.name)"
        switch adapter.block {
        case .hard:
            return .problem(
                check, "the radio is blocked by a switch of the machine", remedy: "move the switch; `rfkill list` shows it")
        case .soft: return .problem(check, "the radio is blocked (rfkill)", remedy: "unblock it: rfkill unblock bluetooth")
        case .none: break
        }
        if adapter.hasLowEnergy == false {
            return .problem(check, "it has no Bluetooth Low Energy", remedy: "use an adapter with Bluetooth 4.0 or later")
        }
        if adapter.isPowered == false {
            if let choice = facts.choice, case .kernel = choice.central { return adapterOff(check, choice) }
            // bluetoothd switches adapters on when it starts (AutoEnable in its main.conf); whether a person did not want that
            // shows only then.
            if facts.bluetoothd.pid == nil {
                return .warning(check, "it is off, as long as bluetoothd does not run", remedy: "start bluetoothd first")
            }
            return .problem(
                check, "it is switched off; eegsync does not switch on what a person switched off",
                remedy: "switch it on: bluetoothctl power on")
        }
        if let holder = adapter.holder, holder != facts.service.daemonPid {
            return .warning(
                check, "another eegsync (pid \(holder)), with another database, has it; a second one waits",
                remedy: "end that one, or give each an adapter of its own: 'adapter: hci1'")
        }
        var about = adapter.address ?? "present"
        if let version = adapter.bluetoothVersion.flatMap(Self.name(bluetoothVersion:)) { about += ", Bluetooth \(version)" }
        let isOn = adapter.isPowered == true
        return isOn
            ? .ok(check, "\(about), is on")
            : .warning(check, "\(about); the kernel does not say whether it is on", remedy: "run `bluetoothctl show`")
    }

    /// Names of the version numbers (Assigned Numbers, 2.1).
    private static func name(bluetoothVersion: UInt8) -> String? {
        let names = ["1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0"]
        return Int(bluetoothVersion) < names.count ? names[Int(bluetoothVersion)] : nil
    }

    // MARK: bluetoothd

    private static func bluetoothd(_ bluetoothd: HostFacts.Bluetoothd, uncounted: [String]) -> Finding {
        let check = "bluetoothd"
        guard let pid = bluetoothd.pid else {
            if case .unreachable(let reason) = bluetoothd.bus {
                return .problem(
                    check, "the system bus cannot be reached (\(reason)), so bluetoothd cannot either",
                    remedy: "start it: systemctl start dbus bluetooth")
            }
            return bluetoothd.isInstalled
                ? .problem(check, "bluetoothd does not run", remedy: "start it: systemctl enable --now bluetooth")
                : .problem(check, "bluetoothd is not installed", remedy: "install it: apt install bluez")
        }
        guard let version = bluetoothd.version.flatMap({ SoftwareVersion($0) }) else {
            return .ok(check, "it runs (pid \(pid))")
        }
        let runs = "version \(version) runs (pid \(pid))"
        if version < testedVersion {
            return .warning(
                check, "\(runs), older than \(testedVersion), the oldest that is tested",
                remedy: "upgrade the package bluez if headsets do not reconnect as they should")
        }
        if let fault = VersionFault.bluetoothd(version, uncounted: uncounted) {
            return .warning(check, "\(runs), which \(fault.consequence)", remedy: fault.remedy)
        }
        return .ok(check, runs)
    }

    // MARK: The kernel

    private static func kernel(_ version: SoftwareVersion) -> Finding {
        let check = "kernel"
        guard let fault = VersionFault.kernel(version) else { return .ok(check, "Linux \(version)") }
        return .warning(check, "Linux \(version) \(fault.consequence)", remedy: fault.remedy)
    }

    private static func bus(_ bus: HostFacts.Bus) -> Finding? {
        switch bus {
        case .reachable: .ok("D-Bus", "bluetoothd answers")
        case .unreachable(let reason):
            .problem(
                "D-Bus", "the system bus cannot be reached: \(reason)",
                remedy: "see that dbus runs, and that a unit or container lets this process reach /run/dbus/system_bus_socket")
        case .silent(let reason):
            .problem(
                "D-Bus", "bluetoothd runs, but does not answer: \(reason)", remedy: "restart it: systemctl restart bluetooth")
        case .denied(let reason):
            .problem(
                "D-Bus", "bluetoothd may not be used: \(reason)",
                remedy: "add the user to the group bluetooth (usermod -aG bluetooth eegsync) and restart the service")
        }
    }

    // MARK: Connection parameters

    private static func connectionParameters(_ facts: HostFacts) -> Finding {
        let check = "link timeout"
        if facts.privilege.daemonMayLoadParameters ?? facts.privilege.thisProcessMay {
            return .ok(check, "eegsync sets interval and supervision timeout (2 ... 6 s) for each headset")
        }
        let known = facts.bluetooth.adapters.compactMap(\.defaultParameters)
        // The shortest of several adapters decides.
        guard let shortest = known.min(by: { $0.supervisionTimeout < $1.supervisionTimeout }) else {
            return .warning(
                check, "eegsync may not set connection parameters, and the kernel does not report its own", remedy: grant)
        }
        if shortest.supervision >= .seconds(2) {
            return .ok(check, "eegsync may not set connection parameters, but the adapter's own will do: \(shortest)")
        }
        return .warning(
            check,
            "eegsync may not set connection parameters; a fade of \(Quantity.duration(shortest.supervision)) ends a link",
            remedy: grant)
    }

    private static let grant =
        "give the unit AmbientCapabilities=CAP_NET_ADMIN, or for all devices set ConnectionSupervisionTimeout=400 under [LE] "
        + "in /etc/bluetooth/main.conf and restart bluetooth"

    // MARK: Who else

    /// A headset that is connected although the daemon does not hold it. Which program does is not known to the system.
    private static func holders(_ facts: HostFacts) -> [Finding] {
        facts.headsets.filter { $0.isConnected && !$0.isHeldByDaemon }.map { headset in
            if facts.service.daemonPid == nil {
                return .warning(
                    "headset \(headset.name)", "it is connected to this machine, but eegsync run does not run",
                    remedy: "eegsync takes the link over when it starts; if another program records from it, end that one")
            }
            return .warning(
                "headset \(headset.name)", "it is connected, but not by eegsync",
                remedy: "end the other program, or disconnect the headset: bluetoothctl disconnect")
        }
    }
}
