import Foundation
import Page
import Storage
import Testing

@testable import eegsync

/// Exports that were asked for on the page.
@Suite struct ExportJobsTests {
    private let database: RecordedDatabase
    private let directory: TestDirectory
    private let cache: PageCache

    init() throws {
        database = try RecordedDatabase()
        try database.record()
        directory = try TestDirectory()
        cache = PageCache(root: directory.url.path, database: database.path)
    }

    private func jobs(freeBytes: Int64 = 20_000_000_000, totalBytes: Int64 = 32_000_000_000) -> ExportJobs {
        let room = ExportRoom { _ in DiskRoom(freeBytes: freeBytes, totalBytes: totalBytes) }
        return ExportJobs(database: database.path, cache: cache, room: room)
    }

    private func download(_ name: String) throws -> PageDownload {
        try #require(PageDownload.all.first { $0.name == name })
    }

    /// Exports, and waits for the end.
    private func ended(
        _ jobs: ExportJobs, _ name: String = "csv", recording: Int64 = 1, asked: ContinuousClock.Instant = .now
    ) async throws -> ExportJobs.Job {
        let job = try jobs.start(recording: recording, as: download(name), at: asked)
        while jobs.job(job.id)?.hasEnded == false { await Task.yield() }
        return try #require(jobs.job(job.id))
    }

    private func path(_ response: PageResponse?) throws -> String {
        guard case .file(let path, let name)? = response?.content else { throw CocoaError(.fileNoSuchFile) }
        #expect(name.hasPrefix("recording-1"))
        return path
    }

    @Test(arguments: [("csv", ".csv", "TP9"), ("report", ".html", "</html>")])
    func aFileIsFetched(name: String, ending: String, words: String) async throws {
        let jobs = jobs()
        let job = try await ended(jobs, name)
        #expect(job.problem == nil)
        let index = try #require(job.files?.firstIndex { $0.name.hasSuffix(ending) })
        let path = try path(jobs.file(job.id, index))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(words))
        jobs.tidy(at: .now + ExportJobs.age + .seconds(1))
        #expect(jobs.job(job.id) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await ended(jobs, name, recording: 77).problem?.contains("77") == true)
    }

    /// One that takes longer than files are kept.
    @Test func filesAreKeptFromTheEndOfTheExportOn() async throws {
        let jobs = jobs()
        let asked = ContinuousClock.now - (ExportJobs.age + .seconds(60))
        let job = try await ended(jobs, asked: asked)
        jobs.tidy()
        let path = try path(jobs.file(job.id, 0))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// A telephone may lose what was sent, minutes later.
    @Test func aFileThatWasFetchedCanBeFetchedAgain() async throws {
        let jobs = jobs()
        let asked = ContinuousClock.now
        let job = try await ended(jobs)
        let files = try #require(job.files)
        #expect(files.count > 1)
        for later in [Duration.zero, ExportJobs.age] {
            jobs.tidy(at: asked + later)
            let paths = try files.indices.map { try path(jobs.file(job.id, $0)) }
            #expect(paths.allSatisfy(FileManager.default.fileExists))
        }
        jobs.tidy(at: .now + ExportJobs.age + .seconds(1))
        #expect(jobs.job(job.id) == nil)
        let exports = try #require(cache.exports)
        #expect(try FileManager.default.contentsOfDirectory(atPath: exports).isEmpty)
    }

    @Test func noMoreAreKeptThanTheLatest() async throws {
        let jobs = jobs()
        var ids: [Int] = []
        for _ in 0...ExportJobs.keptMaximum { ids.append(try await ended(jobs).id) }
        _ = try await ended(jobs, recording: 77)
        jobs.tidy()
        #expect(ids.map { jobs.job($0) != nil } == [false, true, true, true])
        #expect(Set(ids).count == ids.count)
        // Another process does not begin with the same numbers.
        let other = try await ended(self.jobs())
        #expect(!ids.contains(other.id) && other.id < 1 << 53)
    }

    @Test func theEndOfTheDiskIsTheRecordings() async throws {
        let refused = try await ended(jobs(freeBytes: 1_150_000_000, totalBytes: 8_000_000_000))
        #expect(refused.problem?.contains("1150 MB of the disk are free") == true)
        #expect(refused.problem?.contains("the last 1200 MB") == true)
        #expect(try await ended(jobs(freeBytes: 1_300_000_000, totalBytes: 8_000_000_000)).problem == nil)
        // A tenth of 32 GB beside the last 200 MB.
        let room = ExportRoom { _ in DiskRoom(freeBytes: 3_600_000_000, totalBytes: 32_000_000_000) }
        try room.require(200_000_000, at: "")
        #expect(throws: Failure.self) { try room.require(200_000_001, at: "") }
        // Of a disk of any size no more than 10 GB.
        let large = ExportRoom { _ in DiskRoom(freeBytes: 10_300_000_000, totalBytes: 8_000_000_000_000) }
        try large.require(100_000_000, at: "")
        #expect(throws: Failure.self) { try large.require(100_000_001, at: "") }
    }

    @Test func whatAnExportTakesIsNotMoreThanWasThought() async throws {
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let streams = try store.signalStreams(of: RecordingID(rawValue: 1))
        for name in ["csv", "edf", "bdf", "sqlite", "xdf"] {
            let job = try await ended(jobs(), name)
            let files = try #require(job.files, "\(name): \(job.problem ?? "")")
            let thought = try download(name).bytes(of: streams)
            #expect(files.map(\.bytes).reduce(0, +) <= thought, "\(name)")
        }
    }
}
