import Bluetooth

/// Setting up, as a machine: what has happened goes in, the one thing that is to be done next comes out.
///
/// ```
/// searching --> choosing --> identifying <--> naming --> testing --> deciding --> writing --> enabling --> ended
///     ^            |                                        |  ^_______/
///     +--"again"---+                                        +--> (nothing wrong) --> writing
/// ```
///
/// Before writing it goes back to naming where a headset has another serial number than the one whose name it was given.
///
/// It does nothing itself: no terminal, radio, file or clock. An event that its state does not expect is refused and changes
/// nothing.
struct SetupMachine {
    /// What has happened.
    enum Event: Hashable {
        /// The search is over.
        case found([SetupCandidate])
        /// A person has answered the last question.
        case answered(String)
        /// The signal of one of the watched headsets moved: its index among the chosen.
        case moved(Int)
        /// None moved in time, or the person gave up.
        case unmoved
        /// The signal was tested, and serial numbers are known.
        case tested([SignalTest])
        /// The configuration would be changed so; empty where it is as wanted already.
        case compared([String])
        case written
        case enabled
    }

    /// What is to be done next.
    enum Action: Hashable {
        case search
        case ask(SetupQuestion)
        /// Watch these of the chosen until one of them moves.
        case watch([Int], of: [SetupCandidate])
        case test([NamedHeadset])
        /// Compare what is wanted with the configuration that is there.
        case compare([NamedHeadset])
        case write([NamedHeadset])
        case enable
        case end(End)
    }

    /// How it ended.
    enum End: Hashable {
        /// The configuration names the headsets.
        case done([NamedHeadset], isChanged: Bool, isEnabled: Bool)
        /// A person ended it; nothing was written.
        case abandoned
    }

    /// An event that does not fit.
    struct UnexpectedEvent: Error, Hashable {
        var event: Event
    }

    private enum State: Hashable {
        case searching
        /// Nothing was found.
        case waiting
        case choosing([SetupCandidate])
        /// Whether to distinguish them by their signal.
        case offering
        case identifying
        /// The next of them is named; its index among the chosen.
        case naming(Int, isRecognised: Bool)
        case testing
        case deciding([SignalTest])
        case comparing
        case confirming([String])
        case writing
        case offeringService(isChanged: Bool)
        case enabling(isChanged: Bool)
        case ended
    }

    /// A headset that the configuration has already.
    struct Configured: Hashable {
        var name: String
        var model: String
        /// The addresses that it is bound to; empty for any.
        var identifiers: [PeripheralIdentifier] = []
        /// What it proves its identity by; nil where nothing is said of that.
        var serialNumber: String?

        /// True where it may be any headset of a model.
        func isAny(of model: String) -> Bool { self.model == model && identifiers.isEmpty && serialNumber == nil }

        /// Why a headset in range does not get its name, in words that complete "'left' ...", as far as that is known before
        /// there was a link.
        func objection(to candidate: SetupCandidate) -> String? {
            if candidate.knownAs == name { return nil }
            if model != candidate.model { return "is of the model \(model) in the configuration, not \(candidate.model)" }
            if identifiers.isEmpty { return nil }
            let addresses = identifiers.map(\.description).joined(separator: " or ")
            return "is bound to \(addresses) in the configuration, and this one has \(candidate.identifier)"
        }

        /// The same where the serial number alone says which headset it is.
        ///
        /// - Parameter said: what the headset has said over a link; nil for nothing.
        func objection(toSerialNumber said: String?) -> String? {
            guard identifiers.isEmpty, let serialNumber, said != serialNumber else { return nil }
            return "has the serial number \(serialNumber) in the configuration, and this one "
                + (said.map { "says \($0)" } ?? "has said none")
        }
    }

    private let configured: [Configured]
    private var state = State.searching
    private var chosen: [SetupCandidate] = []
    /// By the index among the chosen.
    private var names: [String?] = []
    private var serialNumbers: [String?] = []
    private var identifies = false

    /// - Parameter configured: what the configuration has; a headset does not get the name of one that it is not.
    init(configured: [Configured] = []) { self.configured = configured }

    /// The first action.
    let first = Action.search

    /// The chosen ones without a name.
    private var unnamed: [Int] { chosen.indices.filter { names[$0] == nil } }
    private var named: [NamedHeadset] {
        chosen.indices.compactMap { index in
            names[index].map {
                NamedHeadset(name: $0, candidate: chosen[index], serialNumber: serialNumbers[index])
            }
        }
    }

    /// Takes what has happened.
    ///
    /// - Throws: ``UnexpectedEvent``; nothing has changed then.
    mutating func handle(_ event: Event) throws(UnexpectedEvent) -> Action {
        switch (state, event) {
        case (.searching, .found(let candidates)): return found(candidates)
        case (.waiting, .answered(let text)):
            guard let again = YesOrNo.meaning(text, empty: true) else { return .ask(.searchAgain) }
            return again ? search() : end(.abandoned)
        case (.choosing(let candidates), .answered(let text)): return choose(text, among: candidates)
        case (.offering, .answered(let text)):
            guard let wanted = YesOrNo.meaning(text, empty: true) else { return .ask(.identify(count: chosen.count)) }
            identifies = wanted
            return nameNext()
        case (.identifying, .moved(let index)) where unnamed.contains(index): return ask(index, isRecognised: true)
        case (.identifying, .unmoved):
            identifies = false
            return nameNext()
        case (.naming(let index, let isRecognised), .answered(let text)):
            return name(index, text, isRecognised: isRecognised)
        case (.testing, .tested(let tests)): return judge(tests)
        case (.deciding(let tests), .answered(let text)):
            if text.lowercased() == "t" { return test() }
            guard let accepted = YesOrNo.meaning(text, empty: nil) else { return .ask(.acceptSignal(tests)) }
            return accepted ? compare() : end(.abandoned)
        case (.comparing, .compared(let difference)):
            if difference.isEmpty { return offerService(isChanged: false) }
            state = .confirming(difference)
            return .ask(.change(difference: difference))
        case (.confirming(let difference), .answered(let text)):
            guard let accepted = YesOrNo.meaning(text, empty: false) else { return .ask(.change(difference: difference)) }
            guard accepted else { return end(.abandoned) }
            state = .writing
            return .write(named)
        case (.writing, .written): return offerService(isChanged: true)
        case (.offeringService(let isChanged), .answered(let text)):
            guard let wanted = YesOrNo.meaning(text, empty: false) else { return .ask(.enable) }
            guard wanted else { return end(.done(named, isChanged: isChanged, isEnabled: false)) }
            state = .enabling(isChanged: isChanged)
            return .enable
        case (.enabling(let isChanged), .enabled): return end(.done(named, isChanged: isChanged, isEnabled: true))
        default: throw UnexpectedEvent(event: event)
        }
    }

    // MARK: Finding

    private mutating func search() -> Action {
        state = .searching
        return .search
    }

    private mutating func found(_ candidates: [SetupCandidate]) -> Action {
        state = candidates.isEmpty ? .waiting : .choosing(candidates)
        return .ask(candidates.isEmpty ? .searchAgain : .choose(candidates, complaint: nil))
    }

    private mutating func choose(_ text: String, among candidates: [SetupCandidate]) -> Action {
        if text.lowercased() == "a" { return search() }
        guard let indices = Self.selection(text, count: candidates.count) else {
            let complaint = "'\(text)' is no choice: numbers from 1 to \(candidates.count) are, such as 1,2."
            return .ask(.choose(candidates, complaint: complaint))
        }
        chosen = indices.map { candidates[$0] }
        names = chosen.map { _ in nil }
        serialNumbers = names
        // One alone needs no distinction, and two of different models have one.
        let needsDistinction = chosen.contains { one in chosen.count(where: { $0.model == one.model }) > 1 }
        guard needsDistinction else { return nameNext() }
        state = .offering
        return .ask(.identify(count: chosen.count))
    }

    /// The indices that an answer names; nil where it names none, or one that is not there.
    static func selection(_ text: String, count: Int) -> [Int]? {
        if text.isEmpty || text.lowercased() == "all" { return Array(0..<count) }
        let numbers = text.split(whereSeparator: { $0 == "," || $0 == " " }).map { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0.map { (1...count).contains($0) } ?? false }) else { return nil }
        var indices: [Int] = []
        for case let number? in numbers where !indices.contains(number - 1) { indices.append(number - 1) }
        return indices
    }

    // MARK: Naming

    private mutating func nameNext() -> Action {
        guard let next = unnamed.first else { return test() }
        // The last one is known by what it is not.
        if identifies, unnamed.count > 1 {
            state = .identifying
            return .watch(unnamed, of: chosen)
        }
        return ask(next, isRecognised: identifies)
    }

    private mutating func ask(_ index: Int, isRecognised: Bool, complaint: String? = nil) -> Action {
        state = .naming(index, isRecognised: isRecognised)
        return .ask(
            .name(chosen[index], isRecognised: isRecognised, suggestion: suggestion(for: index), complaint: complaint))
    }

    /// The name that the headset has already, or the model's with a number.
    private func suggestion(for index: Int) -> String {
        if let known = chosen[index].knownAs, !names.contains(known) { return known }
        let model = chosen[index].model
        let taken =
            names.compactMap(\.self) + chosen.compactMap(\.knownAs)
            + configured.filter { !$0.isAny(of: model) }.map(\.name)
        var number = 1
        while taken.contains("\(model)-\(number)") { number += 1 }
        return "\(model)-\(number)"
    }

    private mutating func name(_ index: Int, _ text: String, isRecognised: Bool) -> Action {
        let name = text.isEmpty ? suggestion(for: index) : text
        guard Configuration.isHeadsetName(name) else {
            return ask(
                index, isRecognised: isRecognised,
                complaint: "'\(name)' is no name; allowed are \(Configuration.headsetNameRule).")
        }
        guard !names.contains(name) else {
            return ask(index, isRecognised: isRecognised, complaint: "the name '\(name)' is taken.")
        }
        if let objection = configured.first(where: { $0.name == name })?.objection(to: chosen[index]) {
            return ask(index, isRecognised: isRecognised, complaint: Self.complaint(name, objection))
        }
        names[index] = name
        return nameNext()
    }

    private static func complaint(_ name: String, _ objection: String) -> String {
        "'\(name)' \(objection): choose another name, or take '\(name)' out of the configuration first."
    }

    /// Asks anew for a name that stands for another serial number than the one that was said since; nil where there is none.
    private mutating func askAgain() -> Action? {
        for index in chosen.indices {
            guard let name = names[index],
                // One that is known by its address is the one, though it has said nothing.
                serialNumbers[index] != nil || chosen[index].knownAs != name,
                let objection = configured.first(where: { $0.name == name })?.objection(toSerialNumber: serialNumbers[index])
            else { continue }
            names[index] = nil
            return ask(index, isRecognised: false, complaint: Self.complaint(name, objection))
        }
        return nil
    }

    // MARK: Testing and writing

    private mutating func test() -> Action {
        state = .testing
        return .test(named)
    }

    private mutating func judge(_ tests: [SignalTest]) -> Action {
        for index in chosen.indices {
            if let serial = tests.first(where: { $0.name == names[index] })?.serialNumber { serialNumbers[index] = serial }
        }
        guard tests.count == chosen.count, tests.allSatisfy(\.isGood) else {
            state = .deciding(tests)
            return .ask(.acceptSignal(tests))
        }
        return compare()
    }

    private mutating func compare() -> Action {
        if let question = askAgain() { return question }
        state = .comparing
        return .compare(named)
    }

    private mutating func offerService(isChanged: Bool) -> Action {
        state = .offeringService(isChanged: isChanged)
        return .ask(.enable)
    }

    private mutating func end(_ end: End) -> Action {
        state = .ended
        return .end(end)
    }
}
