import Glibc

/// The files of a database: it, and those beside it whose names begin with its own. SQLite makes some of them, eegsync the
/// others.
///
/// A link may lead to the database. They are beside what it leads to, as SQLite's own are: with names made of the link's, one
/// database would have two locks.
package struct DatabaseFiles {
    /// The database itself, no link.
    package let database: String

    /// What is appended to its name, also where there is no such file now: it would be taken for one.
    private static let endings = [
        "-wal", "-shm", "-journal", "-lock", "-spool", "-follow", "-keys", "-witness", "-tap", "-unstored",
    ]
    /// What earlier states of it are called, before what distinguishes them.
    private static let infixes = ["-before-", "-newer-", "-refused-", "-rescued-"]
    /// So many links in a row the kernel follows, too (path_resolution(7)).
    private static let linkMaximum = 40

    /// - Parameter path: of the database, or of a link to it.
    package init(of path: String) { database = Self.resolve(path) }

    /// Which file a path leads to, be it there or not. Links to directories stay as they are: what is beside the file is beside
    /// it by either name.
    package static func resolve(_ path: String) -> String {
        var path = path
        for _ in 0..<linkMaximum {
            guard let target = target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : directory(of: path) + "/" + target
        }
        return path
    }

    /// What a link says; nil for what is no link.
    static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { bytes in
                bytes.baseAddress.map { readlink(path, $0, bytes.count) } ?? -1
            }
        }
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Whether a path names one of the files, so that nothing else may be written there: SQLite would take it for what it is
    /// not, or what the daemon needs would be gone.
    package func has(_ path: String) -> Bool {
        if Self.isSame(path, database) || Self.endings.contains(where: { Self.isSame(path, database + $0) }) { return true }
        guard Self.isSame(Self.directory(of: path), Self.directory(of: database)) else { return false }
        let (name, own) = (Self.name(of: path), Self.name(of: database))
        guard name.hasPrefix(own) else { return false }
        let ending = name.dropFirst(own.count)
        if ending.isEmpty || Self.endings.contains(String(ending)) { return true }
        return Self.infixes.contains { ending.hasPrefix($0) } && access(path, F_OK) == 0
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func name(of path: String) -> Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }
}
