import Bluetooth
import Foundation
import YAMLReading

/// A file that answers what ``SetupMachine`` asks, so that nobody needs to sit there.
struct SetupAnswers: Hashable {
    /// A headset that is wanted, and by what it is found.
    struct Headset: Hashable {
        var name: String
        var model: String?
        var identifiers: [PeripheralIdentifier] = []
        /// The local name that it advertises.
        var advertises: String?
        /// Its key in the file, for messages.
        var key: String

        func matches(_ candidate: SetupCandidate) -> Bool {
            (model == nil || model == candidate.model)
                && (identifiers.isEmpty || identifiers.contains(candidate.identifier)
                    || identifiers.contains { $0.address == candidate.identifier.address })
                && (advertises == nil || advertises == candidate.advertisedName)
        }
    }

    var headsets: [Headset] = []
    /// Whether headsets with something wrong are written all the same.
    var acceptsSignal = false
    /// Whether a configuration that is there may be changed.
    var changesConfiguration = false
    var startsService = false

    /// Reads a file of answers.
    ///
    /// - Parameter models: those that there are.
    /// - Throws: ``Failure``, with everything that is wrong in it.
    static func load(path: String, models: [String]) throws -> SetupAnswers {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw Failure(
                problem: "the answers \(path) cannot be read: \(FileReason(error).words).", consequence: "nothing was changed.",
                remedy: "check the path, and who may read it (ls -l).", code: .noInput)
        }
        do throws(YAMLDocumentError) {
            return try SetupAnswersReader.read(text, models: models)
        } catch {
            throw Failure(
                problem: "the answers \(path) are wrong:\n" + error.problems.map { "    \($0)" }.joined(separator: "\n"),
                consequence: "nothing was changed.", remedy: "correct what is named above; see eegsync help setup.",
                code: .dataError)
        }
    }

    /// The answer to a question.
    ///
    /// - Throws: ``Failure`` where the file does not answer it, or its answer does not fit what was found.
    func answer(to question: SetupQuestion) throws -> String {
        switch question {
        case .searchAgain: throw unanswered("no headset is in range.", .unavailable)
        case .choose(let candidates, _): return try choice(among: candidates)
        case .identify: return "n"
        case .name(let candidate, _, _, let complaint):
            if let complaint { throw unanswered(complaint, .dataError) }
            return headsets.first { $0.matches(candidate) }?.name ?? ""
        case .acceptSignal(let tests):
            if acceptsSignal { return "y" }
            let wrong = tests.filter { !$0.isGood }.map { "\($0.name): \($0.problems.joined(separator: "; "))" }
            throw unanswered(
                "the signal is not good: \(wrong.joined(separator: " / ")).", .unavailable,
                remedy: "mend it, or write accept_signal: true")
        case .change:
            if changesConfiguration { return "y" }
            throw unanswered(
                "the configuration that is there would be changed.", .cannotCreate,
                remedy: "look at the difference above, and write change_configuration: true")
        case .enable: return startsService ? "y" : "n"
        }
    }

    /// Each headset of the file must be exactly one of those in range.
    private func choice(among candidates: [SetupCandidate]) throws -> String {
        var indices: [Int] = []
        for headset in headsets {
            let found = candidates.indices.filter { headset.matches(candidates[$0]) && !indices.contains($0) }
            guard let index = found.first, found.count == 1 else {
                let what = found.isEmpty ? "is not in range" : "may be any of \(found.count) that are in range"
                throw unanswered(
                    "\(headset.key), '\(headset.name)', \(what).", .unavailable,
                    remedy: "eegsync scan shows what is in range; name it by 'address'")
            }
            indices.append(index)
        }
        return indices.map { String($0 + 1) }.joined(separator: ",")
    }

    private func unanswered(_ problem: String, _ code: Failure.Code, remedy: String = "switch the headset on and try again")
        -> Failure
    {
        Failure(problem: problem, consequence: "nothing was changed.", remedy: remedy + ".", code: code)
    }
}

/// Reads answers.
private struct SetupAnswersReader: YAMLReader {
    var problems: [YAMLProblem] = []
    let models: [String]

    static func read(_ text: String, models: [String]) throws(YAMLDocumentError) -> SetupAnswers {
        var reader = SetupAnswersReader(models: models)
        let answers = reader.answers(try reader.document(text, lengthMaximum: ConfigurationParser.lengthMaximum))
        try reader.refuseProblems()
        return answers
    }

    private mutating func answers(_ root: YAMLValue) -> SetupAnswers {
        let found = fields(root, ["headsets", "accept_signal", "change_configuration", "start_service"])
        var answers = SetupAnswers()
        if let value = required("headsets", found, "allowed is a list of headsets") {
            for element in elements(value, "allowed is a list of headsets") { answers.headsets.append(headset(element)) }
            if value.elements?.isEmpty == true { complain(value, "no headset is named", "allowed is at least one headset") }
        }
        answers.acceptsSignal = flag(found["accept_signal"]) ?? false
        answers.changesConfiguration = flag(found["change_configuration"]) ?? false
        answers.startsService = flag(found["start_service"]) ?? false
        return answers
    }

    private mutating func headset(_ value: YAMLValue) -> SetupAnswers.Headset {
        let found = fields(value, ["name", "model", "address", "advertises"])
        var headset = SetupAnswers.Headset(name: "", key: value.path)
        let allowed = "allowed are \(Configuration.headsetNameRule)"
        if let name = required("name", found, allowed), let text = text(name, limit: 64, allowed: allowed) {
            if !Configuration.isHeadsetName(text) { complain(name, "\(name.kind) is no name for a headset", allowed) }
            headset.name = text
        }
        headset.model = text(found["model"], limit: 64, allowed: "allowed is a model such as muse")
        if let value = found["model"], let model = headset.model, !models.contains(model) {
            complain(
                value, "\(value.kind) is no model that this version knows", Spelling.suggestion(for: model, among: models))
        }
        headset.advertises = text(found["advertises"], limit: 248, allowed: "allowed is the name that it advertises")
        if let address = found["address"], let written = text(address, limit: 64, allowed: "allowed is an address") {
            headset.identifiers = PeripheralIdentifier.ofEitherType(written)
            if headset.identifiers.isEmpty {
                complain(address, "\(address.kind) is not a Bluetooth address", "allowed are such as 00:55:DA:B0:13:24")
            }
        }
        return headset
    }
}
