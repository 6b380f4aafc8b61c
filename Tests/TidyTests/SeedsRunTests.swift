import Foundation
import Testing

/// `Tests/Seeds/run` with a program that only writes down what it was asked for.
struct SeedsRunTests {
    /// Runs it; the program fails for one seed, or for one range.
    private func run(failingFor argument: String = "none", count: Int) throws -> (status: Int32, asked: [String]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seeds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("program")
        let log = folder.appendingPathComponent("log")
        try "#!/bin/sh\necho \"$3\" >>\(log.path)\n[ \"$3\" != \(argument) ]\n".write(
            to: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let process = Process()
        process.executableURL = Tree.top.appendingPathComponent("Tests/Seeds/run")
        process.arguments = [program.path, "\(count)", "5000"]
        process.standardOutput = Pipe()
        try process.run()
        process.waitUntilExit()
        let asked = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init).sorted()
        return (process.terminationStatus, asked)
    }

    private var fallen: [String] {
        get throws {
            try Tree.text("Tests/Seeds/fallen.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                let seed = line.prefix { $0.isNumber }
                #expect(line.drop { $0.isNumber }.contains { $0.isLetter }, "seed \(seed) needs a why")
                return "\(seed)..\(seed)"
            }
        }
    }

    private static let first = "1..50"

    @Test func theFirstSeedsAndThoseThatOnceFellAreRehearsedBesidesUnseenOnes() throws {
        let (status, asked) = try run(count: 200)
        let unseen = 150 - (try fallen.count)
        let halves = ["5000..\(5000 + unseen / 2 - 1)", "\(5000 + unseen / 2)..\(5000 + unseen - 1)"]
        #expect(status == 0)
        #expect(try asked == (fallen + halves + [Self.first]).sorted())
    }

    @Test func oneBrokenPromiseFailsTheRun() throws {
        let unseen = 150 - (try fallen.count)
        for argument in [
            Self.first, try #require(fallen.first), "5000..\(5000 + unseen / 2 - 1)",
            "\(5000 + unseen / 2)..\(5000 + unseen - 1)",
        ] {
            #expect(try run(failingFor: argument, count: 200).status != 0, "\(argument)")
        }
    }
}
