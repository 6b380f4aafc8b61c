import ArgumentParser
import Evidence
import Foundation
import Storage

/// `eegsync manifest`: what a recording is now, signed.
struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest",
        abstract: "Write what a recording is now, signed, or check a copy against it.",
        discussion: """
            A manifest has the digests at the ends of the recording's chains and the sums of what says what its samples mean, \
            in two lines of JSON: the statement, and the Ed25519 signature of its bytes with this machine's key. The recording \
            is audited before; what does not hold is not signed.

            --check compares the database with a manifest: the signature, an audit of the recording, and the digests. Keep \
            --public-key from elsewhere: a manifest that somebody forged is signed, too, with another key.

            The key is made at the first use, in ~/.config/eegsync/manifest.key (below XDG_CONFIG_HOME where that is set), \
            readable by its owner only.

            Exit code 65 where something differs.

            EXAMPLES
              eegsync manifest 12 -o night.manifest
              eegsync manifest --check night.manifest --database copy.sqlite
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName?

    @Option(name: [.customShort("o"), .long], help: "The file to write; standard output without it.")
    var output: String?

    @Option(help: ArgumentHelp("Check the database against this manifest.", valueName: "file"))
    var check: String?

    @Option(help: ArgumentHelp("With --check: the key that must have signed, in Base64.", valueName: "key"))
    var publicKey: String?

    @Option(help: ArgumentHelp("The file with this machine's key.", valueName: "file"))
    var key: String?

    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard (recording == nil) != (check == nil) else {
            throw ValidationError("Name a recording to write its manifest, or a manifest with --check.")
        }
    }

    func run() throws {
        if let check { return try compare(with: check) }
        guard let recording else { return }
        if let output { try options.refuseOwnFile(output) }
        let store = try options.openReadOnly()
        let number = try recording.number(in: store)
        let id = RecordingID(rawValue: number)
        guard try store.audit(recording: id).holds else {
            throw Failure(
                problem: "the audit of recording \(number) fails", consequence: "no manifest is written.",
                remedy: "see `eegsync audit \(number)`.", code: .dataError)
        }
        let contents = try store.reader(of: id).contents
        let statement = Manifest.Statement(
            made: Date().ISO8601Format(), version: Eegsync.version, recording: number, headset: contents.headsetName,
            model: contents.model, streams: try store.manifestStreams(of: id))
        let manifest = try Manifest(statement, with: ManifestKeyFile(path: key).key())
        guard let output else { return print(manifest.text, terminator: "") }
        try ManifestKeyFile.write(Data(manifest.text.utf8), to: output, mode: 0o644)
        print("Wrote \(output), signed with the key \(manifest.publicKey).")
    }

    private func compare(with file: String) throws {
        guard let text = FileManager.default.contents(atPath: file) else {
            throw Failure(
                problem: "the manifest \(file) cannot be read", consequence: "nothing was compared.",
                remedy: "check the name and the rights of the file.", code: .noInput)
        }
        let manifest: Manifest
        do {
            manifest = try Manifest(text: String(decoding: text, as: UTF8.self))
        } catch {
            let problem =
                switch error {
                case .noManifest: "\(file) is no manifest that this version knows"
                case .wrongSignature: "the signature of \(file) is not one of what it says: it was changed"
                }
            throw Failure(
                problem: problem, consequence: "nothing was compared.", remedy: "take the manifest that was written.",
                code: .dataError)
        }
        var differences: [String] = []
        if let publicKey, publicKey != manifest.publicKey {
            differences.append("the manifest is signed with another key: \(manifest.publicKey)")
        }
        let store = try options.openReadOnly()
        differences += try store.differences(from: manifest)
        if let recording = try store.recording(ofStream: manifest.statement.streams.first?.uuid ?? "") {
            differences += try store.audit(recording: recording).findings.map { "\($0.check.evidence.rawValue): \($0.detail)" }
        }
        let style = TerminalStyle.detected(for: STDOUT_FILENO)
        if differences.isEmpty {
            let made = "of \(manifest.statement.made), by the key \(manifest.publicKey)"
            print(style.apply(.good, to: "The recording is what the manifest says (\(made))."))
        } else {
            print(style.apply(.bad, to: "The recording is not what the manifest says:"))
            for difference in differences { print("  \(difference.printable)") }
            throw ExitCode(Failure.Code.dataError.rawValue)
        }
    }
}

/// The file with the key that this machine signs manifests with.
struct ManifestKeyFile {
    let path: String

    /// - Parameter path: nil for the usual one.
    init(path: String?) {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
        self.path = path ?? home + "/eegsync/manifest.key"
    }

    /// The key; made where there is none.
    func key() throws -> SigningKey {
        if let data = FileManager.default.contents(atPath: path) {
            guard
                let key = Data(
                    base64Encoded: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                )
                .flatMap(SigningKey.init)
            else {
                throw Failure(
                    problem: "\(path) holds no key", consequence: "nothing was signed.",
                    remedy: "restore the file, or remove it to have another key made.", code: .dataError)
            }
            return key
        }
        let key = SigningKey()
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Self.write(Data((key.rawRepresentation.base64EncodedString() + "\n").utf8), to: path, mode: 0o600)
        return key
    }

    /// Writes a new file; one that is there already stays.
    static func write(_ data: Data, to path: String, mode: mode_t) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else {
            throw Failure(
                problem: "\(path) cannot be created: \(String(cString: strerror(errno)))", consequence: "nothing was written.",
                remedy: "give another file, or remove the one that is there.", code: .cannotCreate)
        }
        defer { close(file) }
        try FileHandle(fileDescriptor: file, closeOnDealloc: false).write(contentsOf: data)
    }
}
