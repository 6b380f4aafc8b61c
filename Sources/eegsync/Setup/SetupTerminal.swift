import Foundation

/// What a person sees of setting up, and what they type. Everything goes to standard error, so that standard output has the
/// result alone.
struct SetupTerminal {
    /// True where pictures that replace each other are wanted.
    var isLive: Bool
    var style: TerminalStyle

    /// A line.
    func say(_ line: String) { StandardError.write(line + "\n") }

    /// What a person types; nil at the end of input, and with Ctrl-C, which does not end the waiting for a line by itself.
    func answer(_ prompt: String, unless interruption: Interruption) -> String? {
        StandardError.write(prompt)
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 100) <= 0 {
            if interruption.isWanted {
                say("")
                return nil
            }
        }
        return readLine()?.trimmingCharacters(in: .whitespaces)
    }

    /// Whether a line, or the end of input, waits to be read.
    var hasAnswer: Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return isLive && poll(&input, 1, 0) > 0
    }

    /// What a question is about.
    func show(_ question: SetupQuestion) {
        for line in Self.lines(question, style: style) { say(line) }
    }

    /// The results of a test.
    func show(_ tests: [SignalTest]) {
        say("")
        for line in Self.table(tests).rendered(style: style, columns: TerminalSize.columns(of: STDERR_FILENO)) { say(line) }
        say("")
    }

    static func lines(_ question: SetupQuestion, style: TerminalStyle) -> [String] {
        switch question {
        case .searchAgain:
            return ["No headset is in range. A headset advertises only while it is switched on and connected to nothing."]
        case .choose(let candidates, let complaint):
            if let complaint { return [style.apply(.caution, to: complaint.printable)] }
            return table(candidates).rendered(style: style) + [""]
        case .identify(let count):
            return ["\(count) headsets were chosen, some of one model: a blink or a tap shows which is which."]
        case .name(let candidate, let isRecognised, _, let complaint):
            if let complaint { return [style.apply(.caution, to: complaint.printable)] }
            let why = isRecognised ? "This is the one that moved, or the last one:" : "What is this one called?"
            return ["\(why) \(candidate.words.printable)"]
        case .acceptSignal(let tests):
            return tests.filter { !$0.isGood }.map {
                style.apply(.caution, to: "\($0.name): \($0.problems.joined(separator: "; ").printable)")
            }
        case .change(let difference):
            return ["The configuration would change so:", ""]
                + difference.map { line in
                    let look: TerminalStyle.Style? = line.hasPrefix("+ ") ? .good : line.hasPrefix("- ") ? .bad : nil
                    return "  " + (look.map { style.apply($0, to: line.printable) } ?? line.printable)
                } + [""]
        case .enable: return []
        }
    }

    private static func table(_ candidates: [SetupCandidate]) -> TextTable {
        var table = TextTable([
            .init(heading: "", alignment: .right), .init(heading: "SIGNAL"), .init(heading: "MODEL"), .init(heading: "NAME"),
            .init(heading: "KNOWN AS"), .init(heading: "ADDRESS"),
        ])
        for (index, candidate) in candidates.enumerated() {
            table.append([
                .init("\(index + 1)"), ScanFacts.signal(candidate.rssi), .init(candidate.modelName),
                .init(candidate.advertisedName ?? ""), candidate.knownAs.map { .init($0, .good) } ?? .init("new", .faint),
                .init("\(candidate.identifier)"),
            ])
        }
        return table
    }

    static func table(_ tests: [SignalTest]) -> TextTable {
        var table = TextTable([
            .init(heading: "HEADSET"), .init(heading: "STREAM"), .init(heading: "RATE", alignment: .right),
            .init(heading: "OF", alignment: .right), .init(heading: "MISSING", alignment: .right),
            .init(heading: "BATTERY", alignment: .right), .init(heading: "SIGNAL", wraps: true),
        ])
        for test in tests {
            let verdict = TextTable.Cell(
                test.isGood ? "good" : test.problems.joined(separator: "; "), test.isGood ? .good : .caution)
            let battery = TextTable.Cell(test.batteryPercent.map { String(format: "%.0f %%", $0) } ?? "")
            if test.streams.isEmpty { table.append([.init(test.name), "", "", "", "", battery, verdict]) }
            for (index, stream) in test.streams.enumerated() {
                table.append([
                    .init(index == 0 ? test.name : ""), .init(stream.name),
                    .init(stream.measuredFrequency.map { Quantity.frequency($0) } ?? "none"),
                    .init(Quantity.frequency(stream.samplingFrequency)), .init(Quantity.count(stream.missing)),
                    index == 0 ? battery : "", index == 0 ? verdict : "",
                ])
            }
        }
        return table
    }
}
