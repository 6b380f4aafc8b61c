import Alerts
import Bluetooth
import Foundation
import Glibc
import Storage

/// What `eegsync alerts run` must not forget when it is killed: which alerts are raised, and which messages are not delivered.
struct AlertMemory: Codable, Hashable {
    /// The version of the form; another one is not read.
    private static let formVersion = 1

    var version = formVersion
    var state: AlertState
    var queues: [DeliveryQueue]

    /// False for the form of another version.
    var isReadable: Bool { version == Self.formVersion }

    /// What is known at the very beginning.
    init(origin: String, boot: String, at now: AlertInstant) {
        state = AlertState(origin: origin, boot: boot, at: now)
        queues = []
    }

    /// The queue of each way that has messages: known ones keep theirs, and those of ways that are gone go with them.
    mutating func arrange(for ways: [String]) {
        queues = ways.map { way in queues.first { $0.way == way } ?? DeliveryQueue(way: way) }
    }
}

/// The file that it stands in, below a directory of its own.
struct AlertMemoryFile {
    /// Where the service has it (`StateDirectory=` of its unit).
    static let standardDirectory = "/var/lib/eegsync-alerts"

    let directory: String

    /// The directory that the command names, or the service manager, or the standard one.
    init(directory: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        // Several directories of a unit are separated by colons; there is one.
        let managed = environment["STATE_DIRECTORY"].flatMap {
            $0.isEmpty ? nil : $0.split(separator: ":").first.map(String.init)
        }
        self.directory = directory ?? managed ?? Self.standardDirectory
    }

    private var path: String { directory + "/alerts.json" }

    /// What was kept; nil where nothing was.
    ///
    /// - Throws: ``FileReason`` where the file is damaged, of another version or cannot be read.
    func load() throws(FileReason) -> AlertMemory? {
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let memory = try JSONDecoder().decode(AlertMemory.self, from: data)
            guard memory.isReadable else { throw FileReason("\(path) is damaged or of another version") }
            return memory
        } catch let error as FileReason {
            throw error
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch is DecodingError {
            throw FileReason("\(path) is damaged or of another version")
        } catch {
            throw FileReason("\(path) cannot be read: \(FileReason(error).words)")
        }
    }

    /// Keeps it, as a whole or not at all, also when the power is cut.
    ///
    /// - Throws: ``FileReason``.
    func keep(_ memory: AlertMemory) throws(FileReason) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileReason("\(temporary): \(String(cString: strerror(errno)))") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: try encoder.encode(memory))
            try handle.synchronize()
            try handle.close()
        } catch {
            throw FileReason("\(temporary): \(FileReason(error).words)")
        }
        guard rename(temporary, path) == 0 else { throw FileReason("\(path): \(String(cString: strerror(errno)))") }
    }

    /// Takes the directory for this process, as long as the handle is held, so that nobody is notified twice.
    ///
    /// - Throws: ``Failure`` where another process has it, or nothing can be written there.
    func lock() throws(Failure) -> FileHandle {
        let nothing = "nobody was notified of anything."
        let file = directory + "/lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                problem: "\(directory) cannot be written: \(String(cString: strerror(errno))).", consequence: nothing,
                remedy: "make the directory for this user, or name another one with --state-directory.", code: .cannotCreate)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Failure(
                problem: "another `eegsync alerts run` has \(directory).", consequence: "this one stops; that one goes on.",
                remedy: "use that one, or give this one a directory of its own with --state-directory.", code: .temporary)
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
