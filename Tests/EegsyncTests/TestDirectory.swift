import Foundation

/// A directory of a test, removed when the test lets it go.
final class TestDirectory {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-alerts-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = path(name)
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    func text(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }
}
