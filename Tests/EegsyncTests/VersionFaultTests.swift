import Headsets
import Testing

@testable import eegsync

/// Versions of bluetoothd and of the kernel that `eegsync doctor` warns of, and those that it does not.
@Suite struct VersionFaultTests {
    /// What is not ok on a machine without any other fault.
    private func complaints(_ change: (inout HostFacts) -> Void) -> [Finding] {
        var facts = DiagnosisTests.healthy
        change(&facts)
        return Diagnosis.findings(of: facts).filter { $0.verdict != .ok }
    }

    @Test(
        "warns of a bluetoothd that keeps notifications, where a headset can meet that",
        arguments: [
            ("5.66", ["forehead"], true), ("5.82", ["forehead", "wrist"], true), ("5.85", ["forehead"], true),
            ("5.86", ["forehead"], false), ("5.88", ["forehead"], false), ("6.0", ["forehead"], false),
            // Every notification of these bears a count.
            ("5.66", [], false), ("5.82", [], false),
        ])
    func bluetoothd(version: String, uncounted: [String], isWarned: Bool) throws {
        let found = complaints {
            $0.bluetoothd.version = version
            $0.uncountedHeadsets = uncounted
        }
        #expect(found.isEmpty != isWarned, "\(found)")
        guard isWarned else { return }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.check == "bluetoothd" && finding.verdict == .warning)
        #expect(finding.sentence.contains("version \(version) runs"))
        #expect(finding.sentence.contains("notifications of \(uncounted.joined(separator: ", ")) from everybody"))
        #expect(finding.remedy?.contains("5.86") == true)
    }

    @Test("warns of a bluetoothd that crashes, whatever the headsets", arguments: [[], ["forehead"]])
    func crashingScan(uncounted: [String]) throws {
        let found = complaints {
            $0.bluetoothd.version = "5.87"
            $0.uncountedHeadsets = uncounted
        }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.check == "bluetoothd" && finding.verdict == .warning)
        #expect(finding.sentence.hasPrefix("version 5.87 runs (pid 812), which crashes"))
    }

    @Test(
        "warns of a kernel that damages its memory",
        arguments: [
            ([6, 1, 170], false), ([6, 1, 190], false), ([6, 1, 192], true), ([6, 1, 193], false), ([6, 12, 117], false),
            ([6, 12, 192], false), ([7, 2, 13], false),
        ])
    func kernel(numbers: [Int], isWarned: Bool) throws {
        let version = try #require(SoftwareVersion(numbers.map(String.init).joined(separator: ".")))
        let found = complaints { $0.kernel = version }
        #expect(found.map(\.check) == (isWarned ? ["kernel"] : []))
        #expect(found.allSatisfy { $0.verdict == .warning && $0.sentence.hasPrefix("Linux 6.1.192 damages") })
    }

    @Test("does not warn of bluetoothd where headsets are reached without it")
    func withoutBluetoothd() {
        let found = complaints {
            $0.choice = CentralChoice(.kernel(Configuration.Kernel()), isBluetoothdRunning: false)
            $0.bluetoothd = HostFacts.Bluetoothd(bus: .reachable, pid: nil, version: "5.66", isInstalled: true)
            $0.uncountedHeadsets = ["forehead"]
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test("names headsets some of whose notifications bear no count", arguments: [("explore", true), ("muse", false)])
    func uncounted(model: String, expected: Bool) {
        let headset = Configuration.Headset(name: "left", model: model)
        #expect(HostInspection.sendsUncounted(headset) == expected)
    }

    @Test(
        "reads the kernel's own version",
        arguments: [
            (
                "Linux version 6.1.0-51-amd64 (x@y) (gcc-12 (Debian 12.2.0-14)) #1 SMP Debian 6.1.192-2 (2026-11-20)",
                [6, 1, 192]
            ),
            (
                "Linux version 6.12.34+rpt-rpi-v8 (x@y) (gcc-14) #1 SMP PREEMPT Debian 1:6.12.34-1+rpt1 (2025-06-26)",
                [6, 12, 34]
            ),
            ("Linux version 6.8.0-45-generic (x@y) (gcc 13.2.0) #45-Ubuntu SMP PREEMPT_DYNAMIC", [6, 8, 0]),
            ("Linux version 7.2 (x@y) #1", [7, 2]),
        ])
    func kernelVersion(text: String, numbers: [Int]) {
        #expect(SoftwareVersion(kernel: text)?.numbers == numbers)
    }

    @Test("reads no version where there is none", arguments: ["", "Darwin Kernel Version 24", "Linux version next (x@y)"])
    func noVersion(text: String) {
        #expect(SoftwareVersion(kernel: text) == nil)
    }
}
