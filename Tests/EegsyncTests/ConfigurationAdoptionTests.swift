import Acquisition
import Bluetooth
import Reconnection
import Testing

@testable import eegsync

@Suite struct ConfigurationAdoptionTests {
    @Test func anAddressWithoutATypeMatchesEither() throws {
        let text = configuration(headset: #"{name: a, model: ganglion, identifiers: ["C0:EE:60:00:02:01"]}"#)
        let random = PeripheralIdentifier(address: 0xC0_EE_60_00_02_01, type: .random)
        let others = PeripheralIdentifier(address: 0xC0_EE_60_00_02_01, type: .public)
        #expect(try parse(text).headsets.first?.identifiers == [random, others])
        // Two headsets cannot share the address by leaving the type to chance.
        let two = configuration(
            headset: #"{name: a, model: ganglion, identifiers: ["C0:EE:60:00:02:01"]}"#
                + "\n  - {name: b, model: ganglion, identifiers: [\"C0:EE:60:00:02:01/random\"]}")
        #expect(problems(two).count == 1)
    }

    @Test func whoIsAskedIsSaidForAllAndForOne() throws {
        let text = """
            database: /data/eeg.sqlite
            adopt: ask
            adopt_after_seconds: 30
            headsets:
              - {name: a, model: ganglion, adopt: automatic, pairing_services: ["FD00"]}
              - {name: b, model: hermes}
            """
        let known = try parse(text).knownHeadsets
        #expect(known.map(\.adoption) == [Adoption(.automatic, after: .seconds(30)), Adoption(.ask, after: .seconds(30))])
        #expect(known.map(\.pairingServices) == [[BluetoothUUID(UInt16(0xFD00))], []])
        #expect(try parse(configuration(headset: "{name: a, model: ganglion}")).knownHeadsets.map(\.adoption) == [Adoption()])
        // Of two that advertise alike nobody but a person can say which is which.
        let two = configuration(headset: "{name: a, model: ganglion}\n  - {name: b, model: ganglion}")
        #expect(try parse(two).knownHeadsets.map(\.adoption.policy) == [.ask, .ask])
        #expect(problems(configuration(headset: "{name: a, model: muse, adopt: perhaps}")).count == 1)
        #expect(problems(configuration(headset: #"{name: a, model: muse, pairing_services: ["x"]}"#)).count == 1)
    }

    @Test func aReloadSaysWhatWaitsForTheNextStart() throws {
        func read(_ headset: String) throws -> Configuration { try parse(configuration(headset: headset)) }
        let before = try read(#"{name: a, model: thinkgear, identifiers: ["20:68:9D:00:13:24"]}"#)
        #expect(before.changesOfNextStart(in: before).isEmpty)
        let moved = try read(#"{name: a, model: thinkgear, identifiers: ["20:68:9D:00:13:25"]}"#)
        #expect(before.changesOfNextStart(in: moved).map { $0.contains("channel of a serial port") } == [true])
        let paired = try read(#"{name: a, model: thinkgear, identifiers: ["20:68:9D:00:13:24"], passkey: 4711}"#)
        #expect(before.changesOfNextStart(in: paired).map { $0.contains("passkey") } == [true])
        // An address alone takes effect at once.
        let low = try read("{name: a, model: ganglion}")
        let named = try read(#"{name: a, model: ganglion, identifiers: ["C0:EE:60:00:02:01"]}"#)
        #expect(low.changesOfNextStart(in: named).isEmpty)
    }
}
