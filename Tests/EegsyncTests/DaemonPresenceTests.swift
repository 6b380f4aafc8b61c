import Foundation
import Glibc
import Testing

@testable import eegsync

/// Who acquires into a database, as the kernel says, and not as a file says that somebody wrote once.
struct DaemonPresenceTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "presence-\(UInt64.random(in: 0 ... .max))")

    private func write(_ text: String, to path: String) throws {
        let url = folder.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: false, encoding: .utf8)
    }

    @Test("The pid that a dead daemon has left is not that of whichever eegsync has it by now")
    func leftPid() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("4345\n", to: "eeg.sqlite-lock")
        try write("eegsync", to: "proc/4345/comm")
        try write("eegsync", to: "proc/77/comm")
        try write("bash", to: "proc/78/comm")
        let database = folder.appending(path: "eeg.sqlite").path
        let files = SystemFiles(root: folder.path)
        var file = stat()
        try #require(stat(database + "-lock", &file) == 0)
        let other =
            "1: POSIX  ADVISORY  READ 9 00:1f:\(file.st_ino) 0 EOF\n2: FLOCK  ADVISORY  WRITE 9 00:1f:1\(file.st_ino) 0 EOF"
        func lock(_ pid: Int) -> String { other + "\n3: FLOCK  ADVISORY  WRITE \(pid) 00:1f:\(file.st_ino) 0 EOF\n" }
        for (locks, expected) in [
            (nil, 4345), ("", nil), (other, nil), (lock(4345), 4345), (lock(77), 77), (lock(78), nil), (lock(79), nil),
        ] as [(String?, Int32?)] {
            if let locks { try write(locks, to: "proc/locks") }
            #expect(DaemonPresence.pid(database: database, files: files) == expected, "\(locks ?? "none")")
        }
        try FileManager.default.removeItem(atPath: database + "-lock")
        #expect(DaemonPresence.pid(database: database, files: files) == nil)
    }

    @Test("Another file with the same number is not the lock, whoever has it")
    func sameNumber() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("", to: "eeg.sqlite-lock")
        for (pid, name) in [(77, "eegsync"), (78, "bash"), (79, "eegsync")] { try write(name, to: "proc/\(pid)/comm") }
        let database = folder.appending(path: "eeg.sqlite").path
        let files = SystemFiles(root: folder.path)
        var file = stat()
        try #require(stat(database + "-lock", &file) == 0)
        let number = DeviceNumber(file.st_dev)
        func hexadecimal(_ value: UInt64) -> String { (value < 16 ? "0" : "") + String(value, radix: 16) }
        let own = "\(hexadecimal(number.major)):\(hexadecimal(number.minor))"
        // A disk that this is not on, and one of btrfs, of which stat(2) says another one.
        let (disk, other) = ("7f:01", "00:ffe")
        for (holders, expected) in [
            ([(78, other), (77, other)], 77), ([(79, other), (77, own)], 77), ([(79, disk)], nil),
            ([(79, disk), (78, other)], nil), ([(79, other), (78, own)], nil),
        ] as [([(Int, String)], Int32?)] {
            let lines = holders.enumerated().map { index, holder in
                "\(index + 1): FLOCK  ADVISORY  WRITE \(holder.0) \(holder.1):\(file.st_ino) 0 EOF\n"
            }
            try write(lines.joined(), to: "proc/locks")
            #expect(DaemonPresence.pid(database: database, files: files) == expected, "\(lines)")
        }
    }

    @Test("Devices are numbered as Linux does it")
    func devices() {
        #expect(DeviceNumber(0x801) == DeviceNumber(hexadecimal: "08:01") && !DeviceNumber(0x801).isAnonymous)
        #expect(DeviceNumber(0x10_0F_FF) == DeviceNumber(hexadecimal: "0f:1ff"))
        #expect(DeviceNumber(hexadecimal: "00:1f")?.isAnonymous == true)
        #expect(DeviceNumber(hexadecimal: "8") == nil && DeviceNumber(hexadecimal: "08:01:2") == nil)
    }
}
