import Dispatch
import Foundation
import Page
import Storage
import Synchronization

/// Exports that were asked for on the page: one at a time, into files that are kept for a while.
final class ExportJobs: Sendable {
    /// How many wait or run.
    static let waitingMaximum = 4
    /// Of how many that have ended files are kept.
    static let keptMaximum = 3
    /// How long files are kept from the end of the export on, fetched or not: what was sent may still be in a proxy or a
    /// tunnel, and a telephone that loses it asks again.
    static let age = Duration.seconds(900)

    /// What became of an export.
    struct Job: Encodable {
        /// A file that can be fetched.
        struct File: Encodable {
            var name: String
            var bytes: Int64
        }

        /// Random: who guesses one, or has one of an earlier process, finds nothing.
        var id: Int
        var recording: Int64
        var format: String
        /// 0 ... 1.
        var fraction = 0.0
        /// Why there are no files; nil where nothing went wrong.
        var problem: String?
        /// Nil while it runs.
        var files: [File]?

        fileprivate var directory: String
        fileprivate var ended: ContinuousClock.Instant?

        private enum CodingKeys: CodingKey { case id, recording, format, fraction, problem, files }

        /// Whether nothing more happens to it.
        var hasEnded: Bool { files != nil || problem != nil }
    }

    private let database: String?
    /// Where files are written; nil where they cannot be.
    private let cache: PageCache?
    private let room: ExportRoom
    private let jobs = Mutex<[Job]>([])
    private let queue = DispatchQueue(label: "exports for the page", qos: .background)

    /// - Parameters:
    ///   - cache: where files are written; nil for nowhere.
    ///   - room: how much of its disk is left free.
    init(database: String?, cache: PageCache?, room: ExportRoom = ExportRoom()) {
        self.database = database
        self.cache = cache
        self.room = room
    }

    /// Begins an export.
    ///
    /// - Throws: ``Failure``.
    func start(recording: Int64, as download: PageDownload, at now: ContinuousClock.Instant = .now) throws -> Job {
        tidy(at: now)
        guard let directory = cache?.exports else {
            throw Self.failure("there is no directory for files", "set CACHE_DIRECTORY for the service")
        }
        let job = try jobs.withLock { jobs in
            guard jobs.count(where: { !$0.hasEnded }) < Self.waitingMaximum else {
                throw Self.failure("\(Self.waitingMaximum) exports are under way already", "wait for one of them")
            }
            var id = 0
            // Whole numbers that JavaScript has exactly.
            repeat { id = Int.random(in: 1..<(1 << 53)) } while jobs.contains(where: { $0.id == id })
            let job = Job(id: id, recording: recording, format: download.name, directory: "\(directory)/\(id)")
            jobs.append(job)
            return job
        }
        queue.async { [self] in run(job, download) }
        return job
    }

    /// An export; nil where there is none of that number, any more or yet.
    func job(_ id: Int) -> Job? { jobs.withLock { $0.first { $0.id == id } } }

    /// A file of an export that has ended; nil where it is not there, any more or yet.
    func file(_ id: Int, _ index: Int) -> PageResponse? {
        guard let job = job(id), let files = job.files, files.indices.contains(index) else { return nil }
        let name = files[index].name
        return PageResponse(
            type: "application/octet-stream", content: .file(path: job.directory + "/" + name, name: name))
    }

    /// Removes what is old, and what is more than is kept.
    func tidy(at now: ContinuousClock.Instant = .now) {
        let gone = jobs.withLock { jobs in
            // One that went wrong has no files, and lets nobody else's go.
            let kept = jobs.filter { $0.files != nil }.suffix(Self.keptMaximum).map(\.id)
            let failed = jobs.filter { $0.problem != nil }.suffix(Self.keptMaximum).map(\.id)
            let over = jobs.filter { job in
                guard let ended = job.ended else { return false }
                return now - ended > Self.age || !(kept + failed).contains(job.id)
            }
            jobs.removeAll { job in over.contains { $0.id == job.id } }
            return over.map(\.directory)
        }
        for path in gone { try? FileManager.default.removeItem(atPath: path) }
    }

    private func change(_ id: Int, _ body: (inout Job) -> Void) {
        jobs.withLock { jobs in
            if let index = jobs.firstIndex(where: { $0.id == id }) { body(&jobs[index]) }
        }
    }

    private func run(_ job: Job, _ download: PageDownload) {
        do {
            guard let database else { throw Self.failure("there is no database", "name one") }
            try FileManager.default.createDirectory(
                atPath: job.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let store = try ReadOnlyStore(path: database, hostBoot: try HostBoot.current())
            let recording = RecordingID(rawValue: job.recording)
            try room.require(download.bytes(of: try store.signalStreams(of: recording)), at: job.directory)
            try download.write(recording, of: store, to: job.directory) { fraction in
                change(job.id) { $0.fraction = fraction }
            }
            // With the files beside them, such as the description in JSON.
            let names = try FileManager.default.contentsOfDirectory(atPath: job.directory).filter { !$0.hasPrefix(".") }
                .sorted()
            let files = try names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: job.directory + "/" + name)
                return Job.File(name: name, bytes: (attributes[.size] as? NSNumber)?.int64Value ?? 0)
            }
            change(job.id) { job in
                job.files = files
                job.ended = .now
            }
        } catch {
            let problem = Failure(error).problem
            change(job.id) { job in
                job.problem = problem
                job.ended = .now
            }
            try? FileManager.default.removeItem(atPath: job.directory)
        }
    }

    private static func failure(_ problem: String, _ remedy: String) -> Failure {
        Failure(problem: problem + ".", consequence: "nothing is exported.", remedy: remedy + ".", code: .temporary)
    }
}
