import ArgumentParser
import Glibc

/// `eegsync control`: one connection of the control service.
struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Serve one connection of the control service: run by systemd, for eegsync-control.socket.",
        discussion: """
            Standard input is the connection. Members of the group eegsync-record may have wishes and marks written, members \
            of eegsync-admin recordings administered, by this process, which may write the database. See the page on rights.
            """,
        shouldDisplay: false)

    func run() throws {
        let code = ControlService(socket: STDIN_FILENO).run()
        if code != 0 { throw ExitCode(code) }
    }
}
