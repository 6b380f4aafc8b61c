import Glibc
import Storage

/// A hidden directory in the dataset where files of a recording wait until all of them are complete.
///
/// They are then given their names in one go, after a list of what is to be done was flushed to the disk: what a kill or a
/// power cut interrupts is completed by the next export into the dataset. Whatever has no such list is removed.
final class DatasetStaging {
    /// One step of a publication; paths are relative to the dataset.
    enum Step: Hashable {
        /// Gives a staged file its name.
        case publish(staged: String, path: String)
        /// Removes a file of an earlier export of the same recording; never one that is published in the same go.
        case remove(path: String)
    }

    let path: String
    private let dataset: String
    private let descriptor: Int32
    private var isDone = false
    private var nameCount = 0

    private static let beginning = ".eegsync-export-"
    private static let listName = "publication.tsv"

    init(in dataset: String) throws {
        self.dataset = dataset
        path = try TemporaryNames.add(in: dataset) {
            var template = Array((dataset + "/" + Self.beginning + "XXXXXX").utf8CString)
            guard let made = mkdtemp(&template) else { throw Self.failure(dataset) }
            return String(cString: made)
        }
        // By this lock an export of another process sees that this one lives.
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure(path) }
    }

    deinit {
        if !isDone { TemporaryNames.remove(path) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// A name that no other staged file has.
    func nextName(_ ending: String) -> String {
        nameCount += 1
        return "\(nameCount)_\(ending)"
    }

    /// Writes a small file. Returns its name in the directory.
    func write(_ bytes: [UInt8], as ending: String) throws -> String {
        let name = nextName(ending)
        let file = try PartialFile(path: "\(path)/\(name)", replacesExisting: false)
        try file.write(bytes)
        try file.synchronize()
        try file.publish(replacesExisting: false)
        return name
    }

    /// Does the steps; the dataset's lock is held. A signal that ends the process waits until they are done.
    func publish(_ steps: [Step]) throws {
        let list = try PartialFile(path: "\(path)/\(Self.listName)", replacesExisting: false)
        try list.write(
            Array(
                steps.map { step in
                    switch step {
                    case .publish(let staged, let path): "\(staged)\t\(path)\n"
                    case .remove(let path): "\t\(path)\n"
                    }
                }.joined().utf8))
        try list.synchronize()
        try list.publish(replacesExisting: false)
        try TemporaryNames.whileSignalsWait(for: path) {
            // From here on the list says what is to be done, whoever does it: where this fails, the next export goes on.
            isDone = true
            try Self.perform(steps, staging: path, dataset: dataset)
        }
    }

    /// Completes what exports that ended amid their publication have left, and removes what others have left; the dataset's
    /// lock is held.
    static func recover(in dataset: String) throws {
        for name in DatasetDirectory.names(in: dataset) where name.hasPrefix(beginning) {
            let staging = "\(dataset)/\(name)"
            let directory = open(staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard directory >= 0 else { continue }
            defer { close(directory) }
            guard flock(directory, LOCK_EX | LOCK_NB) == 0 else { continue }
            let list = DatasetDirectory.bytes(of: "\(staging)/\(listName)") ?? []
            let steps: [Step] = String(decoding: list, as: UTF8.self).split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, !parts[1].isEmpty, !parts[1].split(separator: "/").contains("..") else { return nil }
                return parts[0].isEmpty ? .remove(path: parts[1]) : .publish(staged: parts[0], path: parts[1])
            }
            if steps.isEmpty { TemporaryNames.remove(staging) } else { try perform(steps, staging: staging, dataset: dataset) }
        }
    }

    /// Does what is not done yet of the steps, and removes the directory.
    private static func perform(_ steps: [Step], staging: String, dataset: String) throws {
        var directories: Set<String> = [dataset]
        for case .publish(_, let path) in steps { directories.insert(PartialFile.split("\(dataset)/\(path)").directory) }
        for directory in directories.sorted() { try DatasetDirectory.makeDirectory(directory) }
        for case .publish(let staged, let path) in steps {
            // What is not there any more has its name already.
            guard access("\(staging)/\(staged)", F_OK) == 0 else { continue }
            guard rename("\(staging)/\(staged)", "\(dataset)/\(path)") == 0 else { throw failure("\(dataset)/\(path)") }
        }
        for case .remove(let path) in steps { unlink("\(dataset)/\(path)") }
        for directory in directories.sorted() { synchronize(directory) }
        for name in DatasetDirectory.names(in: staging) { unlink("\(staging)/\(name)") }
        rmdir(staging)
        // What a recording has left behind that went under another subject or session.
        for case .remove(let path) in steps {
            var directory = PartialFile.split(path).directory
            while directory != ".", rmdir("\(dataset)/\(directory)") == 0 { directory = PartialFile.split(directory).directory }
        }
    }

    /// The names in a directory are to survive a power cut, too.
    private static func synchronize(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func failure(_ path: String) -> ExportError {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .diskFull(path: path) }
        return .cannotWrite(path: path, reason: String(cString: strerror(code)))
    }
}
