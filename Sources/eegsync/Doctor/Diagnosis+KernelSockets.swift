/// What matters where headsets are reached over the kernel's own sockets.
extension Diagnosis {
    /// Permission, and who is in the way.
    static func kernelSockets(_ facts: HostFacts, _ choice: CentralChoice) -> [Finding] {
        [permission(facts, choice), bluetoothdBeside(facts.bluetoothd, choice)]
    }

    private static func permission(_ facts: HostFacts, _ choice: CentralChoice) -> Finding {
        let check = "permission"
        if facts.privilege.daemonMayLoadParameters ?? facts.privilege.thisProcessMay {
            return .ok(check, "eegsync may scan, connect and set connection parameters (CAP_NET_ADMIN)")
        }
        return .problem(
            check,
            "eegsync lacks CAP_NET_ADMIN: without bluetoothd it can neither scan nor connect nor switch the adapter on",
            remedy: CentralChoice.grant)
    }

    private static func bluetoothdBeside(_ bluetoothd: HostFacts.Bluetoothd, _ choice: CentralChoice) -> Finding {
        let check = "bluetoothd"
        if let pid = bluetoothd.pid {
            return .problem(
                check, "it runs (pid \(pid)) beside 'kind: kernel', and takes the channels of links (EBUSY)",
                remedy: "stop it: systemctl disable --now bluetooth; or use it: 'kind: bluez'")
        }
        // With 'kind: auto' it decides the way, and whoever has installed it may have meant it to run.
        if choice.reason != nil, bluetoothd.isInstalled {
            return .warning(
                check, "it is installed, but does not run, so headsets are reached over the kernel's own sockets",
                remedy: "say that it shall be so: 'kind: kernel'; or start it (systemctl enable --now bluetooth) and restart "
                    + "eegsync")
        }
        return .ok(check, "it does not run, and is not needed")
    }

    /// The adapter is off, and no bluetoothd switches it on.
    static func adapterOff(_ check: String, _ choice: CentralChoice) -> Finding {
        let remedy = "switch it on (btmgmt power on), or let eegsync do so when it starts: 'power_on: true'"
        guard case .kernel(let settings) = choice.central, settings.powersOn else {
            return .problem(check, "it is switched off", remedy: remedy)
        }
        return .warning(
            check, "it is switched off; eegsync switches it on when it starts, unless a person has switched it off since",
            remedy: "switch it on: btmgmt power on; or restart eegsync")
    }
}
