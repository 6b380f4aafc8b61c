import ArgumentParser
import Foundation
import Storage

/// What a person calls a recording on the command line: its number, or the newest of a headset.
enum RecordingName: ExpressibleByArgument, Hashable {
    case number(Int64)
    /// The newest recording of all.
    case latest
    /// The newest recording of this headset.
    case newest(headset: String)

    static let words = "Its number, or 'latest', or the name of a headset for its newest one."
    static let help = ArgumentHelp("Which recording. \(words)", valueName: "recording")

    init?(argument: String) {
        if argument.isEmpty { return nil }
        if let number = Int64(argument) {
            self = .number(number)
        } else {
            self = argument == "latest" ? .latest : .newest(headset: argument)
        }
    }

    /// The number.
    ///
    /// - Throws: ``StorageError/notFound(what:)``.
    func number(in store: some Store) throws -> Int64 {
        let headset: String?
        switch self {
        case .number(let number): return number
        case .latest: headset = nil
        case .newest(let name): headset = name
        }
        if let newest = try store.newestRecording(of: headset) { return newest.rawValue }
        throw StorageError.notFound(what: headset.map { "recording of a headset \($0)" } ?? "recording")
    }

    /// The name at a centre, where headsets of many machines may be called the same: a UUID, or the number there.
    ///
    /// - Throws: `Failure` where it is another name.
    func nameAtCentre() throws(Failure) -> String {
        switch self {
        case .number(let number): return "\(number)"
        case .newest(let text) where UUID(uuidString: text) != nil: return text
        case .latest, .newest:
            throw Failure(
                problem: "a recording at a centre is named by its UUID, or its number there.",
                consequence: "no file was written.",
                remedy: "ask the centre what it has (SELECT recording_id, uuid, headset, start_time FROM recording_overview), "
                    + "or choose by --subject, --task, --label, --since.", code: .usage)
        }
    }
}
