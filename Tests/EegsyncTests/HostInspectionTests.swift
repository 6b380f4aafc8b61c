import Acquisition
import Foundation
import Testing

@testable import eegsync

/// What the doctor reads from the kernel's files, on a tree that is made up.
@Suite struct HostInspectionTests {
    /// A directory that stands for `/`, removed when the test lets it go.
    private final class Tree {
        let root: String
        var files: SystemFiles { SystemFiles(root: root) }

        init() throws {
            root = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func write(_ path: String, _ text: String) throws {
            let url = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((text + "\n").utf8).write(to: url)
        }

        func link(_ path: String, to target: String) throws {
            let url = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: root + target)
        }
    }

    @Test func adaptersAndTheirBlocksAreFound() throws {
        let tree = try Tree()
        try tree.write("/sys/class/bluetooth/hci0/uevent", "")
        try tree.write("/sys/class/bluetooth/hci0:64/uevent", "")
        try tree.write("/sys/class/bluetooth/hci1/uevent", "")
        for (entry, name, soft, hard) in [
            ("rfkill0", "phy0", "1", "1"), ("rfkill1", "hci0", "1", "0"), ("rfkill2", "hci1", "1", "1"),
        ] {
            try tree.write("/sys/class/rfkill/\(entry)/name", name)
            try tree.write("/sys/class/rfkill/\(entry)/soft", soft)
            try tree.write("/sys/class/rfkill/\(entry)/hard", hard)
        }
        let adapters = AdapterInspection(files: tree.files).facts(asksKernel: false).adapters
        #expect(adapters.map(\.name) == ["hci0", "hci1"])
        #expect(adapters.map(\.block) == [.soft, .hard])
        #expect(AdapterInspection(files: try Tree().files).facts(asksKernel: false).adapters.isEmpty)
    }

    @Test func theMediumOfARaspberryPiIsItsCard() throws {
        let tree = try Tree()
        let disk = "/sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0"
        try tree.write("\(disk)/mmcblk0p2/dev", "179:2")
        try tree.link("/sys/dev/block/179:2", to: "\(disk)/mmcblk0p2")
        try tree.write("/sys/block/mmcblk0/device/name", "SC32G")
        try tree.write("/sys/block/mmcblk0/device/type", "SD")
        try tree.write(
            "/proc/self/mountinfo",
            """
            22 28 0:20 / /sys rw,nosuid - sysfs sysfs rw
            28 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw,commit=60
            """)
        let medium = MediumInspection(files: tree.files).medium(device: "179:2")
        #expect(medium == HostFacts.Medium(disk: "mmcblk0", model: "SC32G", kind: .sdCard, fileSystem: "ext4"))
        try tree.write("/sys/block/mmcblk0/device/type", "MMC")
        #expect(MediumInspection(files: tree.files).medium(device: "179:2").kind == .eMMC)
        // A card that fails is made read-only by the kernel.
        try tree.write("/proc/self/mountinfo", "28 1 179:2 / / ro,noatime shared:1 - ext4 /dev/mmcblk0p2 ro")
        #expect(MediumInspection(files: tree.files).medium(device: "179:2").isReadOnly)
    }

    @Test func aFileSystemWithoutADiskHasNone() throws {
        let tree = try Tree()
        try tree.write("/proc/self/mountinfo", "40 28 0:35 / /tmp rw - tmpfs tmpfs rw")
        #expect(MediumInspection(files: tree.files).medium(device: "0:35") == HostFacts.Medium(fileSystem: "tmpfs"))
        #expect(MediumInspection(files: tree.files).medium(of: "/absent/directory") == HostFacts.Medium())
    }

    @Test func capabilitiesAndProcessesAreRead() throws {
        let tree = try Tree()
        try tree.write("/proc/77/comm", "bluetoothd")
        try tree.write("/proc/77/status", "Name:\tbluetoothd\nCapInh:\t0000000000000000\nCapEff:\t0000000000003000")
        try tree.write("/proc/78/status", "Name:\teegsync\nCapEff:\t0000000000002000")
        #expect(tree.files.pid(named: "bluetoothd") == 77)
        #expect(tree.files.pid(named: "absent") == nil)
        #expect(tree.files.hasNetworkAdministration(pid: "77") == true)
        #expect(tree.files.hasNetworkAdministration(pid: "78") == false)
        #expect(tree.files.hasNetworkAdministration(pid: "79") == nil)
    }

    @Test func theUnitIsRead() {
        let (service, grants) = ServiceInspection.read(
            """
            LoadState=loaded
            ActiveState=active
            UnitFileState=enabled
            WatchdogUSec=15s
            User=eegsync
            AmbientCapabilities=cap_net_admin
            MemoryCurrent=[not set]
            """, into: HostFacts.Service(hasSystemd: true))
        #expect(service.load == "loaded" && service.active == "active" && service.enabled == "enabled")
        #expect(service.watchdogSeconds == 15)
        #expect(service.isMemoryCounted == false)
        let counted = ServiceInspection.read("ActiveState=active\nMemoryCurrent=41234432", into: HostFacts.Service())
        #expect(counted.service.isMemoryCounted == true)
        let absent = ServiceInspection.read("ActiveState=inactive\nMemoryCurrent=[not set]", into: HostFacts.Service())
        #expect(absent.service.isMemoryCounted == nil)
        #expect(grants == true)
        let root = ServiceInspection.read("LoadState=loaded\nUser=\nAmbientCapabilities=", into: HostFacts.Service())
        #expect(root.grantsNetworkAdministration == true && root.service.watchdogSeconds == 0)
        let user = ServiceInspection.read("LoadState=loaded\nUser=eegsync\nAmbientCapabilities=", into: HostFacts.Service())
        #expect(user.grantsNetworkAdministration == false)
        #expect(ServiceInspection.read("LoadState=not-found", into: HostFacts.Service()).grantsNetworkAdministration == nil)
    }

    @Test func aBluetoothdThatIsSilentIsNoBusThatIsAbsent() {
        let prefix = "org.freedesktop.DBus.Error."
        for name in ["NoReply", "Timeout", "NameHasNoOwner", "ServiceUnknown"] {
            #expect(BluetoothdInspection.bus(failure: prefix + name, "x") == .silent(reason: "x"), "\(name)")
        }
        #expect(BluetoothdInspection.bus(failure: prefix + "AccessDenied", "x") == .denied(reason: "x"))
        #expect(BluetoothdInspection.bus(failure: prefix + "FileNotFound", "x") == .unreachable(reason: "x"))
    }

    @Test func aHeadsetThatIsSilentIsStillHeldByTheDaemon() {
        let holding: [ConnectionPhase] = [.establishing, .streaming, .silent]
        for phase in ConnectionPhase.allCases {
            #expect(HostInspection.holdsLink(state: phase.rawValue) == holding.contains(phase), "\(phase)")
        }
        #expect(!HostInspection.holdsLink(state: nil))
    }

    @Test func timeSpansOfSystemdAreRead() {
        let spans = [("15s", 15.0), ("1min 30s", 90), ("500ms", 0.5), ("0", 0), ("2h", 7200), ("1d 1us", 86_400.000001)]
        for (text, seconds) in spans { #expect(ServiceInspection.seconds(timeSpan: text) == seconds, "\(text)") }
        #expect(ServiceInspection.seconds(timeSpan: "infinity") == nil)
    }

    @Test func programsThatFailOrAreAbsentSayNothing() {
        #expect(OtherProgram.output(of: "/bin/echo", ["5.66"]) == "5.66")
        #expect(OtherProgram.output(of: "/bin/false", []) == nil)
        #expect(OtherProgram.output(of: "/absent/program", []) == nil)
    }

    @Test func withoutAConfigurationTheMachineDecidesAsWithOneThatSaysNothing() throws {
        var options = DatabaseOptions()
        (options.config, options.database) = ("/absent/eegsync.yaml", nil)
        let facts = HostInspection(files: try Tree().files, options: options).facts()
        #expect(facts.choice?.sentence == "headsets are reached through the kernel's own sockets: bluetoothd does not run")
        #expect(!Diagnosis.findings(of: facts).contains { $0.check == "bluetoothd" && $0.verdict == .problem })
    }

    @Test func theCommandExitsWith69WhereSomethingIsAProblem() throws {
        let database = try RecordedDatabase()
        try database.record()
        let absent = try ProgramRun(["doctor", "--json", "--config", "/absent/eegsync.yaml"])
        #expect(absent.exitCode == 69)
        let findings = try absent.json()["findings"] as? [[String: Any]]
        #expect(findings?.first?["verdict"] as? String == "problem")
        let file = try database.configure(
            """
            central: {kind: simulation, headsets: []}
            headsets: [{name: left, model: buffered-eeg}]
            """)
        let run = try ProgramRun(["doctor", "--config", file])
        #expect(run.output.contains("is valid; headsets are reached through the simulated radio"))
        #expect(run.output.contains(database.path))
    }
}
