/// From facts to findings: the rules of `eegsync doctor`, without looking at anything themselves.
enum Diagnosis {
    /// All findings, in the order in which a person would look.
    static func findings(of facts: HostFacts) -> [Finding] {
        var findings = [configuration(facts.configuration, facts.choice)]
        if let problem = facts.alertsProblem {
            findings.append(.problem("alerts", problem, remedy: Configuration.alertsRemedy))
        }
        if isRadioUsed(facts.configuration) { findings += bluetooth(facts) }
        findings.append(clock(facts.clock))
        if let database = facts.database { findings += self.database(database) }
        findings += headsets(facts.headsets)
        findings += service(facts.service)
        return findings
    }

    /// A simulated radio needs no adapter; of a file that cannot be read nobody knows what it means to use.
    private static func isRadioUsed(_ configuration: HostFacts.ConfigurationFile) -> Bool {
        switch configuration {
        case .valid(_, let central, _): central != "simulation"
        case .wrong: false
        case .absent: true
        }
    }

    private static func configuration(_ configuration: HostFacts.ConfigurationFile, _ choice: CentralChoice?) -> Finding {
        let check = "configuration"
        switch configuration {
        case .valid(let path, _, true):
            return .warning(
                check, "\(path) is valid, and holds passkeys that every user of this machine can read",
                remedy: "put each into a file of mode 0600 that belongs to the user of the service, and name that file as "
                    + "passkey_file; or: chown root:eegsync \(path); chmod 640 \(path)")
        case .valid(let path, _, false): return .ok(check, "\(path) is valid" + (choice.map { "; \($0.sentence)" } ?? ""))
        case .absent(let path):
            return .problem(
                check, "there is no \(path)", remedy: "copy Deploy/eegsync.yaml there and name your headsets in it")
        case .wrong(let path, let problems):
            let more = problems.count > 1 ? ", and \(problems.count - 1) more" : ""
            return .problem(
                check, "\(path) is wrong: \(problems.first ?? "it cannot be read")\(more)",
                remedy: "correct the file; a running daemon keeps the old one until then")
        }
    }

    // MARK: The clock

    private static func clock(_ clock: HostFacts.Clock) -> Finding {
        let check = "clock"
        switch clock.isSynchronised {
        case true?: return .ok(check, "the wall clock is synchronised")
        case false?:
            return .warning(
                check,
                clock.hasBatteryClock
                    ? "the wall clock is not synchronised: times in UTC may be off; samples keep their true distances"
                    : "the wall clock is not synchronised, and no battery keeps it while the machine is off: times in UTC are "
                        + "wrong until it is; samples keep their true distances",
                remedy: "connect the machine to a network and enable systemd-timesyncd or chrony")
        case nil:
            return .warning(
                check, "the kernel does not say whether the clock is synchronised", remedy: "run `timedatectl`")
        }
    }

    // MARK: The service

    private static func service(_ service: HostFacts.Service) -> [Finding] {
        let check = "service"
        let runs = service.daemonPid.map { "eegsync run has pid \($0)" }
        guard service.hasSystemd else {
            return [
                runs.map { .ok(check, "\($0), without systemd") }
                    ?? .warning(
                        check, "eegsync run does not run, and there is no systemd to start it",
                        remedy: "start it: eegsync run, and see that something restarts it after a crash")
            ]
        }
        guard service.load == "loaded" else {
            return [
                .warning(
                    check, "the unit eegsync.service is not installed\(runs.map { "; \($0)" } ?? "")",
                    remedy: "install it: Deploy/install; without it nothing restarts eegsync after a crash or a reboot")
            ]
        }
        return [activity(service, check: check), enabled(service), watchdog(service), memory(service)].compactMap { $0 }
    }

    private static func activity(_ service: HostFacts.Service, check: String) -> Finding {
        switch service.active {
        case "active": return .ok(check, "eegsync.service runs\(service.daemonPid.map { " (pid \($0))" } ?? "")")
        case "failed":
            return .problem(
                check, "eegsync.service has failed",
                remedy: "read why: journalctl -u eegsync -e; then: systemctl restart eegsync")
        case "activating":
            return .warning(
                check, "eegsync.service is starting, or starts again and again", remedy: "read why: journalctl -u eegsync -e")
        default:
            if let pid = service.daemonPid {
                return .warning(
                    check, "eegsync run has pid \(pid), but not as eegsync.service",
                    remedy: "nothing restarts it after a crash; end it and start the unit: systemctl start eegsync")
            }
            return .problem(check, "eegsync.service does not run", remedy: "start it: systemctl start eegsync")
        }
    }

    private static func enabled(_ service: HostFacts.Service) -> Finding {
        if service.enabled?.hasPrefix("enabled") ?? false { return .ok("start at boot", "eegsync.service is enabled") }
        return .warning(
            "start at boot", "eegsync.service is not enabled: after a reboot nothing records",
            remedy: "enable it: systemctl enable eegsync")
    }

    /// A Raspberry Pi OS may start its kernel with cgroup_disable=memory.
    private static func memory(_ service: HostFacts.Service) -> Finding? {
        switch service.isMemoryCounted {
        case true?: .ok("memory", "a leak ends the process, and not the machine")
        case false?:
            .warning(
                "memory",
                "the kernel does not count memory: MemoryMax= of the unit has no effect, and what it holds may be swapped out",
                remedy: "add cgroup_enable=memory to the line of /boot/firmware/cmdline.txt and reboot; what is recorded may "
                    + "stand in a swap that is not encrypted")
        case nil: nil
        }
    }

    private static func watchdog(_ service: HostFacts.Service) -> Finding {
        if service.watchdogSeconds > 0 {
            return .ok("watchdog", "a hang is ended after \(Quantity.duration(seconds: service.watchdogSeconds))")
        }
        return .warning(
            "watchdog", "the unit has no watchdog: a hang would last until somebody notices",
            remedy: "set WatchdogSec=15 in the unit, as Deploy/eegsync.service does")
    }
}
