import Centre
import Foundation
import Storage

extension RecordingFetch {
    /// Writes a recording into a file, and audits it.
    ///
    /// - Parameters:
    ///   - name: the recording's UUID, or its number at the centre.
    ///   - path: a file that does not exist yet, or is empty; after an error the caller removes it.
    ///   - progress: gets how many rows are written, and how many there are.
    /// - Throws: ``CentreError``, `contradiction` where the file does not hold what its digests say; ``StorageError``.
    func writeAudited(
        _ name: String, to path: String, progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws -> CentreRecording {
        let fetched = try write(name, to: path, progress: progress)
        try Self.audit(path)
        return fetched
    }

    private static func audit(_ path: String) throws {
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        defer { try? store.close() }
        let readers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
        let report = try store.audit(AuditScope(readerCount: readers))
        if report.holds { return }
        let findings = report.findings.prefix(3).map { "\($0.check.evidence.rawValue): \($0.detail)" }
        let more = report.findings.count > 3 ? ", and \(report.findings.count - 3) more" : ""
        throw CentreError.contradiction(
            detail: findings.isEmpty ? "rows and gaps do not add up" : findings.joined(separator: "; ") + more)
    }
}
