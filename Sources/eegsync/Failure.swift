import Centre
import Export
import Page
import Storage
import YAMLReading

/// The end of a command that did not do what it was asked: a message for a person and an exit code for programs.
///
/// Every error boundary of the program is mapped here and nowhere else. The codes are those of `sysexits.h`.
struct Failure: Error, Hashable {
    /// What failed, on which object, and why.
    var problem: String
    /// What eegsync does next by itself.
    var consequence: String
    /// What a person can do.
    var remedy: String
    /// The exit code.
    var code: Code

    /// Exit codes of `sysexits.h` that eegsync uses.
    enum Code: Int32, Hashable, CaseIterable {
        /// Wrong command line.
        case usage = 64
        /// The input data is damaged, of a newer version, or does not pass the audit.
        case dataError = 65
        /// An input file or a named object is not there.
        case noInput = 66
        /// A service, such as a kind of central, is not available.
        case unavailable = 69
        /// A defect of eegsync.
        case software = 70
        /// The operating system refused something basic.
        case osError = 71
        /// An output file cannot be created.
        case cannotCreate = 73
        /// Reading or writing failed, or the disk is full.
        case ioError = 74
        /// It may work when it is tried again.
        case temporary = 75
        /// This user may not.
        case noPermission = 77
        /// The configuration is wrong.
        case configuration = 78

        /// True where the next start ends in the same way until a person corrects something: the unit does not restart then.
        var lasts: Bool {
            switch self {
            case .usage, .dataError, .noPermission, .configuration: true
            // A file that cannot be opened may be one for want of descriptors: a needless start costs less than a night.
            case .noInput, .unavailable, .software, .osError, .cannotCreate, .ioError, .temporary: false
            }
        }
    }

    /// The message as it is written to standard error.
    func message(style: TerminalStyle) -> String {
        """
        \(style.apply(.bad, to: "eegsync:")) \(problem.printableLines)
          What happens now: \(consequence.printableLines)
          What you can do: \(remedy.printableLines)
        """
    }
}

extension String {
    /// The text safe for a terminal, with its line ends kept.
    fileprivate var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }
}

extension Failure {
    /// The failure that an error of any boundary means.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as StorageError: self.init(storage: error)
        case let error as MergeError: self.init(merge: error)
        case let error as ExportError: self.init(export: error)
        case let error as CentreError: self.init(centre: error)
        case let error as PageServerError: self.init(page: error)
        case let error as ConfigurationError: self.init(configuration: error)
        default:
            self.init(
                problem: "an unexpected error: \(error)", consequence: "eegsync stops; what was committed is safe.",
                remedy: "report this message together with the command.", code: .software)
        }
    }

    /// Errors of the configuration file.
    init(configuration error: ConfigurationError) {
        let untouched = "nothing was started and no data was touched."
        switch error {
        case .unreadable(let file, let reason):
            self.init(
                problem: "the configuration \(file) cannot be read: \(reason).", consequence: untouched,
                remedy: "create it (Deploy/eegsync.yaml is an example), or name another one with --config.",
                code: .configuration)
        case .wrong(let file, let error):
            let problems = error.problems
            self.init(
                problem: "the configuration \(file) is wrong:\n" + problems.map { "    \($0)" }.joined(separator: "\n"),
                consequence: untouched, remedy: "correct what is named above; Deploy/eegsync.yaml is an example.",
                code: .configuration)
        case .noDatabase(let file):
            self.init(
                problem: "no database is named: neither --database nor EEGSYNC_DATABASE, and there is no \(file).",
                consequence: untouched, remedy: "name one with --database PATH, or write the configuration.",
                code: .configuration)
        }
    }
}
