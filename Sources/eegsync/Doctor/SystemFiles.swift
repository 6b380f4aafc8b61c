import Foundation

/// The kernel's small text files, under `/` or, in tests, under another directory.
struct SystemFiles {
    /// What stands before `/sys` and `/proc`; empty for this machine.
    var root = ""

    /// The first 64 KiB of a file without blanks at its ends; nil where it cannot be read or is empty.
    func text(_ path: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: root + path) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: 65_536) else { return nil }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }

    /// The names in a directory, sorted; empty where there is none.
    func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + path)) ?? []).sorted()
    }

    /// Whether there is such a file.
    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + path) }

    /// Where a symbolic link leads, as a path without links.
    func resolved(_ path: String) -> String {
        let target = URL(fileURLWithPath: root + path).resolvingSymlinksInPath().path
        return target.hasPrefix(root) ? String(target.dropFirst(root.count)) : target
    }

    /// The value of a line `NAME: VALUE` of a status file of proc(5).
    func field(_ name: String, of path: String) -> String? {
        text(path)?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// Whether a process has CAP_NET_ADMIN, bit 12 of its effective capabilities; nil where there is no such process.
    func hasNetworkAdministration(pid: String) -> Bool? {
        field("CapEff", of: "/proc/\(pid)/status").flatMap { UInt64($0, radix: 16) }.map { $0 >> 12 & 1 == 1 }
    }

    /// The pid of the first process with a name; nil for none.
    func pid(named name: String) -> Int32? {
        names(in: "/proc").compactMap { Int32($0) }.sorted().first { text("/proc/\($0)/comm") == name }
    }
}
