import Evidence
import Foundation
import Glibc

/// What stands beside a database, in the file `<database>-witness`: where the chains of its streams ended when all that was
/// committed had last reached the disk.
///
/// A database that was cut, or replaced by an older copy of itself, is consistent in itself; the witness says what it had. It
/// is a text with a line for each chain: the stream's UUID, the chain, the number of its last block, how many rows that had,
/// and its digest. Whoever restores an older copy on purpose removes the witness with it.
struct Witness: Hashable, Sendable {
    /// The end of one chain.
    struct Head: Hashable, Sendable {
        var stream: String
        var chain: Chain
        var number: Int
        var rowCount: Int
        var digest: Digest
    }

    var heads: [Head] = []

    private static let firstLine = "eegsync witness 1"

    static func path(of database: String) -> String { database + "-witness" }

    /// What stands beside a database; nil where nothing does, or it cannot be read.
    static func read(of database: String) -> Witness? {
        guard let data = FileManager.default.contents(atPath: path(of: database)) else { return nil }
        return Witness(text: String(decoding: data, as: UTF8.self))
    }

    init(heads: [Head] = []) {
        self.heads = heads
    }

    /// Lines that are none are passed over: the file is no more than a hint.
    init?(text: String) {
        let lines = text.split(separator: "\n")
        guard lines.first.map(String.init) == Self.firstLine else { return nil }
        heads = lines.dropFirst().compactMap(Head.init)
    }

    var text: String {
        ([Self.firstLine] + heads.map(\.line)).joined(separator: "\n") + "\n"
    }

    /// Takes other heads; those of the same chain are replaced.
    mutating func merge(_ others: [Head]) {
        let changed = Set(others.map { "\($0.stream) \($0.chain.rawValue)" })
        heads.removeAll { changed.contains("\($0.stream) \($0.chain.rawValue)") }
        heads += others
    }

    /// Writes it over what it was: a new file each ten seconds would cost a card a dozen blocks of the file system's
    /// journal. A power cut in between leaves lines of before among new ones, which say less, and none that says something
    /// false: a line that is cut is passed over. Best effort: a full disk keeps the last one.
    func write(beside database: String) {
        let file = Glibc.open(Self.path(of: database), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        FileModes(database: database).share(file)
        let bytes = Array(text.utf8)
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { return }
        var status = stat()
        if fstat(file, &status) == 0, status.st_size > off_t(bytes.count) { _ = ftruncate(file, off_t(bytes.count)) }
    }
}

extension Witness.Head {
    fileprivate init?(_ line: Substring) {
        var parts = line.split(separator: " ").map(String.init)
        // Earlier versions wrote no checksum, and a new file each time.
        if parts.count == 6, parts.removeLast() != Self.checksum(of: parts.joined(separator: " ")) { return nil }
        guard parts.count == 5, let chain = Chain(rawValue: parts[1]), let number = Int(parts[2]),
            let rowCount = Int(parts[3]), let digest = Digest(hexadecimal: parts[4])
        else { return nil }
        self.init(stream: parts[0], chain: chain, number: number, rowCount: rowCount, digest: digest)
    }

    fileprivate var line: String {
        let words = "\(stream) \(chain.rawValue) \(number) \(rowCount) \(digest.hexadecimal)"
        return "\(words) \(Self.checksum(of: words))"
    }

    /// FNV-1a, 64 bits: finds a line that is half of before.
    private static func checksum(of words: String) -> String {
        String(words.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }
}
