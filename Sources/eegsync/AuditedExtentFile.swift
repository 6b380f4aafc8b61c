import Foundation
import Storage

/// The file in which `eegsync audit --continue` keeps how far it has looked.
struct AuditedExtentFile {
    let path: String

    /// A file of a thousand streams has some 300 kB.
    private static let sizeMaximum = 64 << 20

    /// What the earlier audit has looked at; nil where there is no file yet.
    ///
    /// - Throws: ``Failure`` for a file that is none of an audit.
    func read() throws -> AuditedExtent? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let wrong = Failure(
            problem: "\(path) is no file that `eegsync audit --continue` has written.",
            consequence: "nothing was audited, and the file is as it was.",
            remedy: "name another file; where there is none yet, all is audited.", code: .dataError)
        guard let data = FileManager.default.contents(atPath: path), data.count <= Self.sizeMaximum,
            let extent = try? JSONDecoder().decode(AuditedExtent.self, from: data), extent.format == AuditedExtent.format
        else { throw wrong }
        return extent
    }

    /// Keeps what was looked at, whole or not at all.
    func write(_ extent: AuditedExtent) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try encoder.encode(extent).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw Failure(
                problem: "\(path) cannot be written: \(FileReason(error).words).",
                consequence: "the audit is as it says, and the next one begins where this one began.",
                remedy: "name a file in a folder that you may write to.", code: .cannotCreate)
        }
    }
}
