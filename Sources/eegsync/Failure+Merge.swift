import Storage

extension Failure {
    /// Errors of merging another database.
    init(merge error: MergeError) {
        let unchanged = "nothing of it came in; both databases are as they were."
        switch error {
        case .sameDatabase(let path):
            self.init(
                problem: "\(path) is the database itself.", consequence: "nothing was changed.",
                remedy: "name another database, and this one with --database.", code: .usage)
        case .olderSchema(let path):
            self.init(
                problem: "\(path) was written by an older version of eegsync, and cannot be read without a change of the files "
                    + "beside it.",
                consequence: unchanged,
                remedy: "copy it, with its -wal where there is one, into a directory of your own, and merge the copy.",
                code: .dataError)
        case .foreignSchema(let path, let detail):
            self.init(
                problem: "\(path) is not as eegsync makes a database: \(detail).", consequence: unchanged,
                remedy: "another program has changed it; merge a backup of it from before.", code: .dataError)
        case .damaged(let path, let detail):
            self.init(
                problem: "\(path) is damaged: \(detail).", consequence: unchanged,
                remedy: "merge a backup of it; eegsync audit --database FILE says what is damaged.", code: .dataError)
        case .auditFails(let path, let findings):
            self.init(
                problem: "the audit of \(path) fails: \(findings.joined(separator: "; ")).", consequence: unchanged,
                remedy: "eegsync audit --database FILE says everything that contradicts its evidence; merge a backup of it.",
                code: .dataError)
        case .goesOn(let recording):
            self.init(
                problem: "recording \(recording) is in both databases and is wanted here.", consequence: unchanged,
                remedy: "stop it first (eegsync record stop), then merge; a new one can go on.", code: .dataError)
        case .contradiction(let path, let recording, let detail):
            self.init(
                problem: "recording \(recording) of \(path) cannot come in: \(detail).",
                consequence: "nothing of it came in; recordings before it in that file did.",
                remedy: "eegsync audit says whether this database holds what it should; the file stays as it is.",
                code: .dataError)
        }
    }
}
