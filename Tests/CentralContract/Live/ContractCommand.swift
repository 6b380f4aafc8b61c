import BlueZ
import Bluetooth
import CentralContract
import Glibc

/// Puts a central to the test of the contract, in the lab: that of bluetoothd, that of the kernel's sockets, or for a classic
/// address that of serial ports. Prints a line for each case, what was found, and
/// `N passed, N failed` at the end; exit 0 only if none failed.
@main
enum ContractCommand {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let route = arguments.isEmpty ? nil : LiveBench.Route(rawValue: arguments.removeFirst())
        guard let route, arguments.count >= 4, let identifier = PeripheralIdentifier(arguments[2]) else {
            print("usage: central-contract bluez|kernel CONTROL-SOCKET HEADSET ADDRESS/TYPE SERIAL-NUMBER [WORDS OF A CASE]")
            exit(64)
        }
        let words = arguments.dropFirst(4).joined(separator: " ")
        let bench = LiveBench(
            route: route, control: HeadsetControl(path: arguments[0], headset: arguments[1]),
            headset: ContractHeadset(identifier: identifier, serialNumber: arguments[3]))
        var passed = 0
        var failed = 0
        let cases = ContractCase.all.filter { $0.applies(to: bench.profile) }
        for contractCase in cases where words.isEmpty || contractCase.sentence.contains(words) {
            let began = bench.now
            let findings = contractCase.findings(on: bench) + bench.takeProblems()
            bench.settle()
            print("\(findings.isEmpty ? "✔" : "✘") \(contractCase.sentence) (\((bench.now - began).inSeconds) s)")
            for finding in findings { print("    \(finding)") }
            fflush(nil)
            if findings.isEmpty { passed += 1 } else { failed += 1 }
        }
        print("\(passed) passed, \(failed) failed")
        exit(failed == 0 && passed > 0 ? 0 : 1)
    }
}
