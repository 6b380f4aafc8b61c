import ArgumentParser
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
}
