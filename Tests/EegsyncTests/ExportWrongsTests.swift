import Foundation
import GRDB
import Testing

@testable import eegsync

/// Exports that cannot be made, and what they say then.
@Suite struct ExportWrongsTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func run(_ arguments: [String], zone: String? = nil) throws -> ProgramRun {
        var environment = ["EEGSYNC_DATABASE": database.path]
        environment["TZ"] = zone
        return try ProgramRun(arguments, environment: environment)
    }

    private func path(_ name: String) -> String { database.directory.appendingPathComponent(name).path }

    /// The database is at fault, and not the program.
    @Test func aRowThatNoCopyTakesIsDamage() throws {
        let queue = try DatabaseQueue(path: database.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; UPDATE channel SET scale = 0")
        }
        try queue.close()
        let refused = try run(["export", "1", "-o", path("copy.sqlite")])
        #expect(refused.exitCode == 65 && refused.errors.contains("a copy refuses one of its rows"), "\(refused.errors)")
        #expect(!refused.errors.contains("defect of eegsync"))
    }

    @Test(arguments: ["--from", "--to"]) func aTimeThatIsNoneShowsTheUsageOfExport(option: String) throws {
        let refused = try run(["export", "1", "-o", path("a.edf"), option, "yesterday-ish"])
        #expect(refused.exitCode == 64 && refused.errors.contains("is no time"), "\(refused.errors)")
        #expect(refused.errors.contains("eegsync export"), "\(refused.errors)")
    }

    @Test func aZoneThatIsNotUnderstoodIsSaid() throws {
        for zone in ["CET-1CEST,M3.5.0,M10.5.0/3", "<+0545>-5:45", "Europe/Berlinn"] {
            let run = try run(["recordings"], zone: zone)
            #expect(run.exitCode == 0 && run.errors.contains("local times are UTC"), "\(zone): \(run.errors)")
        }
        for zone in ["Europe/Berlin", "UTC", "EST5EDT", ""] {
            #expect(try run(["recordings"], zone: zone).errors.isEmpty, "\(zone)")
        }
        #expect(ZoneDatabase.misunderstood([:]) == nil)
    }
}
