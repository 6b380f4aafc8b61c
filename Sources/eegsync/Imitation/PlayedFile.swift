import Bluetooth
import Export
import Glibc
import Headsets
import Simulation
import Storage

/// What an imitated headset has measured, as CSV: a line for each instant of each stream. To compare a recording with.
final class PlayedFile {
    /// Its path.
    let path: String
    private(set) var rowCount = 0
    private let descriptor: Int32
    private let names: [String]

    /// Creates the file.
    ///
    /// - Parameter database: what is played, where it is a database, whose files are not overwritten; nil otherwise.
    /// - Throws: ``Failure`` where it exists or cannot be created; `ExportError.ofDatabase`.
    init(path: String, streams: [StreamDescription], replacesExisting: Bool, sparing database: String? = nil) throws {
        if let database, DatabaseFiles(of: database).has(path) {
            throw ExportError.ofDatabase(path: path, database: database)
        }
        self.path = path
        names = streams.map(\.bankName)
        descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | (replacesExisting ? O_TRUNC : O_EXCL), 0o644)
        guard descriptor >= 0 else {
            let isTaken = errno == EEXIST
            let reason = isTaken ? "it exists" : String(cString: strerror(errno))
            throw Failure(
                problem: "the file \(path) cannot be created: \(reason).", consequence: "no headset is imitated.",
                remedy: isTaken ? "choose another name, or allow it with --force." : "choose another --played PATH.",
                code: .cannotCreate)
        }
        let channels = (1...StreamDescription.channelsPerBank).map { "c\($0)" }
        try write("run,stream,index,boottime_ns," + channels.joined(separator: ",") + "\n")
    }

    deinit { close(descriptor) }

    /// Appends samples. A value that the headset never sends is empty, as are those of channels that it does not have.
    ///
    /// - Throws: ``Failure`` where the disk is full.
    func append(_ samples: [PlayedSample]) throws {
        guard !samples.isEmpty else { return }
        var text = ""
        for sample in samples {
            let values = sample.values.map { $0.map(String.init) ?? "" }
            let absent = [String](repeating: "", count: StreamDescription.channelsPerBank - values.count)
            text += "\(sample.run),\(names[sample.stream]),\(sample.index),\(sample.time.nanoseconds),"
            text += (values + absent).joined(separator: ",") + "\n"
        }
        rowCount += samples.count
        try write(text)
    }

    private func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(
                    problem: "what was played cannot be written to \(path): \(String(cString: strerror(errno))).",
                    consequence: "the imitation ends; the file holds what was written until now.",
                    remedy: "make room, or choose another --played PATH.", code: .ioError)
            }
            rest = rest.dropFirst(count)
        }
    }
}
