import Foundation
import FuzzTargets
import Testing

/// The inputs that fuzzing has kept, without the fuzzer: each reached something that no shorter one did.
@Suite("The fuzzer's corpus")
struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fuzz/corpus")

    /// The inputs of a file: a line of hexadecimal digits each. Nil for what is none.
    static func inputs(of name: String) throws -> [[UInt8]?] {
        try String(contentsOf: folder.appending(path: name + ".hex"), encoding: .utf8).split(separator: "\n").map(bytes)
    }

    private static func bytes(_ line: Substring) -> [UInt8]? {
        let digits = line.compactMap(\.hexDigitValue)
        guard digits.count == line.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test("breaks no rule", arguments: FuzzTarget.all.map(\.name))
    func corpus(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: name)
        #expect(!inputs.isEmpty)
        for (line, input) in inputs.enumerated() {
            let bytes = try #require(input, "line \(line + 1)")
            #expect(target.run(bytes) == nil, "line \(line + 1)")
        }
    }

    @Test("has a file for each target, and for nothing else")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
        #expect(names.sorted() == FuzzTarget.all.map { $0.name + ".hex" }.sorted())
    }

    @Test("is small")
    func size() throws {
        let sizes = try FuzzTarget.all.map { try Data(contentsOf: Self.folder.appending(path: $0.name + ".hex")).count }
        #expect(sizes.reduce(0, +) <= 100_000)
    }
}

/// The rules notice what they are there for. That libFuzzer finds such inputs by itself, `Tests/Fuzz/run` proves.
@Suite("Planted defects of decoders")
struct PlantedDefectTests {
    @Test("break a rule with the bytes that bring them out, and with no others")
    func miscount() throws {
        let target = try #require(FuzzTarget.named("planted-rule"))
        #expect(target.run([9, 0xA5, 0x5A, 6, 1, 2, 3, 4, 5, 6]) == nil)
        let broken = try #require(target.run([10, 0xA5, 0x5A, 7, 1, 2, 3, 4, 5, 6, 7]))
        #expect(broken.contains("another size"))
    }

    @Test("of the engine: gaps that it forgets are found by the audit, and by nothing in a link without any")
    func forgottenGaps() throws {
        let planted = try #require(FuzzTarget.named("planted-acquisition"))
        let sound = try #require(FuzzTarget.named("acquisition"))
        // A Muse, preset 21: packets of four channels each, all of them, and without some for as long as that takes.
        let all = Self.packets(0..<48)
        let some = Self.packets(0..<24) + [4, 8] + [UInt8](repeating: 0, count: 8) + Self.packets(28..<52).dropFirst(3)
        #expect(sound.run(some) == nil)
        let broken = try #require(planted.run(some))
        #expect(broken.contains("rowsAndGapsAddUp"))
        #expect(planted.run(all).map { $0.contains("rowsAndGapsAddUp") } != true)
    }

    @Test("of the engine are found by the corpus, from which the fuzzer begins there")
    func corpusOfTheEngine() throws {
        let planted = try #require(FuzzTarget.named("planted-acquisition"))
        let inputs = try CorpusTests.inputs(of: "acquisition").compactMap { $0 }
        #expect(inputs.contains { planted.run($0)?.contains("rowsAndGapsAddUp") == true })
    }

    /// Packets with these numbers, each 31 and 16 ms after the one before: as fast as a Muse sends them.
    private static func packets(_ numbers: Range<UInt8>) -> [UInt8] {
        [11, 0, 0] + numbers.flatMap { [0xFA, 4, 2, 0, $0, 0, 4, 4, 0, 0, 0, 0] as [UInt8] }
    }
}
