import Bluetooth
import Testing

@testable import eegsync

/// The rules of `eegsync doctor`, on machines that are made up.
@Suite struct DiagnosisTests {
    /// A machine on which everything is as it should be.
    static var healthy: HostFacts {
        var facts = HostFacts()
        facts.configuration = .valid(path: "/etc/eegsync/eegsync.yaml", central: "auto")
        facts.choice = CentralChoice(
            .automatic(Configuration.BlueZ(), Configuration.Kernel()), isBluetoothdRunning: true)
        facts.bluetooth.adapters = [
            HostFacts.Adapter(
                name: "hci0", address: "00:AA:01:00:00:42", bluetoothVersion: 9, isPowered: true, hasLowEnergy: true,
                defaultParameters: ConnectionParameters(
                    minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42))
        ]
        facts.kernel = SoftwareVersion(6, 12, 48)
        facts.bluetoothd = HostFacts.Bluetoothd(bus: .reachable, pid: 812, version: "5.66", isInstalled: true)
        facts.privilege.daemonMayLoadParameters = true
        facts.clock = HostFacts.Clock(isSynchronised: true, hasBatteryClock: true)
        facts.database = HostFacts.Database(
            path: "/var/lib/eegsync/eegsync.sqlite", exists: true, bytes: 4_000_000, freeBytes: 100_000_000_000,
            medium: HostFacts.Medium(disk: "nvme0n1", fileSystem: "ext4"), rowsPerSecond: 250)
        facts.service = HostFacts.Service(
            hasSystemd: true, load: "loaded", active: "active", enabled: "enabled", watchdogSeconds: 15, daemonPid: 4711)
        facts.headsets = [HostFacts.Headset(name: "left", isConnected: true, isHeldByDaemon: true)]
        return facts
    }

    /// The findings that are not ok, after the healthy machine was changed.
    private func complaints(_ change: (inout HostFacts) -> Void) -> [Finding] {
        var facts = Self.healthy
        change(&facts)
        return Diagnosis.findings(of: facts).filter { $0.verdict != .ok }
    }

    /// The same for what concerns the database alone.
    private func complaintsOfDatabase(_ change: (inout HostFacts.Database) -> Void) -> [Finding] {
        complaints { facts in
            guard var database = facts.database else { return }
            change(&database)
            facts.database = database
        }
    }

    private func complaint(_ change: (inout HostFacts) -> Void) throws -> Finding {
        let all = complaints(change)
        #expect(all.count == 1, "\(all)")
        let finding = try #require(all.first)
        #expect(finding.remedy?.isEmpty == false)
        return finding
    }

    @Test func whatStreamsAndIsNotStoredIsAProblem() throws {
        var facts = StorageFacts(process: DaemonProcess(pid: 4711))
        (facts.hasUnstored, facts.freeBytes) = (true, 0)
        let situation = try #require(StorageSituation(facts))
        let found = complaintsOfDatabase { $0.storing = .not(situation) }
        #expect(found.map(\.check) == ["storing"] && found[0].verdict == .problem)
        #expect(found[0].sentence.contains("the disk of the database is full"))
        #expect(complaintsOfDatabase { $0.storing = .isStored(newestRowSeconds: 0.4) }.isEmpty)
    }

    @Test func aHealthyMachineHasNoComplaintAndNoRemedies() {
        #expect(complaints { _ in }.isEmpty)
        let findings = Diagnosis.findings(of: Self.healthy)
        #expect(findings.count == 13)
        #expect(findings.allSatisfy { $0.remedy == nil })
    }

    @Test func aMissingOrWrongConfigurationIsAProblem() throws {
        #expect(try complaint { $0.configuration = .absent(path: "/etc/e.yaml") }.verdict == .problem)
        let wrong = try complaint { $0.configuration = .wrong(path: "/etc/e.yaml", problems: ["line 4: x", "line 5: y"]) }
        #expect(wrong.sentence.contains("line 4: x, and 1 more"))
    }

    @Test func aSimulatedRadioNeedsNoAdapter() {
        let facts = complaints {
            $0.configuration = .valid(path: "/etc/e.yaml", central: "simulation")
            $0.bluetooth = HostFacts.Bluetooth(managementError: "no Bluetooth")
            $0.bluetoothd = HostFacts.Bluetoothd(bus: .unreachable(reason: "no bus"))
        }
        #expect(facts.isEmpty)
    }

    @Test func eachFaultOfTheAdapterHasItsRemedy() throws {
        let absent = try complaint { $0.bluetooth.adapters = [] }
        #expect(absent.verdict == .problem && absent.remedy?.contains("plug one in") == true)
        let driver = try complaint {
            $0.bluetooth = HostFacts.Bluetooth(managementError: "the kernel has no Bluetooth")
        }
        #expect(driver.remedy?.contains("modprobe") == true)
        #expect(try complaint { $0.bluetooth.adapters[0].block = .soft }.remedy?.contains("rfkill unblock") == true)
        #expect(try complaint { $0.bluetooth.adapters[0].block = .hard }.remedy?.contains("switch") == true)
        #expect(try complaint { $0.bluetooth.adapters[0].hasLowEnergy = false }.verdict == .problem)
        let off = try complaint { $0.bluetooth.adapters[0].isPowered = false }
        #expect(off.verdict == .problem && off.remedy == "switch it on: bluetoothctl power on")
        #expect(try complaint { $0.bluetooth.adapters[0].isPowered = nil }.verdict == .warning)
        #expect(try complaint { $0.bluetooth.adapters[0].holder = 31 }.remedy?.contains("hci1") == true)
    }

    @Test func oneGoodAdapterIsEnough() throws {
        let finding = try complaint {
            $0.bluetooth.adapters.append(HostFacts.Adapter(name: "hci1", isPowered: false, hasLowEnergy: true))
        }
        #expect(finding.verdict == .warning && finding.check == "adapter hci1")
    }

    @Test func anAdapterThatIsOffWithoutBluetoothdIsNotBlamed() {
        let all = complaints {
            $0.bluetoothd.pid = nil
            $0.bluetooth.adapters[0].isPowered = false
        }
        #expect(all.map(\.verdict) == [.warning, .problem])
        #expect(all.last?.remedy == "start it: systemctl enable --now bluetooth")
    }

    @Test func eachFaultOfBluetoothdHasItsRemedy() throws {
        #expect(try complaint { $0.bluetoothd = .init(pid: nil, isInstalled: false) }.remedy == "install it: apt install bluez")
        #expect(try complaint { $0.bluetoothd = .init(bus: .unreachable(reason: "x")) }.remedy?.contains("dbus") == true)
        let denied = try complaint { $0.bluetoothd.bus = .denied(reason: "policy") }
        #expect(denied.check == "D-Bus" && denied.remedy?.contains("group bluetooth") == true)
        let silent = try complaint { $0.bluetoothd.bus = .silent(reason: "Connection timed out") }
        #expect(silent.check == "D-Bus" && silent.remedy == "restart it: systemctl restart bluetooth")
        for (version, isOld) in [
            ("5.65", true), ("5.9", true), ("4.101", true), ("5.66", false), ("5.82", false), ("6.0", false),
        ] {
            #expect(complaints { $0.bluetoothd.version = version }.isEmpty != isOld, "\(version)")
        }
    }

    @Test func theLinkTimeoutIsJudgedByWhoMaySetItAndByWhatItIs() throws {
        let refused = try complaint { $0.privilege.daemonMayLoadParameters = false }
        #expect(refused.sentence.contains("420 ms") && refused.remedy?.contains("CAP_NET_ADMIN") == true)
        // Not running, unknown to systemd: this process stands in for it.
        #expect(try complaint { $0.privilege.daemonMayLoadParameters = nil }.verdict == .warning)
        #expect(
            complaints {
                $0.privilege.daemonMayLoadParameters = nil
                $0.privilege.thisProcessMay = true
            }.isEmpty)
        // A person has set it for all devices in bluetoothd's main.conf.
        #expect(
            complaints {
                $0.privilege.daemonMayLoadParameters = false
                $0.bluetooth.adapters[0].defaultParameters = ConnectionParameters(
                    minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 400)
            }.isEmpty)
        let old = try complaint {
            $0.privilege.daemonMayLoadParameters = false
            $0.bluetooth.adapters[0].defaultParameters = nil
        }
        #expect(old.sentence.contains("does not report"))
    }

    @Test func aClockWithoutSynchronisationIsAWarning() throws {
        #expect(try complaint { $0.clock.isSynchronised = false }.verdict == .warning)
        let pi = try complaint { $0.clock = HostFacts.Clock(isSynchronised: false, hasBatteryClock: false) }
        #expect(pi.sentence.contains("battery"))
        #expect(try complaint { $0.clock.isSynchronised = nil }.remedy == "run `timedatectl`")
    }

    @Test func roomIsCountedInDaysAtTheConfiguredRate() throws {
        // 250 rows/s of 48 bytes are 1.04 GB a day.
        func free(_ bytes: Int64) -> [Finding] { complaintsOfDatabase { $0.freeBytes = bytes } }
        #expect(free(22_000_000_000).isEmpty)
        #expect(free(21_000_000_000).map(\.verdict) == [.warning])
        #expect(free(900_000_000).map(\.verdict) == [.problem])
        #expect(free(0).map(\.verdict) == [.problem])
        #expect(complaintsOfDatabase { $0.rowsPerSecond = 0 }.isEmpty)
    }

    @Test func eachFaultOfTheDatabaseHasItsRemedy() throws {
        #expect(complaintsOfDatabase { $0.isDirectoryThere = false }.map(\.remedy).description.contains("mount"))
        #expect(complaintsOfDatabase { $0.isWritable = false }.isEmpty, "who only reads is as it should be")
        #expect(
            complaintsOfDatabase { database in
                (database.isWritable, database.exists) = (false, false)
            }.map(\.verdict) == [.warning])
        #expect(complaintsOfDatabase { $0.isWrittenByGroup = true }.map(\.check) == ["rights"])
        #expect(complaintsOfDatabase { $0.medium.isReadOnly = true }.map(\.sentence).description.contains("read-only"))
        #expect(complaintsOfDatabase { $0.openingError = "it is damaged" }.map(\.verdict) == [.problem])
        #expect(complaintsOfDatabase { $0.medium.fileSystem = "tmpfs" }.map(\.check) == ["medium"])
        #expect(complaints { $0.database = nil }.isEmpty)
    }

    @Test func anSDCardIsNamed() throws {
        var facts = Self.healthy
        facts.database?.medium = HostFacts.Medium(disk: "mmcblk0", model: "SC32G", kind: .sdCard, fileSystem: "ext4")
        let finding = try #require(Diagnosis.findings(of: facts).first { $0.check == "medium" })
        #expect(finding.sentence.hasPrefix("SD card mmcblk0 (SC32G)"))
    }

    @Test func eachFaultOfTheServiceHasItsRemedy() throws {
        #expect(try complaint { $0.service.load = "not-found" }.remedy?.contains("Deploy/install") == true)
        #expect(try complaint { $0.service.active = "failed" }.verdict == .problem)
        #expect(try complaint { $0.service.active = "activating" }.verdict == .warning)
        #expect(try complaint { $0.service.enabled = "disabled" }.remedy == "enable it: systemctl enable eegsync")
        #expect(try complaint { $0.service.watchdogSeconds = 0 }.check == "watchdog")
        #expect(try complaint { $0.service.isMemoryCounted = false }.sentence.contains("MemoryMax= of the unit has no effect"))
        #expect(complaints { $0.service.isMemoryCounted = true } == [])
        #expect(try complaint { $0.service.active = "inactive" }.sentence.contains("4711, but not as eegsync.service"))
        let stopped = try complaint {
            $0.service.active = "inactive"
            $0.service.daemonPid = nil
            $0.headsets = []
        }
        #expect(stopped.verdict == .problem)
        let container = try complaint {
            $0.service = HostFacts.Service()
            $0.headsets = []
        }
        #expect(container.sentence.contains("no systemd"))
        #expect(complaints { $0.service = HostFacts.Service(daemonPid: 5) }.isEmpty)
    }

    @Test func aHeadsetThatSomebodyElseHoldsIsSaid() throws {
        let other = try complaint { $0.headsets[0].isHeldByDaemon = false }
        #expect(other.check == "headset left" && other.remedy?.contains("other program") == true)
        #expect(complaints { $0.headsets[0].isConnected = false }.isEmpty)
    }

    @Test func linesAreAlignedAndFitTheTerminal() {
        var facts = Self.healthy
        facts.clock.isSynchronised = false
        let said = DoctorFacts(findings: Diagnosis.findings(of: facts))
        let wide = said.lines(style: .plain, columns: nil)
        #expect(
            wide.contains(
                "warning  clock          the wall clock is not synchronised: times in UTC may be off; "
                    + "samples keep their true distances"))
        #expect(wide.last == "No problem, 1 warning.")
        let narrow = said.lines(style: .plain, columns: 80)
        #expect(narrow.allSatisfy { $0.displayWidth <= 80 }, "\(narrow)")
        #expect(narrow.contains { $0.hasPrefix("                        you can: connect") })
        #expect(
            DoctorFacts(findings: Diagnosis.findings(of: Self.healthy)).lines(style: .plain, columns: 80).last
                == "This machine is fit to record.")
    }
}
