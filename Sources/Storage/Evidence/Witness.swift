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

    /// Writes it, in one step. Best effort: a full disk keeps the last one.
    func write(beside database: String) {
        let path = Self.path(of: database)
        let temporary = path + ".new"
        let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        DatabaseOpening.shareWithGroup(file, of: database)
        let bytes = Array(text.utf8)
        let written = Glibc.write(file, bytes, bytes.count)
        Glibc.close(file)
        if written == bytes.count { rename(temporary, path) } else { unlink(temporary) }
    }
}

extension Witness.Head {
    fileprivate init?(_ line: Substring) {
        let parts = line.split(separator: " ").map(String.init)
        guard parts.count == 5, let chain = Chain(rawValue: parts[1]), let number = Int(parts[2]),
            let rowCount = Int(parts[3]), let digest = Digest(hexadecimal: parts[4])
        else { return nil }
        self.init(stream: parts[0], chain: chain, number: number, rowCount: rowCount, digest: digest)
    }

    fileprivate var line: String { "\(stream) \(chain.rawValue) \(number) \(rowCount) \(digest.hexadecimal)" }
}
