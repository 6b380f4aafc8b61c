import Bluetooth
import Testing

@testable import eegsync

/// A configuration gets other headsets, and keeps everything else.
@Suite struct HeadsetSectionTests {
    private static let text = """
        # mine
        database: /tmp/a.sqlite   # here
        headsets:
          # the example
          - name: left
            model: muse
          - name: bound   # in the attic
            model: muse
            serial: "X 1"

        # how much is held
        limits:
          buffer_rows: 2000

        """
    private let new = NamedHeadset(
        name: "right", candidate: candidate(0xC0EE_6000_0301), serialNumber: "S\"1\\")

    private static func candidate(_ address: UInt64) -> SetupCandidate {
        SetupCandidate(
            identifier: PeripheralIdentifier(address: address, type: .random), model: "muse", modelName: "Muse")
    }

    private func section(_ text: String?) throws -> HeadsetSection {
        let configuration = try text.map { try parse($0) } ?? Configuration(databasePath: "/tmp/a.sqlite", headsets: [])
        return HeadsetSection(text: text, configuration: configuration) { try? parse($0) }
    }

    @Test func boundHeadsetsCommentsAndOtherKeysStay() throws {
        let changed = try section(Self.text).changed(to: [new])
        #expect(
            LineDifference.lines(from: Self.text, to: changed) == [
                "...", "  database: /tmp/a.sqlite   # here", "  headsets:", "-   # the example", "-   - name: left",
                "-     model: muse", "    - name: bound   # in the attic", "      model: muse", "      serial: \"X 1\"",
                "+   - name: \"right\"", "+     model: muse", "+     serial: \"S\\\"1\\\\\"",
                "+     identifiers: [\"C0:EE:60:00:03:01/random\"]", "  ", "  # how much is held", "...",
            ])
        let configuration = try parse(changed)
        #expect(configuration.headsets.map(\.name) == ["bound", "right"])
        #expect(configuration.headsets.last?.serialNumber == "S\"1\\")
        // The same once more changes nothing.
        #expect(try section(changed).changed(to: [new]) == changed)
    }

    @Test func ofOneNameOrAddressTheNewOneCounts() throws {
        let renamed = NamedHeadset(name: "bound", candidate: Self.candidate(7))
        #expect(try parse(try section(Self.text).changed(to: [renamed])).headsets.map(\.serialNumber) == [nil])
        let changed = try section(Self.text).changed(to: [new])
        let other = NamedHeadset(name: "other", candidate: new.candidate)
        #expect(try parse(try section(changed).changed(to: [other])).headsets.map(\.name) == ["bound", "other"])
    }

    @Test func aFreshOneIsRight() throws {
        let text = try section(nil).changed(to: [new])
        let configuration = try parse(text)
        #expect(configuration.databasePath == "/tmp/a.sqlite" && configuration.headsets.map(\.name) == ["right"])
        #expect(configuration.headsets.first?.identifiers == [new.candidate.identifier])
    }

    /// A serial number comes over the air; an address that changes is nobody's.
    @Test func whatIsUnfitToBindIsLeftOut() throws {
        let evil = NamedHeadset(
            name: "a", candidate: Self.candidate(0x40EE_6000_0301), serialNumber: "x\nlog_level: trace")
        let text = try section(nil).changed(to: [evil])
        #expect(!text.contains("serial") && !text.contains("identifiers") && !text.contains("trace"))
    }

    /// What it does not understand it leaves alone.
    @Test func unusualTextsAreRefused() throws {
        let flow = "database: /tmp/a.sqlite\nheadsets: [{name: left, model: muse, serial: S}]\n"
        #expect(throws: HeadsetSection.Refusal.unusual) { try section(flow).changed(to: [new]) }
        let quoted = "database: /tmp/a.sqlite\n\"headsets\":\n  - {name: left, model: muse}\n"
        #expect(throws: HeadsetSection.Refusal.unusual) { try section(quoted).changed(to: [new]) }
        // The same text where nothing is to be kept.
        let bare = "database: /tmp/a.sqlite\nheadsets: [{name: left, model: muse}]\n"
        #expect(try parse(try section(bare).changed(to: [new])).headsets.map(\.name) == ["right"])
    }
}
