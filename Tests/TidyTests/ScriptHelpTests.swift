import Foundation
import Testing

/// What a script says where it is asked for help.
struct ScriptHelpTests {
    /// Those that source `Deploy/build`; `Deploy/demo` hands its options on.
    private static var scripts: [SourceText] {
        ["Deploy", "Tests"].flatMap { Tree.files(below: $0, withExtensions: [""]) }.filter {
            $0.path != "Deploy/demo" && $0.lines.contains { $0.hasPrefix(". ") && $0.hasSuffix("Deploy/build") }
                && $0.lines[0].hasPrefix("#!")
        }
    }

    /// The first comment, without the signs of one.
    private func comment(of script: SourceText) -> String {
        script.lines.dropFirst().prefix { $0.hasPrefix("#") }.map { String($0.dropFirst($0.hasPrefix("# ") ? 2 : 1)) }
            .joined(separator: "\n")
    }

    /// Runs a script as somebody who stands in its folder, without any program but the shell's and sed.
    private func help(of script: SourceText, _ option: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["./" + (script.path as NSString).lastPathComponent, option]
        process.currentDirectoryURL = Tree.top.appendingPathComponent((script.path as NSString).deletingLastPathComponent)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test func everyScriptSaysWhatItIsForAndDoesNothingElse() throws {
        #expect(Self.scripts.count > 15)
        for script in Self.scripts {
            for option in ["--help", "-h"] {
                let (status, output) = try help(of: script, option)
                #expect(status == 0 && output == comment(of: script) + "\n", "\(script.path) \(option): \(output.prefix(300))")
            }
        }
    }
}
