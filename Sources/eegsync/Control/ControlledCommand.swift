import ArgumentParser
import Foundation
import Glibc

/// A command that writes into the database. Where this user may not write it, the control service runs the command for those
/// who have the right.
protocol ControlledCommand: ParsableCommand {
    /// What one must be allowed to do.
    static var right: ControlRight { get }
    var options: DatabaseOptions { get }
    /// False where the command, as it was given, only reads.
    var isWriting: Bool { get }
    /// Opens the file that the command names, with the rights of the user who gave the command; nil where it names none.
    func openFile() throws -> Int32?
}

extension ControlledCommand {
    static var right: ControlRight { .record }
    var isWriting: Bool { true }
    func openFile() throws -> Int32? { nil }
}

extension Record.Start: ControlledCommand {}
extension Record.Stop: ControlledCommand {}
extension Pause: ControlledCommand {}
extension Resume: ControlledCommand {}
extension Mark: ControlledCommand {}
extension Marks.Edit: ControlledCommand {}
extension Marks.Delete: ControlledCommand {}
extension EditRecording: ControlledCommand {}
extension AdoptAddress: ControlledCommand {}
extension ScheduleCommand.Add: ControlledCommand {}
extension ScheduleCommand.Remove: ControlledCommand {}

extension MarksImport: ControlledCommand {
    func openFile() throws -> Int32? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        // The command itself says best why not.
        guard descriptor >= 0 else { return nil }
        return descriptor
    }
}

/// A link of its own needs no right; with a daemon's, that one is asked through the database.
extension Impedance: ControlledCommand {
    var isWriting: Bool { (try? options.databasePath()).flatMap { DaemonPresence.pid(database: $0) } != nil }
}

extension CaptureCommand: ControlledCommand {
    var isWriting: Bool { (try? options.databasePath()).flatMap { DaemonPresence.pid(database: $0) } != nil }
    func openFile() throws -> Int32? {
        guard output != "-" else { return nil }
        try options.refuseOwnFile(output)
        return try CaptureOutput.create(output, replacesExisting: force)
    }
}

extension RenameHeadset: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension MachineCommand.Moved: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension MachineCommand.Copied: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension DeleteCommand: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension Prune: ControlledCommand {
    static var right: ControlRight { .administer }
    var isWriting: Bool { !dryRun }
}

extension Forget: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension Compact: ControlledCommand {
    static var right: ControlRight { .administer }
}

extension RefitCommand: ControlledCommand {
    static var right: ControlRight { .administer }
    var isWriting: Bool { !dryRun }
}

/// The file that the control service was given for a command, which that command names.
enum PassedFile {
    /// Set by the control service, and by nobody else, for the command that it runs.
    static let variable = "EEGSYNC_CONTROL_FILE"

    /// Its descriptor; nil for a command that opens its files by itself.
    static var descriptor: Int32? { ProcessInfo.processInfo.environment[variable].flatMap { Int32($0) } }
}
