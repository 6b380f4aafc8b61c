import Bluetooth
import Foundation
import Headsets
import Simulation
import Testing

@testable import eegsync

@Suite struct ScanTests {
    private let address = PeripheralIdentifier(address: 0xC0EE_6000_0101, type: .random)

    private func facts(
        _ sightings: ScanSightings, known: [ScanFacts.Known] = [], connected: [PeripheralIdentifier] = [], others: Bool = false
    ) -> ScanFacts {
        ScanFacts(
            sightings, known: known, connected: connected, elapsed: .seconds(2), listsOthers: others, ranksBySignal: true)
    }

    @Test func aHeadsetIsRecognisedInBothOfItsModes() {
        var sightings = ScanSightings()
        sightings.add(address, Advertisement(serviceUUIDs: [BufferedEEGService.service]), rssi: -60)
        #expect(facts(sightings).headsets.first?.mode == .normal)
        sightings.add(address, Advertisement(serviceUUIDs: [BufferedEEGService.pairingService]), rssi: -60)
        #expect(facts(sightings).headsets.first?.mode == .pairing)
        // A scan response with the name alone changes neither.
        sightings.add(address, Advertisement(localName: "left"), rssi: -60)
        let headset = facts(sightings).headsets.first
        #expect(headset?.mode == .pairing && headset?.name == "left" && headset?.model == "buffered-eeg")
        #expect(headset?.advertisements == 3)
        #expect(facts(sightings).headsets.count == 1)
    }

    @Test func signalStrengthIsSmoothedAndTheStrongestComesFirst() {
        var sightings = ScanSightings()
        let near = PeripheralIdentifier(address: 2, type: .public)
        sightings.add(address, Advertisement(serviceUUIDs: [BufferedEEGService.service]), rssi: -80)
        sightings.add(near, Advertisement(localName: "MindWave Mobile"), rssi: 127)
        #expect(facts(sightings).headsets.last?.rssiDbm == nil)
        sightings.add(near, Advertisement(localName: "MindWave Mobile"), rssi: -40)
        sightings.add(near, Advertisement(localName: "MindWave Mobile"), rssi: -60)
        #expect(facts(sightings).headsets.map(\.rssiDbm) == [-45, -80])
        #expect(facts(sightings).headsets.map(\.model) == ["mindwave", "buffered-eeg"])
        var classic = ScanSightings()
        classic.add(
            PeripheralIdentifier(address: 3, type: .classic), Advertisement(localName: "MindWave Mobile"), rssi: -60)
        #expect(facts(classic).headsets.map(\.model) == ["thinkgear"])
    }

    @Test func otherDevicesAreListedOnlyWhereTheyAreWanted() {
        var sightings = ScanSightings()
        sightings.add(address, Advertisement(localName: "A lamp", serviceUUIDs: [.deviceInformation]), rssi: -70)
        #expect(facts(sightings).others == nil)
        #expect(facts(sightings).lines(style: .plain).first == "No headset is in range.")
        let all = facts(sightings, others: true)
        #expect(all.others?.first?.name == "A lamp")
        #expect(all.lines(style: .plain).contains { $0.contains("A lamp") && $0.hasPrefix("▂▄▆   -70 dBm") })
    }

    @Test func knownHeadsetsAreNamedAndConnectedOnesListed() {
        var sightings = ScanSightings()
        sightings.add(address, Advertisement(serviceUUIDs: [BufferedEEGService.service]), rssi: -60)
        let busy = PeripheralIdentifier(address: 7, type: .public)
        let known = [
            ScanFacts.Known(identifier: address, name: "left", model: "buffered-eeg"),
            ScanFacts.Known(identifier: busy, name: "right", model: "buffered-eeg"),
        ]
        let headsets = facts(sightings, known: known, connected: [busy, PeripheralIdentifier(address: 8, type: .public)])
            .headsets
        #expect(headsets.map(\.knownAs) == ["left", "right"])
        #expect(headsets.map(\.mode) == [.normal, .connected])
        #expect(Set(headsets.map(\.modelName)).count == 1)
    }

    @Test func theTablesFitATerminalOf80Columns() {
        var sightings = ScanSightings()
        sightings.add(
            address, Advertisement(localName: "A headset with a long name", serviceUUIDs: [BufferedEEGService.service]),
            rssi: -60)
        sightings.add(
            PeripheralIdentifier(address: 9, type: .random),
            Advertisement(
                localName: "A lamp of some maker in a room nearby",
                serviceUUIDs: [.deviceInformation, .serialPort, GanglionService.service, MuseService.service]), rssi: -70)
        let known = [ScanFacts.Known(identifier: address, name: "frontal left", model: "buffered-eeg")]
        let lines = facts(sightings, known: known, others: true).lines(without: [], style: .plain, columns: 80)
        #expect(lines.allSatisfy { $0.displayWidth <= 80 }, "\(lines)")
        #expect(lines.contains { $0.contains("ADDRESS") } && lines.contains { $0.contains("lamp") }, "\(lines)")
    }

    @Test func aHostileNameCannotSpeakToTheTerminal() {
        var sightings = ScanSightings()
        sightings.add(
            address, Advertisement(localName: "\u{1B}[2Jgotcha\n", serviceUUIDs: [BufferedEEGService.service]), rssi: -60)
        let lines = facts(sightings).lines(style: .plain)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\n") })
    }

    @Test func eachFrameReplacesTheOneBefore() {
        #expect(LiveScreen.frame(["a", "b"], replacing: 0) == "\u{1B}[?7la\u{1B}[K\nb\u{1B}[K\n\u{1B}[?7h\u{1B}[J")
        #expect(LiveScreen.frame(["c"], replacing: 2).hasPrefix("\u{1B}[2A\r\u{1B}[?7lc\u{1B}[K\n"))
    }

    @Test func aSimulatedRadioIsScanned() {
        var clock = MonotonicTime.boot
        let world = SimulatedWorld(seed: 3, headsets: [.buffered(number: 1), .thinkGear(number: 2)], start: .boot)
        // Each look at the clock is a moment later, so that no test waits for a clock.
        let session = CentralSession(
            now: {
                clock = clock + .milliseconds(40)
                return clock
            }, makeCentral: { _ in world.makeCentral() })
        var sightings = ScanSightings()
        session.run(for: .seconds(3)) { _, _ in session.central.state == .poweredOn }
        session.central.request(.scanForPeripherals(matching: sightings.headsetFilter))
        session.run(for: .seconds(5)) { events, _ in
            for case .didDiscover(let identifier, let advertisement, let rssi) in events {
                sightings.add(identifier, advertisement, rssi: rssi)
            }
            return sightings.sightings.count == 2
        }
        #expect(Set(sightings.sightings.compactMap { $0.profile?.model }) == ["buffered-eeg", "thinkgear"])
    }

    @Test func theCommandListsTheHeadsetsOfTheConfiguration() throws {
        let database = try RecordedDatabase()
        let file = try database.configure(
            """
            central:
              kind: simulation
              headsets: [{name: left, model: buffered-eeg}, {name: right, model: thinkgear}]
            headsets: [{name: left, model: buffered-eeg, identifiers: ["C0:EE:60:00:01:01/random"]}]
            """)
        let run = try ProgramRun(["scan", "--seconds", "1", "--json", "--config", file])
        #expect(run.exitCode == 0, "\(run.errors)")
        let headsets = try run.json()["headsets"] as? [[String: Any]]
        #expect(headsets?.count == 2)
        #expect(headsets?.contains { $0["known_as"] as? String == "left" && $0["name"] as? String == "left" } == true)
        #expect(try ProgramRun(["scan", "--seconds", "0"]).exitCode == 64)
    }
}
