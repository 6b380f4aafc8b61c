import Bluetooth
import Foundation
import Glibc
import Synchronization

/// A file of batches that are in no transaction yet, so that transactions can be rarer than what the death of the process may
/// cost: pages that are written ten times in ten seconds are written once.
///
/// It belongs into the memory of the machine, where it outlives the process and costs a card nothing (tmpfs, such as
/// `/run/eegsync`). On a disk it works as well: it is never flushed, and written over again and again. It is one of a host
/// boot and of a process, which its first line names; what it holds is secret as the database is, and for its owner alone.
package final class BatchSpool: Sendable {
    /// The most bytes that it holds: about 20 minutes of a Muse. Beyond, batches are committed at once.
    static let sizeLimit = 16_777_216
    private static let firstLine = "eegsync spool 1 "
    /// The first line: what it is, a UUID, a line feed.
    private static let headerSize = firstLine.utf8.count + 37

    private struct State {
        var end = BatchSpool.headerSize
        /// The number of the latest batch that is in it, or committed.
        var lastNumber: UInt64 = 0
    }

    /// The file; a name without one for a spool in memory.
    package let path: String
    private let descriptor: Int32
    private let state = Mutex(State())

    private init(path: String, descriptor: Int32) {
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit { close(descriptor) }

    /// Opens a file, which is created where it is not there.
    ///
    /// - Throws: ``StorageError/spool(path:reason:)``.
    package convenience init(path: String) throws(StorageError) {
        // No link is followed: the directory may belong to others.
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .spool(path: path, reason: String(cString: strerror(errno))) }
        self.init(path: path, descriptor: file)
    }

    /// A spool without a name, for rehearsals: it outlives a simulated process.
    package static func inMemory() throws(StorageError) -> BatchSpool {
        var name = Array("/dev/shm/eegsync-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw .spool(path: "/dev/shm", reason: String(cString: strerror(errno))) }
        unlink(name)
        return BatchSpool(path: "memory", descriptor: file)
    }

    /// Forgets everything, as memory does without power, and begins anew for a process.
    ///
    /// - Throws: ``StorageError/spool(path:reason:)``.
    package func begin(token: String) throws(StorageError) {
        guard ftruncate(descriptor, 0) == 0 else { throw .spool(path: path, reason: String(cString: strerror(errno))) }
        state.withLock { $0 = State() }
        try write(Data((Self.firstLine + token + "\n").utf8), at: 0)
    }

    /// Adds a batch: the one that follows the latest that is in it or committed. What was left out once is committed before
    /// anything later is taken, so that the next process finds no hole.
    ///
    /// - Throws: ``StorageError/spool(path:reason:)`` where there is no room, or a batch is missing before it; what it held is
    ///   still there.
    func append(_ batch: WriteBatch, at now: MonotonicTime) throws(StorageError) {
        let bytes = try SpoolRecord.bytes(of: SpooledBatch(batch: batch, at: now), path: path)
        try state.withLock { (state) throws(StorageError) in
            guard batch.number == state.lastNumber + 1 else {
                throw .spool(
                    path: path, reason: "batch \(batch.number) does not follow batch \(state.lastNumber), which is the latest")
            }
            guard state.end + bytes.count <= Self.sizeLimit else {
                throw .spool(path: path, reason: "it holds \(state.end) bytes already")
            }
            try write(bytes, at: state.end)
            state.end += bytes.count
            state.lastNumber = batch.number
        }
    }

    /// Batches up to this number are committed. Once nothing later is in it, it is written from its beginning again.
    func discard(upTo number: UInt64) {
        state.withLock { state in
            if state.lastNumber <= number { (state.end, state.lastNumber) = (Self.headerSize, number) }
        }
    }

    /// The batches of a process, in order, as far as they are whole; none where it is another process's.
    func batches(of token: String) -> [SpooledBatch] {
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = pread(descriptor, &chunk, chunk.count, off_t(bytes.count)), count > 0 {
            bytes.append(contentsOf: chunk.prefix(count))
        }
        guard bytes.prefix(Self.headerSize) == Data((Self.firstLine + token + "\n").utf8) else { return [] }
        return SpoolRecord.batches(in: bytes.dropFirst(Self.headerSize))
    }

    /// True where all that it was given is committed.
    var isEmpty: Bool { state.withLock { $0.end == Self.headerSize } }

    /// Takes its name away.
    func remove() { unlink(path) }

    /// Keeps it under another name.
    func move(to other: String) { rename(path, other) }

    private func write(_ bytes: Data, at offset: Int) throws(StorageError) {
        let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, bytes.count, off_t(offset)) }
        guard written == bytes.count else {
            throw .spool(path: path, reason: written < 0 ? String(cString: strerror(errno)) : "no room is left")
        }
    }
}
