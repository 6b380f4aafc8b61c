import Foundation
import Glibc
import Testing

@testable import Storage
@testable import eegsync

/// An export that a person ends.
@Suite struct InterruptedExportTests {
    /// A signal that comes while the file has its hidden name.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func nothingIsLeft(number: Int32) throws {
        let database = try RecordedDatabase()
        try database.record()
        // So that it takes longer than a look.
        let store = try database.acquisitionStore()
        var batch = WriteBatch(number: 2)
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 4, firstN: 2500, values: [Int32](repeating: 7, count: 400_000))
        ]
        try store.commit(batch)
        try store.close()
        let output = database.directory.appendingPathComponent("out").path
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        var wasHit = false
        // Of an export that was faster than this test another one is begun.
        for attempt in 0..<20 where !wasHit {
            let process = Process()
            process.executableURL = try ProgramRun.program
            process.arguments = ["export", "1", "-o", "\(output)/\(attempt).sqlite", "--database", database.path]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            while process.isRunning {
                let names = try FileManager.default.contentsOfDirectory(atPath: output)
                guard names.contains(where: { $0.hasSuffix(".eegsync-partial") }) else { continue }
                kill(process.processIdentifier, number)
                break
            }
            process.waitUntilExit()
            wasHit = process.terminationReason == .uncaughtSignal
            if wasHit { #expect(process.terminationStatus == number) }
        }
        #expect(wasHit)
        let left = try FileManager.default.contentsOfDirectory(atPath: output)
        #expect(left.allSatisfy { !$0.hasPrefix(".") }, "\(left)")
    }

    /// A signal that comes while files wait for a dataset of BIDS.
    @Test(arguments: [SIGINT, SIGTERM]) func nothingIsLeftInADataset(number: Int32) throws {
        let database = try RecordedDatabase()
        try database.record()
        let edit = ["recordings", "edit", "1", "--subject", "S01", "--database", database.path]
        #expect(try ProgramRun(edit).exitCode == 0)
        let store = try database.acquisitionStore()
        var batch = WriteBatch(number: 2)
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 4, firstN: 2500, values: [Int32](repeating: 7, count: 400_000))
        ]
        try store.commit(batch)
        try store.close()
        var wasHit = false
        for attempt in 0..<20 where !wasHit {
            let dataset = database.directory.appendingPathComponent("study-\(attempt)").path
            let process = Process()
            process.executableURL = try ProgramRun.program
            process.arguments = ["export", "1", "--format", "bids", "-o", dataset, "--database", database.path]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            while process.isRunning {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: dataset)) ?? []
                guard names.contains(where: { $0.hasPrefix(".eegsync-export-") }) else { continue }
                kill(process.processIdentifier, number)
                break
            }
            process.waitUntilExit()
            wasHit = process.terminationReason == .uncaughtSignal
            if wasHit { #expect(try FileManager.default.contentsOfDirectory(atPath: dataset).isEmpty) }
        }
        #expect(wasHit)
    }
}
