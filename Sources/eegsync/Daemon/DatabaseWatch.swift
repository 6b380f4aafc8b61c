import Bluetooth
import Logging
import Storage

/// Says when the path of the database leads elsewhere than to the file that is recorded into, and when it leads there again.
///
/// A pure value: it takes what was found, and answers what to log.
struct DatabaseWatch {
    /// A line for the log.
    enum Line: Hashable {
        case lost(OpenedFile.Finding)
        case found
    }

    /// How often to look: somebody who has deleted a file by mistake wants to know at once.
    static let interval = Duration.seconds(1)
    /// Whoever replaces a file in two steps is not yet done at the first look.
    private static let looks = 2
    /// It is said again while it lasts: a person may have read the last hour of the journal only.
    private static let reminder = Duration.seconds(3600)

    private var lastFinding = OpenedFile.Finding.same
    private var count = 0
    /// What was said last, and when.
    private var said: (finding: OpenedFile.Finding, at: MonotonicTime)?
    /// True where the file does not get its name back before the end.
    private var isFinal = false

    /// Takes what was found now.
    ///
    /// - Parameter finding: nil where nothing could be seen, which changes nothing.
    /// - Returns: what to log; nil for nothing.
    mutating func take(_ finding: OpenedFile.Finding?, at now: MonotonicTime) -> Line? {
        guard let finding else { return nil }
        count = finding == lastFinding ? count + 1 : 1
        lastFinding = finding
        guard count >= Self.looks else { return nil }
        guard finding != .same else {
            guard said != nil, !isFinal else { return nil }
            said = nil
            return .found
        }
        if let said, said.finding == finding, now - said.at < Self.reminder { return nil }
        said = (finding, now)
        return .lost(finding)
    }

    /// The file is without its name until the end, whatever is found from now on.
    mutating func setFinal() { isFinal = true }
}

/// Watches the file that is recorded into, and saves what it holds where it has lost its name.
struct DatabaseFileWatch: Sendable {
    let store: AcquisitionStore
    /// As the configuration has it; a link may lead from it to the database.
    let namedPath: String
    let log: DaemonLog
    /// Gets what is to be said first of the daemon for as long as it lasts; nil once it is over.
    let say: @Sendable (String?) -> Void

    private var path: String { store.path ?? namedPath }

    /// Looks until the task is cancelled.
    func run() async {
        var watch = DatabaseWatch()
        while !Task.isCancelled {
            let own = store.finding(at: path)
            // A link that leads elsewhere by now takes nothing from the file.
            let isMerelyRenamed = own == .same
            switch watch.take(isMerelyRenamed ? store.finding(at: namedPath) : own, at: HostClock.now) {
            case .lost(let finding)?:
                if !isMerelyRenamed, !store.leavePath() { watch.setFinal() }
                let sentence = sentence(finding, isMerelyRenamed)
                let remedy = Self.remedy(finding, isMerelyRenamed)
                log.log(.critical, "\(sentence). You can: \(remedy)", ["database": "\(path)"])
                say(sentence)
            case .found?:
                store.returnToPath()
                log.log(.notice, "the path \(namedPath) leads to the database again", ["database": "\(path)"])
                say(nil)
            case nil: break
            }
            try? await Task.sleep(for: DatabaseWatch.interval)
        }
    }

    private func sentence(_ finding: OpenedFile.Finding, _ isMerelyRenamed: Bool) -> String {
        if isMerelyRenamed {
            return "\(namedPath) does not lead to \(path) any more, which is recorded into until the next start"
        }
        return finding == .nothing
            ? "the database \(path) was deleted or moved while it is recorded into: what is recorded has no name"
            : "another file has been put in the database's stead, \(path): what is recorded does not go there"
    }

    private static func remedy(_ finding: OpenedFile.Finding, _ isMerelyRenamed: Bool) -> String {
        if isMerelyRenamed { return "set the link right, or restart eegsync where it is right: systemctl restart eegsync" }
        let stop =
            "end the daemon in order, now, and never by kill -9: systemctl stop eegsync; it writes what it holds into a file "
            + "of its own beside it and names that in this log; "
        return stop
            + (finding == .nothing
                ? "give that the name of the database, then: systemctl start eegsync"
                : "decide which of the two is to go on, then: systemctl start eegsync")
    }

    /// Saves what the database holds, where its file has lost its name. The service manager waits for as long as that takes.
    func rescue() {
        do throws(StorageError) {
            let rescued = try store.rescue { share in
                ServiceNotification.takingLonger("copying the database that was deleted, \(Int(share * 100)) %")
            }
            switch rescued {
            case .moved(let file)?:
                log.log(.critical, "the database was moved: all that was recorded is in \(file)", ["database": "\(path)"])
            case .copied(let file)?:
                log.log(
                    .critical,
                    "the database \(path) was deleted or replaced while it was recorded into: all that it held is in \(file). "
                        + "You can: give that file the name of the database, where nothing else has it, and start eegsync",
                    ["rescued": "\(file)"])
            case nil: break
            }
        } catch {
            log.log(
                .critical,
                "what the database held, which was deleted or replaced, could not be written beside it, and is lost: \(error)",
                ["database": "\(path)"])
        }
    }
}
