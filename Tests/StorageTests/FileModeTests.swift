import Bluetooth
import Foundation
import GRDB
import Glibc
import Testing

@testable import Storage

@Suite("Files beside a database")
struct FileModeTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("e.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ suffix: String) throws -> mode_t {
        var facts = stat()
        try #require(lstat(path + suffix, &facts) == 0, "\(suffix)")
        return facts.st_mode & 0o777
    }

    @Test("lose the group's right to write where the directory has lost it, and the lock is its owner's alone")
    func tightened() throws {
        chmod(directory.path("."), 0o2770)
        let before = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: before)
        // The log and the shared memory as a process that was killed leaves them.
        for suffix in ["", "-wal", "-shm", "-lock", "-follow"] { #expect(try mode(suffix) == 0o660, "\(suffix)") }
        try before.close()
        try Data().write(to: URL(fileURLWithPath: path + "-wal"))
        chmod(path + "-wal", 0o660)
        chmod(directory.path("."), 0o2750)
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try store.control.pause(at: MonotonicTime(nanoseconds: 1))
        for suffix in ["", "-wal", "-shm", "-follow"] { #expect(try mode(suffix) == 0o640, "\(suffix)") }
        #expect(try mode("-lock") == 0o600)
    }

    @Test("belong to the owner of the directory, whoever of root makes them", .enabled(if: geteuid() == 0))
    func handed() throws {
        try #require(chown(directory.path("."), 65_534, 65_533) == 0)
        let store = try ControlStore(path: path, hostBoot: Fixture.boot)
        try store.pause(at: MonotonicTime(nanoseconds: 1))
        try store.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
            var facts = stat()
            #expect(stat(directory.path(name), &facts) == 0)
            #expect((facts.st_uid, facts.st_gid) == (65_534, 65_533), "\(name)")
        }
    }

    @Test("are not given away through a link that their directory's owner has made", .enabled(if: geteuid() == 0))
    func notHandedThroughLink() throws {
        let elsewhere = try TemporaryDirectory()
        try #require(chown(directory.path("."), 65_534, 65_533) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere.path("victim"))
        let store = try ControlStore(path: path, hostBoot: Fixture.boot)
        try store.pause(at: MonotonicTime(nanoseconds: 1))
        try store.close()
        var facts = stat()
        #expect(stat(elsewhere.path("victim"), &facts) == 0)
        #expect((facts.st_uid, facts.st_gid) == (0, 0))
    }

    @Test("which readers share stay when nobody writes, where the directory is for readers; the log is empty then")
    func persistent() throws {
        chmod(directory.path("."), 0o2750)
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try store.close()
        var log = stat()
        #expect(stat(path + "-wal", &log) == 0 && log.st_size == 0)
        #expect(access(path + "-shm", F_OK) == 0)
        #expect(!DatabaseOpening.hasLog(path))
        // The file alone is whole.
        try FileManager.default.copyItem(atPath: path, toPath: directory.path("copy.sqlite"))
        #expect(try ReadOnlyStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot).recordings().count == 1)
    }

    @Test("are not followed where they are links", arguments: ["-lock", "-unstored", "-follow", "-witness"])
    func links(suffix: String) throws {
        let victim = directory.path("victim")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: victim)
        do {
            let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
            try Fixture.record(into: store)
            store.noteUnstored(true)
            try store.synchronise()
            #expect(suffix != "-lock")
            try store.close()
        } catch {
            let reason = "it is a symbolic link, which eegsync does not follow; remove it"
            #expect(suffix == "-lock" && error as? StorageError == .cannotOpen(path: path + "-lock", reason: reason))
        }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        #expect(try FileManager.default.attributesOfItem(atPath: victim)[.size] as? Int == 8)
    }
}
