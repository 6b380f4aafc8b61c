import Foundation
import Testing

@testable import eegsync

/// A database that is restored beside a page that runs.
@Suite struct ServedFileTests {
    private let database: RecordedDatabase
    private let served: ServedFile

    init() throws {
        database = try RecordedDatabase()
        try database.record()
        served = ServedFile(path: database.path)
    }

    private func moveAside() throws {
        try FileManager.default.moveItem(atPath: database.path, toPath: database.path + "-aside")
    }

    @Test func theSameFileIsNone() throws {
        #expect(!served.isReplaced)
        try served.requireSame()
        // It was moved, and nothing is there yet.
        try moveAside()
        #expect(!served.isReplaced)
        try served.requireSame()
    }

    @Test func aRestoredOneEndsThePageSoThatItsServiceBeginsAnew() throws {
        try moveAside()
        try FileManager.default.copyItem(atPath: database.path + "-aside", toPath: database.path)
        #expect(served.isReplaced)
        let failure = #expect(throws: Failure.self) { try served.requireSame() }
        #expect(failure?.code.lasts == false)
        #expect(failure?.problem.contains(database.path) == true)
    }

    /// As `rm` and `cp` do it: many file systems give the number that has just become free.
    @Test func aRestoredOneWithTheSameNumberIsNoticed() throws {
        let before = try #require(ServedFile.Identity(database.path))
        try moveAside()
        var isSameNumber = false
        for _ in 0..<20 where !isSameNumber {
            try FileManager.default.copyItem(atPath: database.path + "-aside", toPath: database.path + "-copy")
            try FileManager.default.removeItem(atPath: database.path + "-aside")
            try FileManager.default.moveItem(atPath: database.path + "-copy", toPath: database.path + "-aside")
            let copy = try #require(ServedFile.Identity(database.path + "-aside"))
            isSameNumber = copy.number == before.number
        }
        try FileManager.default.moveItem(atPath: database.path + "-aside", toPath: database.path)
        // A file system that says no birth leaves nothing to compare.
        #expect(served.isReplaced || (isSameNumber && before.birth == 0))
    }

    @Test func whatCannotBeOpenedYetEndsNothing() throws {
        try moveAside()
        try Data("the first bytes of a copy".utf8).write(to: URL(fileURLWithPath: database.path))
        #expect(served.isReplaced)
        try served.requireSame()
    }
}
