import Testing

/// No shared file lists the headsets, and the rule bites.
@Suite struct ModelListTests {
    private static let models = ModelLists.models(Tree.sources)

    /// Lists that stay: a new headset need not be in them, but for the first two, which are the registries.
    private static let exceptions = [
        "Sources/Export/CSV/Dialects/BrainFlowBoard.swift": "the boards that BrainFlow has a number for",
        "Sources/Export/CSV/Dialects/BrainFlowDialect.swift": "the headsets that BrainFlow records",
        "Sources/Headsets/Profile/HeadsetCatalog.swift": "the registry of profiles: a line for each",
        "Sources/Simulation/Headsets/SimulatedModel.swift": "the registry of simulators: a line for each",
        "Sources/eegsync/Commands/ExportCommand.swift": "which tools record which headsets, in a help text",
        "Sources/eegsync/Commands/Replay.swift": "examples in a help text",
        "Tests/Benchmarks/DecodeWorkload+Frames.swift": "decoders that are measured, with the packets for it",
        "Tests/Benchmarks/DecodeWorkload.swift": "decoders that are measured, with the packets for it",
        "Tests/EegsyncTests/ConfigurationTests.swift": "a configuration as people write it",
        "Tests/EegsyncTests/ReplayCommandTests.swift": "commands as people write them",
        "Tests/EegsyncTests/ReplayFormatsTests.swift": "bytes of every framing",
        "Tests/EegsyncTests/ScanTests.swift": "advertisements of several headsets at once",
        "Tests/ExportTests/DialectExportTests.swift": "headsets that a dialect takes or refuses",
        "Tests/ExportTests/DialectFixtures.swift": "recordings of the headsets that other tools record",
        "Tests/Fuzz/Targets/AcquisitionTarget.swift": "well-formed packets with counters that wrap; other models get any bytes",
        "Tests/Fuzz/Targets/DecoderTarget.swift": "further settings of some decoders; of all others their usual ones are taken",
        "Tests/Lab/scenarios/imitation.py": "headsets that are imitated, each with another fault",
        "Tests/Readers/test_capture.py": "ports whose captures Wireshark reads back",
    ]

    @Test func noSharedFileListsTheHeadsets() {
        #expect(Self.models.count >= 11)
        let files = Tree.sources + Tree.tests + Tree.files(below: "Tests", withExtensions: ["py"])
        let shared = files.filter { !ModelLists.isOfOneHeadset($0.path) && !$0.path.hasPrefix("Tests/TidyTests/") }
        let findings = shared.flatMap { ModelLists.findings($0, models: Self.models) }
        let unexpected = findings.filter { Self.exceptions[$0.path] == nil }
        #expect(unexpected.isEmpty, "\(unexpected.map(\.description).joined(separator: "\n"))")
        // An exception that has become none.
        let stale = Self.exceptions.keys.filter { path in !findings.contains { $0.path == path } }
        #expect(stale.isEmpty, "\(stale.sorted().joined(separator: "\n")): lists no headsets any more")
    }

    @Test func aListIsFound() {
        func lines(_ text: String) -> [Int] {
            ModelLists.findings(
                SourceText(path: "Sources/A/A.swift", text: text), models: ["muse", "cyton", "cyton-ble", "hermes"]
            ).map(\.line)
        }
        #expect(lines("let all = [\"muse\", \"cyton\", \"hermes\"]") == [1])
        #expect(lines("let a = 1\ncase .muse: 1\ncase .cytonBLE: 2\ncase .hermes: 3") == [2])
        #expect(lines("MUSE = 1\n# muse\nCYTON_BLE = 2\nhermesProfile()") == [1])
        // Two models, one of them twice; a comment; three of them far from each other.
        #expect(lines("muse()\nMuseProfile()\ncytonBLE()") == [])
        #expect(lines("// muse, cyton, hermes\nlet a = 1 // muse, cyton, hermes") == [])
        #expect(lines("muse()\n\n\n\ncyton()\n\n\n\nhermes()") == [])
    }

    @Test func aHeadsetsOwnFilesMayNameOthers() {
        #expect(ModelLists.isOfOneHeadset("Sources/Headsets/NeuroSky/TGAMProfile.swift"))
        #expect(ModelLists.isOfOneHeadset("Tests/Lab/headsets/thinkgear_gatt.py"))
        for path in ["Headsets/Profile/HeadsetCatalog", "Simulation/Headsets/SimulatedModel", "Rehearsal/RehearsalPlan"] {
            #expect(!ModelLists.isOfOneHeadset("Sources/\(path).swift"))
        }
    }
}
