import GRDB

/// The audit of one recording, in the transaction that has changed it.
enum RecordingProof {
    /// What contradicts the evidence that is stored with a recording, in words; nil where nothing does.
    static func contradiction(of recording: Int64, in db: Database) throws -> String? {
        var audit = Audit(
            db: db, scope: AuditScope(recording: RecordingID(rawValue: recording)), file: FileCheck(path: nil), witness: nil)
        let report = try audit.run(nil) { _, _ in }
        if report.holds { return nil }
        return report.findings.prefix(3).map { "\($0.check.evidence.rawValue): \($0.detail)" }.joined(separator: "; ")
    }
}
