import Foundation
import Glibc
import YAMLReading

/// A configuration that somebody has put onto the boot partition of a card, where a computer without Linux can write.
///
/// It is installed once and set aside with a note of the result beside it, so that a person with a card reader sees what became
/// of it. What is secret in it does not stay there.
struct ProvisionedFile {
    /// Where it is looked for: Raspberry Pi OS has its boot partition there since bookworm, and had it at `/boot` before.
    static let usualPaths = ["/boot/firmware/eegsync.yaml", "/boot/eegsync.yaml"]
    /// Keys whose values do not stay on a partition that everybody can read.
    private static let secretKeys = ["passkey", "url", "password"]

    /// What became of it.
    enum Outcome: Hashable {
        case installed(headsets: [String])
        case refused(problems: [String])
    }

    let path: String
    /// The configuration that it becomes.
    let target: String
    private var hasSecretValues = false

    /// Creates one of which nothing was read.
    init(path: String, target: String) {
        self.path = path
        self.target = target
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }
    private var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
    /// Where the result is noted.
    var notePath: String { "\(folder)/\(name)-result.txt" }
    /// Where the file goes.
    func asidePath(_ outcome: Outcome) -> String {
        if case .installed = outcome { "\(folder)/\(name)-installed.txt" } else { "\(folder)/\(name)-refused.yaml" }
    }

    /// Reads, checks, installs, and sets aside.
    ///
    /// - Returns: what became of it; it was set aside in both cases.
    /// - Throws: ``Failure`` where it cannot be read, installed or set aside; the next boot tries again.
    mutating func provision() throws -> Outcome {
        let (text, outcome) = try examined()
        // A partition that cannot be written to would bring the same file back at each boot, over what was edited since.
        try note("eegsync is about to read \(path).\n")
        guard case .installed = outcome else {
            try setAside(text, outcome)
            return outcome
        }
        do throws(FileReason) {
            if let before = try? String(contentsOfFile: target, encoding: .utf8), before != text {
                try ConfigurationInstallation(path: target + "-before-provisioning").install(before, isSecret: true)
            }
            try ConfigurationInstallation(path: target).install(text, isSecret: hasSecretValues || Self.hasSecrets(text))
        } catch {
            throw failure("\(target) cannot be written: \(error.words)")
        }
        try setAside(text, outcome)
        return outcome
    }

    /// The text, and what is wrong with it. Nothing but a regular file of moderate size is read: no link, no device.
    private mutating func examined() throws -> (text: String, Outcome) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("it cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("it is no regular file")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let data = (try? handle.read(upToCount: ConfigurationParser.lengthMaximum + 1)) ?? Data()
        guard data.count <= ConfigurationParser.lengthMaximum else {
            return ("", .refused(problems: ["it is larger than 1 MiB"]))
        }
        // Editors of Windows begin with a byte order mark; it is no part of the text.
        guard let text = String(bytes: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data, encoding: .utf8)
        else { return ("", .refused(problems: ["it is not UTF-8 text"])) }
        let library = HeadsetLibrary(configurationPath: target)
        do throws(ConfigurationError) {
            let configuration = try ConfigurationParser.parse(
                text, file: path, models: library.models, described: library.entries.compactMap(\.descriptor))
            if let error = configuration.alertsError { throw error }
            hasSecretValues = configuration.hasSecrets
            return (text, .installed(headsets: configuration.headsets.map(\.name)))
        } catch .wrong(_, let error) {
            return (text, .refused(problems: error.problems.map { $0.description.printable }))
        } catch {
            throw error
        }
    }

    private static func hasSecrets(_ text: String) -> Bool { withoutSecrets(text) != text }

    /// What is kept beside the note. YAML can spell a key in ways that only a parser sees: of what is installed, and has
    /// secrets, nothing is kept.
    private func copy(of text: String, _ outcome: Outcome) -> String {
        guard case .installed = outcome, hasSecretValues || Self.hasSecrets(text) else { return Self.withoutSecrets(text) }
        return "# It had passkeys or secret addresses and is not kept here. It is \(target) now.\n"
    }

    /// The text without the values of secret keys, whether or not it is YAML.
    static func withoutSecrets(_ text: String) -> String {
        let keys = secretKeys.joined(separator: "|")
        // A value of several lines may be anything: all lines go that stand further to the right.
        let value =
            #"[|>!&*][^\n]*(?:\n[ \t]+[^\n]*)*"# + #"|["'][^"'\n]*["']"# + #"|(?:[^,}\]\n#]|,(?=\S)|(?<=\S)#)*"#
        let pattern = #"(?i)(["']?(?:"# + keys + #")["']?\s*:)\s*(?:"# + value + ")"
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return "" }
        let range = NSRange(text.startIndex..., in: text)
        return expression.stringByReplacingMatches(in: text, range: range, withTemplate: "$1 REMOVED")
    }

    /// What stays on the partition: the file without its secrets under another name, the note, and nothing under the old name.
    private func setAside(_ text: String, _ outcome: Outcome) throws {
        let stale = [asidePath(.installed(headsets: [])), asidePath(.refused(problems: []))]
        for file in stale { unlink(file) }
        do throws(FileReason) {
            try ConfigurationInstallation(path: asidePath(outcome), followsLinks: false)
                .install(copy(of: text, outcome), isSecret: false)
        } catch {
            throw failure("it cannot be set aside: \(error.words)")
        }
        try note(noteText(outcome))
        erase()
        if unlink(path) != 0 { throw failure("it cannot be removed: \(String(cString: strerror(errno)))") }
    }

    /// Overwrites the content: a removed file of a FAT partition can be read with any tool for rescue. What the card's own
    /// controller keeps, nobody can reach.
    private func erase() {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        let zeros = [UInt8](repeating: 0, count: Int(clamping: min(status.st_size, 16 << 20)))
        _ = zeros.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        fsync(descriptor)
    }

    private func note(_ text: String) throws {
        do throws(FileReason) {
            try ConfigurationInstallation(path: notePath, followsLinks: false).install(text, isSecret: false)
        } catch {
            throw failure("nothing can be written beside it: \(error.words)")
        }
    }

    /// For a person who reads the card elsewhere.
    func noteText(_ outcome: Outcome) -> String {
        let file = URL(fileURLWithPath: path).lastPathComponent
        let aside = URL(fileURLWithPath: asidePath(outcome)).lastPathComponent
        switch outcome {
        case .installed(let headsets):
            return """
                \(file) was installed as \(target).
                Headsets: \(headsets.joined(separator: ", "))
                \(aside) is only a copy, without passkeys and secret addresses: changing it changes nothing.
                To install another configuration, put a new \(file) here.

                """
        case .refused(let problems):
            return """
                \(file) was NOT installed; the machine goes on with the configuration that it had.
                What is wrong:
                \(problems.map { "  \($0)" }.joined(separator: "\n"))
                Correct it in \(aside), enter passkeys and secret addresses anew where it says REMOVED, rename it to \(file), \
                and start the machine again.

                """
        }
    }

    private func failure(_ reason: String) -> Failure {
        Failure(
            problem: "the configuration \(path) was not installed: \(reason).",
            consequence: "\(target) is as it was; the next boot tries again.",
            remedy: "look at the file and its partition (mount, ls -l), or copy it by hand and check it: "
                + "eegsync configuration check.", code: .ioError)
    }
}
