import Dispatch
import Foundation
import Page
import Storage
import Synchronization

/// Exports that were asked for on the page: one at a time, into files that are kept for a quarter of an hour.
final class ExportJobs: Sendable {
    /// How many wait, run, or are kept.
    static let countMaximum = 4
    /// How long files are kept.
    static let age = Duration.seconds(900)

    /// What became of an export.
    struct Job: Encodable {
        /// A file that can be fetched.
        struct File: Encodable {
            var name: String
            var bytes: Int64
        }

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
        fileprivate var asked: ContinuousClock.Instant

        private enum CodingKeys: CodingKey { case id, recording, format, fraction, problem, files }

        /// Whether nothing more happens to it.
        var hasEnded: Bool { files != nil || problem != nil }
    }

    private let database: String?
    /// Where files are written; nil where they cannot be.
    private let directory: String?
    private let jobs = Mutex<(next: Int, all: [Job])>((1, []))
    private let queue = DispatchQueue(label: "exports for the page", qos: .background)

    /// - Parameter cache: a directory of this program alone; what an earlier process left there is removed.
    init(database: String?, cache: String?) {
        self.database = database
        directory = cache.map { $0 + "/exports" }
        if let directory { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// Begins an export.
    ///
    /// - Throws: ``Failure``.
    func start(recording: Int64, as download: PageDownload, at now: ContinuousClock.Instant = .now) throws -> Job {
        tidy(at: now)
        guard let directory else {
            throw Self.failure("there is no directory for files", "set CACHE_DIRECTORY for the service")
        }
        let job = try jobs.withLock { jobs in
            guard jobs.all.count(where: { !$0.hasEnded }) < Self.countMaximum else {
                throw Self.failure("\(Self.countMaximum) exports are under way already", "wait for one of them")
            }
            let job = Job(
                id: jobs.next, recording: recording, format: download.name, directory: "\(directory)/\(jobs.next)", asked: now)
            jobs.next += 1
            jobs.all.append(job)
            return job
        }
        queue.async { [self] in run(job, download) }
        return job
    }

    /// An export; nil where there is none of that number, any more or yet.
    func job(_ id: Int) -> Job? { jobs.withLock { $0.all.first { $0.id == id } } }

    /// A file of an export that has ended.
    func file(_ id: Int, _ index: Int) -> PageResponse? {
        guard let job = job(id), let files = job.files, files.indices.contains(index) else { return nil }
        let name = files[index].name
        return PageResponse(
            type: "application/octet-stream", content: .file(path: job.directory + "/" + name, name: name))
    }

    /// Removes what is old, and what is more than is kept.
    func tidy(at now: ContinuousClock.Instant = .now) {
        let gone = jobs.withLock { jobs in
            let ended = jobs.all.filter(\.hasEnded)
            let excess = Set(ended.dropLast(Self.countMaximum - 1).map(\.id))
            let gone = ended.filter { now - $0.asked > Self.age || excess.contains($0.id) }
            jobs.all.removeAll { job in gone.contains { $0.id == job.id } }
            return gone
        }
        for job in gone { try? FileManager.default.removeItem(atPath: job.directory) }
    }

    private func run(_ job: Job, _ download: PageDownload) {
        func change(_ body: (inout Job) -> Void) {
            jobs.withLock { jobs in
                if let index = jobs.all.firstIndex(where: { $0.id == job.id }) { body(&jobs.all[index]) }
            }
        }
        do {
            guard let database else { throw Self.failure("there is no database", "name one") }
            try FileManager.default.createDirectory(
                atPath: job.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let store = try ReadOnlyStore(path: database, hostBoot: try HostBoot.current())
            try download.write(RecordingID(rawValue: job.recording), of: store, to: job.directory) { fraction in
                change { $0.fraction = fraction }
            }
            // With the files beside them, such as the description in JSON.
            let names = try FileManager.default.contentsOfDirectory(atPath: job.directory).filter { !$0.hasPrefix(".") }
                .sorted()
            let files = try names.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: job.directory + "/" + name)
                return Job.File(name: name, bytes: (attributes[.size] as? NSNumber)?.int64Value ?? 0)
            }
            change { $0.files = files }
        } catch {
            change { $0.problem = Failure(error).problem }
            try? FileManager.default.removeItem(atPath: job.directory)
        }
    }

    private static func failure(_ problem: String, _ remedy: String) -> Failure {
        Failure(problem: problem + ".", consequence: "nothing is exported.", remedy: remedy + ".", code: .temporary)
    }
}
