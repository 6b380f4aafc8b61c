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
    private static let count = 200

    /// The unseen seeds: one half of all seeds, and the rest, which share a processor with the known ones.
    private var halves: [String] {
        get throws {
            let unseen = Self.count - 50 - (try fallen.count)
            let middle = 5000 + (unseen > Self.count / 2 ? Self.count / 2 : unseen / 2)
            return ["5000..\(middle - 1)", "\(middle)..\(5000 + unseen - 1)"]
        }
    }

    @Test func theFirstSeedsAndThoseThatOnceFellAreRehearsedBesidesUnseenOnes() throws {
        let (status, asked) = try run(count: Self.count)
        #expect(status == 0)
        #expect(try asked == (fallen + halves + [Self.first]).sorted())
    }

    @Test func oneBrokenPromiseFailsTheRun() throws {
        for argument in try [Self.first, #require(fallen.first)] + halves {
            #expect(try run(failingFor: argument, count: Self.count).status != 0, "\(argument)")
        }
    }
}
