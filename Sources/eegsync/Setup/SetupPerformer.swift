import Bluetooth
import Foundation
import Headsets
import Storage

/// Does what a ``SetupMachine`` wants: radio, file, service; answers come from a file, or from a person at the terminal.
final class SetupPerformer {
    /// What the command was given.
    struct Settings {
        var configurationPath: String
        var configuration: Configuration
        /// The configuration's text; nil where there is none.
        var text: String?
        var library: HeadsetLibrary
        /// Nil where a person is asked.
        var answers: SetupAnswers?
        var search: Duration
        var test: Duration
    }

    /// How long a headset may take until it sends something.
    private static let linkLimit = Duration.seconds(60)
    /// How long a person may take to blink or tap.
    private static let movementLimit = Duration.seconds(60)
    /// How often what happens is looked at.
    private static let lookInterval = Duration.milliseconds(250)

    private let settings: Settings
    private let interruption: Interruption
    private let terminal: SetupTerminal
    private var links: SetupLinks?
    private var newText: String?
    /// The latest results.
    private(set) var tests: [SignalTest] = []

    init(_ settings: Settings, terminal: SetupTerminal, interruption: Interruption) {
        self.settings = settings
        self.terminal = terminal
        self.interruption = interruption
    }

    /// Runs the machine to its end.
    func run() async throws -> SetupMachine.End {
        do {
            let end = try await performed()
            await links?.end()
            return end
        } catch {
            await links?.end()
            throw error
        }
    }

    private func performed() async throws -> SetupMachine.End {
        let configured = settings.configuration.headsets.map {
            SetupMachine.Configured(
                name: $0.name, model: $0.model, identifiers: $0.identifiers, serialNumber: $0.serialNumber)
        }
        var machine = SetupMachine(configured: configured)
        var action = machine.first
        while true {
            if case .end(let end) = action { return end }
            guard let event = try await perform(action) else { return .abandoned }
            action = try machine.handle(event)
        }
    }

    /// What came of an action; nil where the person has ended it.
    private func perform(_ action: SetupMachine.Action) async throws -> SetupMachine.Event? {
        if interruption.isWanted { return nil }
        switch action {
        case .search: return .found(try search())
        case .ask(let question):
            terminal.show(question)
            if let answers = settings.answers { return .answered(try answers.answer(to: question)) }
            return terminal.answer(question.prompt, unless: interruption).map { .answered($0) }
        case .watch(let indices, let chosen): return try await watch(indices, of: chosen)
        case .test(let headsets):
            tests = try await test(headsets)
            terminal.show(tests)
            return interruption.isWanted ? nil : .tested(tests)
        case .compare(let headsets): return .compared(try difference(headsets))
        case .write:
            try write()
            return .written
        case .enable:
            try await enable()
            return .enabled
        case .end: return nil
        }
    }

    // MARK: Radio

    private func search() throws -> [SetupCandidate] {
        // One that is linked does not advertise.
        let session = CentralSession { settings.configuration.makeCentral(watch: $0, isAlone: false) }
        let known = try Scan.known(settings.configuration, store: nil)
        let search = HeadsetSearch(session, profiles: settings.library.catalog.profiles, known: known)
        terminal.say("Looking for headsets for \(Quantity.duration(settings.search)); switch them on.")
        return SetupCandidate.candidates(try search.run(for: settings.search, isShown: terminal.isLive))
    }

    private func linked(_ chosen: [SetupCandidate]) throws -> SetupLinks {
        if let links { return links }
        let made = try SetupLinks(chosen, settings.configuration, library: settings.library)
        links = made
        return made
    }

    private func watch(_ indices: [Int], of chosen: [SetupCandidate]) async throws -> SetupMachine.Event? {
        let links = try linked(chosen)
        let began = HostClock.now
        var screen = LiveScreen(isEnabled: terminal.isLive)
        defer { screen.erase() }
        func movements() -> [Int: Int] {
            let observed = links.observed
            return Dictionary(uniqueKeysWithValues: indices.map { ($0, observed[$0].movements) })
        }
        var identification = Identification(ignoring: movements())
        terminal.say(
            "Wear one headset and blink twice, or tap it twice, after two seconds of rest. Enter goes on without.")
        while HostClock.now - began < Self.linkLimit + Self.movementLimit {
            try await Task.sleep(for: Self.lookInterval)
            if interruption.isWanted { return nil }
            if terminal.hasAnswer {
                _ = terminal.answer("", unless: interruption)
                return .unmoved
            }
            let moved = movements()
            if let index = identification.take(moved) { return .moved(index) }
            screen.draw(every: Self.lookInterval, at: HostClock.now - began) { _ in
                indices.map { index in
                    let count = Quantity.count(Int64(moved[index] ?? 0), "movement")
                    return
                        "  \(chosen[index].words.printable): \(links.observed[index].duration > .zero ? count : "connecting")"
                }
            }
        }
        terminal.say("None moved alone.")
        return .unmoved
    }

    private func test(_ headsets: [NamedHeadset]) async throws -> [SignalTest] {
        let links = try linked(headsets.map(\.candidate))
        links.restart()
        let began = HostClock.now
        // Checks of the signal come every ten seconds; a test of fewer does without.
        let needsJudgement = settings.test >= .seconds(10)
        var screen = LiveScreen(isEnabled: terminal.isLive)
        terminal.say("Testing \(Quantity.duration(settings.test)) of signal.")
        while HostClock.now - began < Self.linkLimit + settings.test, !interruption.isWanted {
            let observed = links.observed
            let isDone = observed.allSatisfy {
                $0.duration >= settings.test && (!needsJudgement || $0.isJudged || $0.duration >= settings.test + .seconds(5))
            }
            if isDone { break }
            screen.draw(every: Self.lookInterval, at: HostClock.now - began) { _ in
                headsets.indices.map { index in
                    let seconds = Quantity.duration(observed[index].duration)
                    return "  \(headsets[index].name): "
                        + (observed[index].duration > .zero ? seconds : links.situation(index).printable)
                }
            }
            try await Task.sleep(for: Self.lookInterval)
        }
        screen.erase()
        return links.observed.indices.map { index in
            links.observed[index].test(of: headsets[index], silence: "no signal: it \(links.situation(index))")
        }
    }

    // MARK: File and service

    private func difference(_ headsets: [NamedHeadset]) throws -> [String] {
        let section = HeadsetSection(text: settings.text, configuration: settings.configuration) { [settings] text in
            try? ConfigurationParser.parse(
                text, file: settings.configurationPath, models: settings.library.models,
                described: settings.library.entries.compactMap(\.descriptor))
        }
        do throws(HeadsetSection.Refusal) {
            let text = try section.changed(to: headsets)
            newText = text
            return LineDifference.lines(from: settings.text ?? "", to: text)
        } catch {
            throw Failure(
                problem: "the part 'headsets:' of \(settings.configurationPath) is written in a way that setup cannot change.",
                consequence: "it is as it was.",
                remedy: "write each headset on lines of its own that begin with '- name:', or change it by hand: "
                    + headsets.map { "\($0.name) is \($0.candidate.identifier)" }.joined(separator: ", ") + ".",
                code: .dataError)
        }
    }

    private func write() throws {
        guard let newText else { return }
        // Somebody may have edited it while questions were asked.
        let now = try? String(contentsOfFile: settings.configurationPath, encoding: .utf8)
        guard now == settings.text else {
            throw Failure(
                problem: "\(settings.configurationPath) was changed by somebody else meanwhile.",
                consequence: "it is as they left it.", remedy: "start eegsync setup again.", code: .temporary)
        }
        do throws(FileReason) {
            try ConfigurationInstallation(path: settings.configurationPath)
                .install(newText, isSecret: settings.configuration.hasSecrets)
        } catch {
            throw Failure(
                problem: "\(settings.configurationPath) cannot be written: \(error.words).", consequence: "it is as it was.",
                remedy: "run eegsync setup with sudo, or name another file with --config.", code: .cannotCreate)
        }
    }

    private func enable() async throws {
        // What runs reads the file again and keeps its recordings.
        for arguments in [["enable", "eegsync.service"], ["reload-or-restart", "eegsync.service"]] {
            let program = ChildProgram(path: "/usr/bin/systemctl", arguments: arguments, limit: .seconds(90))
            if let problem = await program.run().problem {
                throw Failure(
                    problem: "systemctl \(arguments.joined(separator: " ")) failed: \(problem).",
                    consequence: "the configuration is written; the service is as it was.",
                    remedy: "sudo systemctl enable --now eegsync, and systemctl status eegsync.", code: .unavailable)
            }
        }
    }
}
