/// What is to be sent to the readers of the tap, once for all of them, and how far each one is.
///
/// Pure: it holds bytes and counts. A reader that falls behind by more than ``capacity`` is dropped and counted; nobody waits
/// for it, and nobody else loses anything.
package struct TapQueue: Sendable {
    /// The key of a reader: each is used once.
    package struct ReaderID: Hashable, Sendable, Comparable {
        package let rawValue: UInt64

        /// Creates a key.
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static func < (left: ReaderID, right: ReaderID) -> Bool { left.rawValue < right.rawValue }
    }

    /// How far one reader is.
    private struct Reader {
        var id: ReaderID
        /// What it gets alone, before anything else; nil until that is known.
        var greeting: [UInt8]?
        /// The chunk that it gets next, counted from the first one ever.
        var chunk: UInt64
        /// How much of that chunk, or of the greeting, it has.
        var offset = 0
    }

    /// The most bytes that are kept for readers that are behind.
    package let capacity: Int
    private var chunks: [[UInt8]] = []
    /// How many chunks went before the first one that is kept.
    private var firstChunk: UInt64 = 0
    private var byteCount = 0
    private var readers: [Reader] = []
    /// How many readers were dropped.
    package private(set) var droppedCount: UInt64 = 0

    /// Creates a queue without readers.
    ///
    /// - Parameter capacity: in bytes.
    package init(capacity: Int = TapQueue.defaultCapacity) { self.capacity = capacity }

    /// 4 MiB are 40 s of ten headsets of 8 channels at 250 Hz.
    package static let defaultCapacity = 4 << 20

    /// True where nobody reads.
    package var isEmpty: Bool { readers.isEmpty }

    /// The readers, in the order in which they came.
    package var readerIDs: [ReaderID] { readers.map(\.id) }

    /// The bytes that are kept.
    package var keptByteCount: Int { byteCount }

    /// A reader has come. It gets nothing until ``greet(_:with:)``.
    package mutating func join(_ id: ReaderID) { readers.append(Reader(id: id, chunk: end)) }

    /// What a reader gets first; it gets everything that is appended from now on.
    package mutating func greet(_ id: ReaderID, with greeting: [UInt8]) {
        guard let index = index(of: id), readers[index].greeting == nil else { return }
        readers[index].greeting = greeting
        readers[index].chunk = end
    }

    /// A reader has gone.
    package mutating func leave(_ id: ReaderID) {
        readers.removeAll { $0.id == id }
        trim()
    }

    /// Readers are dropped for another reason than that they are behind.
    package mutating func drop(_ ids: [ReaderID]) {
        droppedCount += UInt64(readers.count { ids.contains($0.id) })
        for id in ids { leave(id) }
    }

    /// Bytes for all readers.
    ///
    /// - Returns: the readers that were dropped because they are too far behind.
    package mutating func append(_ chunk: [UInt8]) -> [ReaderID] {
        guard !readers.isEmpty, !chunk.isEmpty else { return [] }
        chunks.append(chunk)
        byteCount += chunk.count
        var dropped: [ReaderID] = []
        // The newest chunk is kept in any case: who has all but that is not behind.
        while byteCount > capacity, chunks.count > 1 {
            let late = readers.filter { $0.greeting != nil && $0.chunk == firstChunk }.map(\.id)
            readers.removeAll { late.contains($0.id) }
            droppedCount += UInt64(late.count)
            dropped += late
            removeFirstChunk()
        }
        return dropped
    }

    /// What a reader is to be sent next: bytes, and how many of them it has already. Nil where it has everything.
    package func next(for id: ReaderID) -> (bytes: [UInt8], offset: Int)? {
        guard let index = index(of: id), let greeting = readers[index].greeting else { return nil }
        let reader = readers[index]
        if !greeting.isEmpty { return (greeting, reader.offset) }
        guard reader.chunk < end else { return nil }
        return (chunks[Int(reader.chunk - firstChunk)], reader.offset)
    }

    /// A reader has taken so many bytes of what ``next(for:)`` has handed out.
    package mutating func sent(_ count: Int, to id: ReaderID) {
        guard let index = index(of: id), let (bytes, offset) = next(for: id) else { return }
        guard offset + count >= bytes.count else { return readers[index].offset += count }
        readers[index].offset = 0
        if readers[index].greeting?.isEmpty == false {
            readers[index].greeting = []
        } else {
            readers[index].chunk += 1
            trim()
        }
    }

    /// The number of the next chunk.
    private var end: UInt64 { firstChunk + UInt64(chunks.count) }

    private func index(of id: ReaderID) -> Int? { readers.firstIndex { $0.id == id } }

    /// Lets go of what every reader has.
    private mutating func trim() {
        let least = readers.lazy.filter { $0.greeting != nil }.map(\.chunk).min() ?? end
        while firstChunk < least, !chunks.isEmpty { removeFirstChunk() }
    }

    private mutating func removeFirstChunk() {
        byteCount -= chunks.removeFirst().count
        firstChunk += 1
        // Whoever waits for its greeting begins later in any case.
        for index in readers.indices where readers[index].greeting == nil { readers[index].chunk = end }
    }
}
