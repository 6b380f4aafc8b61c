import Export
import Storage

extension Failure {
    /// Errors of an export. Whatever the error, no unfinished file keeps its final name and no existing file was changed.
    init(export error: ExportError) {
        switch error {
        case .exists(let path):
            self.init(
                problem: "the file \(path) exists already.", consequence: "it was left untouched.",
                remedy: "choose another path, or replace it with --force.", code: .cannotCreate)
        case .leftLog(let path, let log, let isOpen):
            self.init(
                problem: "\(log) is the log of another database\(isOpen ? ", which a program has open" : "").",
                consequence: "no file was written: SQLite would write that log into \(path).",
                remedy: isOpen
                    ? "end that program, or choose another path." : "choose another path, or remove the log with --force.",
                code: .cannotCreate)
        case .ofDatabase(let path, let database):
            self.init(
                problem: "\(ExportError.words(path, of: database)).",
                consequence: "no file was written, and nothing was changed.", remedy: "choose another path.",
                code: .cannotCreate)
        case .diskFull(let path):
            self.init(
                problem: "the disk of \(path) is full.", consequence: "the unfinished file was removed.",
                remedy: "make room, or choose a path on another disk; of the disk of the database the last 200 MB (or its last "
                    + "tenth) stay free.", code: .ioError)
        case .cannotWrite(let path, let reason):
            self.init(
                problem: "the file \(path) cannot be written: \(reason).", consequence: "no file was written.",
                remedy: "check the directory and who may write it (ls -ld).", code: .cannotCreate)
        case .emptyRecording(let recording):
            self.init(
                problem: "recording \(recording.rawValue) holds no sample to export in what was chosen.",
                consequence: "no file was written.", remedy: "`eegsync recordings` lists what there is, and when.",
                code: .noInput)
        case .unknownStream(let name, let available):
            self.init(
                problem: "the recording has no stream \(name).", consequence: "no file was written.",
                remedy: "choose from: \(available.joined(separator: ", ")).", code: .noInput)
        case .unknownChannel(let name, let available):
            self.init(
                problem: "the chosen streams have no channel \(name).", consequence: "no file was written.",
                remedy: "choose from: \(available.joined(separator: ", ")).", code: .noInput)
        case .notRepresentable(let what, let reason, let advice):
            self.init(
                problem: "\(what) cannot be written in this format: \(reason).", consequence: "no file was written.",
                remedy: advice, code: .dataError)
        case .toolMissing(let name, let reason, let advice):
            self.init(
                problem: "this format needs \(name), which is not there: \(reason).", consequence: "no file was written.",
                remedy: advice, code: .unavailable)
        case .verificationFailed(let path, let detail):
            self.init(
                problem: "the file written for \(path) does not read back as it was written: \(detail).",
                consequence: "it was removed.", remedy: "export again; if it happens again, check the disk and report this.",
                code: .ioError)
        }
    }
}
