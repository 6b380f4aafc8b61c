import Foundation
import Storage

extension DatabaseOptions {
    /// The configuration of a database; nil where this user finds none that can be read.
    func configuration(of path: String) -> Configuration? {
        (try? configurationIfPresent()).flatMap { $0.names(path) ? $0 : nil }
    }

    /// The model of a headset, as a command or the configuration says it.
    ///
    /// - Parameters:
    ///   - stated: by the command; nil for what the configuration says.
    ///   - consequence: of not knowing it.
    func model(of headset: String, stated: String?, database path: String, consequence: String) throws -> String {
        if let stated {
            // A headset that an earlier version has given another name keeps it.
            if !Configuration.isHeadsetName(headset), try !isStored(headset, in: path) {
                throw Failure(
                    problem: "'\(String(headset.prefix(64)).printable)' is no name for a headset.", consequence: consequence,
                    remedy: "write \(Configuration.headsetNameRule).", code: .usage)
            }
            let known = HeadsetLibrary(configurationPath: configurationPath).models
            guard known.contains(stated) else {
                throw Failure(
                    problem: "the model '\(stated)' is unknown; known models: \(known.joined(separator: ", ")).",
                    consequence: consequence, remedy: "check --model; `eegsync headsets list` shows all.", code: .usage)
            }
            if let named = configuration(of: path),
                !named.headsets.contains(where: { $0.name == headset && $0.model == stated })
            {
                throw Failure(
                    problem: "the configuration \(configurationPath) names no headset \(headset) of the model \(stated).",
                    consequence: consequence.dropLast() + ": eegsync run records only what it names.",
                    remedy: "add the headset to the configuration, then: systemctl reload eegsync.", code: .noInput)
            }
            return stated
        }
        guard let configuration = try configurationIfPresent() else {
            throw Failure(
                problem: "the model of the headset \(headset) is not known: there is no \(configurationPath).",
                consequence: consequence, remedy: "name it with --model, or write the configuration.", code: .configuration)
        }
        if let found = configuration.headsets.first(where: { $0.name == headset }) { return found.model }
        throw Failure(
            problem: "the configuration \(configurationPath) names no headset \(headset), only "
                + configuration.headsets.map(\.name).joined(separator: ", ") + ".",
            consequence: consequence, remedy: "check the spelling, or add the headset to the configuration.", code: .noInput)
    }

    private func isStored(_ headset: String, in path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        return try openForControl().hasHeadset(named: headset)
    }
}
