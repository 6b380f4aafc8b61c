import Foundation

/// A directory of a test, removed when the test lets it go.
final class TestDirectory {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-alerts-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file, where it is to be run by another process: what this one starts for another test meanwhile inherits what
    /// is open here, and what somebody has open for writing cannot be run (execve(2), ETXTBSY).
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = path(name)
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard mode & 0o111 != 0 else {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            return file
        }
        let input = Pipe()
        let install = Process()
        install.executableURL = URL(fileURLWithPath: "/usr/bin/install")
        install.arguments = ["--mode", String(mode, radix: 8), "/dev/stdin", file]
        install.standardInput = input
        try install.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        install.waitUntilExit()
        guard install.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
        return file
    }

    func text(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }
}
