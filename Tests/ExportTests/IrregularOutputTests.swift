import Foundation
import Glibc
import Testing

@testable import Export

/// What has the name of an output and is no file.
@Suite struct IrregularOutputTests {
    @Test(arguments: [false, true]) func onlyAFileIsReplaced(replaces: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (pipe, link, folder) = (directory + "/pipe", directory + "/link", directory + "/folder")
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for isNamed in [false, true] {
            for (path, reason) in [
                (pipe, "it is no regular file"), (link, "it is no regular file"), ("/dev/null", "it is no regular file"),
                (folder, "it is a directory"),
            ] {
                #expect(throws: ExportError.cannotWrite(path: path, reason: reason)) {
                    _ = try PartialFile(path: path, replacesExisting: replaces, isNamed: isNamed)
                }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["folder", "link", "pipe"])
    }

    @Test func aLinkToAFileIsReplacedItself() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (old, link) = (directory + "/old", directory + "/link")
        try Data([1]).write(to: URL(fileURLWithPath: old))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: old)
        #expect(throws: ExportError.exists(path: link)) { _ = try PartialFile(path: link, replacesExisting: false) }
        let file = try PartialFile(path: link, replacesExisting: true)
        try file.write([2])
        try file.publish(replacesExisting: true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: link)) == Data([2]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == Data([1]))
    }
}
