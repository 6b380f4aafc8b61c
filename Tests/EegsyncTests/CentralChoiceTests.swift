import Bluetooth
import Storage
import Testing

@testable import eegsync

/// Which way to the headsets is taken, and what `eegsync doctor` says of it.
@Suite struct CentralChoiceTests {
    private let automatic = Configuration.Central.automatic(
        Configuration.BlueZ(adapter: "hci1"), Configuration.Kernel(adapter: "hci1", powersOn: true))
    private let kernel = Configuration.Central.kernel(Configuration.Kernel())

    @Test func whereBluetoothdRunsItIsUsedAndElsewhereTheKernel() {
        let beside = CentralChoice(automatic, isBluetoothdRunning: true)
        #expect(beside.central == .bluez(Configuration.BlueZ(adapter: "hci1")))
        #expect(beside.sentence == "headsets are reached through bluetoothd: it runs" && beside.obstacle == nil)
        let alone = CentralChoice(automatic, isBluetoothdRunning: false)
        #expect(alone.central == .kernel(Configuration.Kernel(adapter: "hci1", powersOn: true)))
        #expect(alone.sentence == "headsets are reached through the kernel's own sockets: bluetoothd does not run")
    }

    @Test func whatIsConfiguredIsUsedWhateverRuns() {
        for isRunning in [true, false] {
            for wanted in [kernel, .bluez(Configuration.BlueZ())] {
                let choice = CentralChoice(wanted, isBluetoothdRunning: isRunning)
                #expect(choice.central == wanted && choice.reason == nil)
            }
        }
    }

    @Test func bluetoothdBesideTheKernelsSocketsIsAnObstacle() throws {
        #expect(CentralChoice(kernel, isBluetoothdRunning: false).obstacle == nil)
        let obstacle = try #require(CentralChoice(kernel, isBluetoothdRunning: true).obstacle)
        #expect(obstacle.contains("EBUSY") && obstacle.contains("systemctl disable --now bluetooth"))
    }

    @Test func whatFallsAwayWithoutThePermissionIsSaid() throws {
        let choice = CentralChoice(kernel, isBluetoothdRunning: false)
        #expect(choice.lack(isNetworkAdministrator: true) == nil)
        let lack = try #require(choice.lack(isNetworkAdministrator: false))
        for word in ["CAP_NET_ADMIN", "scan", "connect", "setcap", "AmbientCapabilities"] { #expect(lack.contains(word)) }
        let other = try #require(CentralChoice(automatic, isBluetoothdRunning: true).lack(isNetworkAdministrator: false))
        #expect(other.contains("supervision timeout") && !other.contains("scan"))
    }

    @Test func autoTakesTheSettingsOfBothWays() throws {
        let text = """
            database: /tmp/e.sqlite
            central: {kind: auto, adapter: hci1, power_on: true, recover_adapter: true}
            headsets: [{name: left, model: muse}]
            """
        let found = try ConfigurationParser.parse(text, file: "e.yaml", models: ["muse"]).central
        var bluez = Configuration.BlueZ(adapter: "hci1")
        bluez.recoversAdapter = true
        #expect(found == .automatic(bluez, Configuration.Kernel(adapter: "hci1", powersOn: true)))
    }

    // MARK: doctor

    /// What the doctor says of Bluetooth on a machine without bluetoothd.
    private func complaints(_ central: Configuration.Central, _ change: (inout HostFacts) -> Void = { _ in }) -> [Finding] {
        var facts = DiagnosisTests.healthy
        facts.bluetoothd = HostFacts.Bluetoothd(bus: .unreachable(reason: "no such file"))
        change(&facts)
        facts.choice = CentralChoice(central, isBluetoothdRunning: facts.bluetoothd.pid != nil)
        return Diagnosis.bluetooth(facts).filter { $0.verdict != .ok }
    }

    @Test func aMachineWithoutBluetoothdIsHealthyToo() {
        #expect(complaints(kernel).isEmpty && complaints(automatic).isEmpty)
        let installed = complaints(automatic) { $0.bluetoothd.isInstalled = true }
        #expect(installed.map(\.verdict) == [.warning] && installed.first?.check == "bluetoothd")
    }

    @Test func theDoctorFindsBluetoothdBesideTheKernelsSockets() {
        let found = complaints(kernel) { $0.bluetoothd.pid = 812 }
        #expect(found.map(\.check) == ["bluetoothd"] && found.first?.sentence.contains("EBUSY") == true)
    }

    @Test func theDoctorFindsThatThePermissionIsLacking() {
        let found = complaints(kernel) { $0.privilege = HostFacts.Privilege(daemonMayLoadParameters: false) }
        #expect(found.map(\.check) == ["permission"] && found.first?.verdict == .problem)
        #expect(found.first?.remedy?.contains("setcap") == true)
    }

    @Test func theDoctorSaysWhoSwitchesTheAdapterOn() {
        for (central, verdict) in [(kernel, Finding.Verdict.problem), (automatic, .warning)] {
            let found = complaints(central) { $0.bluetooth.adapters[0].isPowered = false }
            #expect(found.map(\.verdict) == [verdict])
        }
    }

    @Test func aSimulatedRadioIsTheSameForAllProcessesOfABootAndAnotherAfterAReboot() {
        let simulation = Configuration.Simulation(seed: 1, headsets: [])
        let boots = [HostBoot(uuid: "a"), HostBoot(uuid: "b"), nil]
        #expect(boots.map(simulation.seed) == boots.map(simulation.seed))
        #expect(Set(boots.map(simulation.seed)).count == 3)
        #expect(Configuration.Simulation(seed: 2, headsets: []).seed(in: boots[0]) != simulation.seed(in: boots[0]))
    }
}
