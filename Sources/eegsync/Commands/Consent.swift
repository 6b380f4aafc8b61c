import ArgumentParser
import Foundation

/// The consent of a person to what cannot be undone: a question on the terminal, or `--yes` in a script.
struct Consent: ParsableArguments {
    @Flag(name: [.customShort("y"), .long], help: "Do not ask; without a terminal nothing happens otherwise.")
    var yes = false

    /// Returns where the person consents.
    ///
    /// - Parameter question: what is about to happen, as a question.
    /// - Throws: as ``ask(_:isTerminal:answer:)``.
    func obtain(_ question: String) throws {
        if !yes { try Self.ask(question) }
    }

    /// Asks, and returns where the answer is yes.
    ///
    /// - Parameter answer: what the person writes; nil for the end of the input.
    /// - Throws: ``Failure`` where there is nobody to ask, `CleanExit` where the answer is another one.
    static func ask(
        _ question: String, isTerminal: Bool = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
        answer: () -> String? = { readLine() }
    ) throws {
        guard isTerminal else {
            throw Failure(
                problem: "this cannot be undone, and there is no terminal to ask on.", consequence: "nothing was changed.",
                remedy: "add --yes.", code: .usage)
        }
        StandardError.write("\(question) [y/N] ")
        guard ["y", "yes"].contains(answer()?.lowercased() ?? "") else {
            throw CleanExit.message("Nothing was changed.")
        }
    }
}

/// The user of this machine who asks for something.
enum Requester {
    /// Set by the control service for the command that it runs: who asked for it.
    static let controlVariable = "EEGSYNC_CONTROL_USER"

    /// The login name, and who became that user by sudo or had the control service run the command.
    static func name(
        user: String = NSUserName(), environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let own = user.isEmpty ? "uid \(getuid())" : user
        if let other = environment[controlVariable], !other.isEmpty { return "\(own) (control service, for \(other))" }
        guard let other = environment["SUDO_USER"], !other.isEmpty, other != own else { return own }
        return "\(own) (sudo of \(other))"
    }
}
