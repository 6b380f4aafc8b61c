package import Bluetooth
package import Storage

/// Why a recording could not be exported. Errors of the database pass through as `StorageError`.
///
/// Whatever the error, no file was left under a final name that is not complete and checked, and no existing file was changed.
package enum ExportError: Error, Hashable, Sendable {
    /// A file of this name exists and overwriting was not asked for.
    case exists(path: String)
    /// Beside the path lies a log of another database, which SQLite would write into this one; `isOpen` where a program has
    /// that one open.
    case leftLog(path: String, log: String, isOpen: Bool)
    /// No room is left on the file system that holds the path.
    case diskFull(path: String)
    /// The path is that of the database, or of a file that belongs to it.
    case ofDatabase(path: String, database: String)
    /// The file cannot be created, written or read back.
    case cannotWrite(path: String, reason: String)
    /// The recording, or the chosen part of it, holds no sample.
    case emptyRecording(RecordingID)
    /// The recording has no stream of this name.
    case unknownStream(name: String, available: [String])
    /// The chosen streams have no channel of this name.
    case unknownChannel(name: String, available: [String])
    /// The format cannot hold the recording as asked for.
    case notRepresentable(what: String, reason: String, advice: String)
    /// A program that the format needs is not there.
    case toolMissing(name: String, reason: String, advice: String)
    /// What was read back differs from what was to be written: a defect of the disk or of this program.
    case verificationFailed(path: String, detail: String)

    /// What the error asks for.
    package var disposition: Disposition {
        switch self {
        case .exists, .leftLog, .ofDatabase, .diskFull, .cannotWrite, .toolMissing: .waitForOperator
        case .emptyRecording, .unknownStream, .unknownChannel, .notRepresentable, .verificationFailed: .stop
        }
    }
}

extension ExportError: CustomStringConvertible {
    /// What failed, on which file or stream, why, what became of the export, and what a person can do.
    package var description: String {
        switch self {
        case .exists(let path):
            "The file \(path) exists already and was left untouched. "
                + "Choose another path, or add --force to replace it."
        case .leftLog(let path, let log, let isOpen):
            isOpen
                ? "\(log) is the log of another database, which a program has open. No file was written, and \(path) was left "
                    + "as it is. End that program, or choose another path."
                : "\(log) is the log of another database. No file was written: SQLite would write that log into \(path). "
                    + "Choose another path, or add --force to remove the log."
        case .ofDatabase(let path, let database):
            "\(Self.words(path, of: database)). No file was written, and nothing was changed. Choose another path."
        case .diskFull(let path):
            "No room is left on the file system of \(path). The unfinished file was removed. "
                + "Free some space or choose a path on another disk, then export again."
        case .cannotWrite(let path, let reason):
            "The file \(path) cannot be written: \(reason). No file was written. "
                + "Check the directory and its permissions, then export again."
        case .emptyRecording(let recording):
            "Recording \(recording.rawValue) holds no sample to export in what was chosen. No file was written. "
                + "`eegsync recordings` lists what there is."
        case .unknownStream(let name, let available):
            "The recording has no stream named \(name). No file was written. "
                + "Choose one of: \(available.joined(separator: ", "))."
        case .unknownChannel(let name, let available):
            "The chosen streams have no channel named \(name). No file was written. "
                + "Choose from: \(available.joined(separator: ", "))."
        case .notRepresentable(let what, let reason, let advice):
            "\(what) cannot be written in this format: \(reason). No file was written. \(advice)"
        case .toolMissing(let name, let reason, let advice):
            "\(name) is needed for this format, and is not there: \(reason). No file was written. \(advice)"
        case .verificationFailed(let path, let detail):
            "The file written for \(path) does not read back as it was written: \(detail). It was removed. "
                + "Export again; if it happens again, check the disk and report this as a defect."
        }
    }

    /// What a path of the database is.
    package static func words(_ path: String, of database: String) -> String {
        PartialFile.isSame(path, database)
            ? "\(path): it is the database itself" : "\(path) belongs to the database \(database)"
    }
}
