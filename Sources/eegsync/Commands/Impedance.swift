import ArgumentParser
import Bluetooth
import Foundation
import Headsets
import Storage

/// `eegsync impedance`: the impedance of a headset's electrodes.
struct Impedance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the impedance of a headset's electrodes.",
        discussion: """
            While `eegsync run` records the headset, its samples pause: the gap ledger has them with the cause `impedance`, \
            the values are in the table of that name, and annotations mark beginning and end. Otherwise the command connects \
            to the headset by itself and stores nothing; an `eegsync run` that is started \
            meanwhile waits for its end.

            The measurement ends with --seconds or Ctrl-C. Where the command is killed, it ends within 30 s; a headset that \
            was out of range meanwhile goes on with it. Impedances are the headset's own numbers.

            EXAMPLES
              eegsync impedance left
              eegsync impedance left --seconds 15 --json
            """)

    /// How often what was measured is looked at.
    private static let lookInterval = Duration.milliseconds(250)
    /// How long the first value may take: a connection, and the pause after one that failed.
    private static let answerLimit = Duration.seconds(60)
    /// How long the end may take: commands, a commit, and a disk that is slow.
    private static let endLimit = Duration.seconds(10)

    @Argument(help: "The headset's name in the configuration.")
    var headset: String

    @Option(help: "How long, from the first value on (1 ... 3600). Without it: until Ctrl-C.")
    var seconds: Int?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let seconds, !(1...3600).contains(seconds) { throw ValidationError("--seconds must be 1 ... 3600.") }
    }

    func run() async throws {
        let session = try HeadsetSession(of: headset, options, consequence: "nothing was measured.")
        let library = HeadsetLibrary(configurationPath: options.configurationPath)
        let profile = try? library.catalog.profile(model: session.model)
        guard let measurement = profile?.impedance else {
            throw Failure(
                problem: "a headset of model \(session.model) measures no impedances, as far as eegsync knows.",
                consequence: "nothing was measured.",
                remedy: "`eegsync status` shows what its signals show of the contact of its electrodes.", code: .unavailable)
        }
        let (facts, silence) = try await Interruption.run { interruption in
            try await session.run {
                let facts = try await follow(session, measurement, interruption)
                return (facts, session.failure("\(headset) sent no impedance", consequence: "nothing was measured."))
            }
        }
        if facts.electrodes.isEmpty { throw silence }
        try facts.print(asJSON: output.json)
    }

    /// Asks for the measurement, and shows it until it ends.
    private func follow(
        _ session: HeadsetSession, _ measurement: ImpedanceMeasurement, _ interruption: Interruption
    ) async throws -> ImpedanceFacts {
        let store = session.store
        let began = HostClock.now
        var lease = Lease(at: began)
        let request = try store.start(ImpedanceMeasurementID.self, headset: headset, at: began, until: lease.end)
        defer { try? store.remove(request) }
        var facts = ImpedanceFacts(headset: headset, daemonPid: session.daemonPid, measurement)
        let isTerminal = isatty(STDOUT_FILENO) == 1
        var screen = LiveScreen(isEnabled: !output.json && isTerminal)
        defer { screen.erase() }
        var (position, firstValue): (Int64, MonotonicTime?) = (0, nil)
        var stopLimit: MonotonicTime?
        while true {
            try await Task.sleep(for: Self.lookInterval)
            let now = HostClock.now
            // Looked at before the values: those that came before the end are in the same commit or an earlier one.
            let isComplete = try store.isComplete(request)
            let found = try store.impedances(of: headset, since: began, after: position)
            position = found.position
            for value in found.values {
                firstValue = firstValue ?? value.at
                facts.take(value, after: value.at - (firstValue ?? value.at))
                if !output.json, !isTerminal { print(facts.line(of: value)) }
            }
            screen.draw(every: Self.lookInterval, at: now - began) { facts.liveLines(style: $0) }
            if isComplete || now >= stopLimit ?? now + .seconds(1) { return facts }
            let limit = firstValue.map { first in seconds.map { first + .seconds($0) } } ?? began + Self.answerLimit
            if stopLimit == nil, interruption.isWanted || now >= limit ?? now + .seconds(1) {
                try store.stop(request)
                stopLimit = now + Self.endLimit
            } else if stopLimit == nil, let end = lease.prolong(at: now) {
                try store.extend(request, until: end)
            }
        }
    }
}

/// What was measured of each electrode.
struct ImpedanceFacts: Facts {
    /// One electrode.
    struct Electrode: Encodable {
        var electrode: String
        /// The latest value, in kΩ as the headset says it.
        var kilohms: Double
        var lowestKilohms: Double
        var highestKilohms: Double
        var values: Int
    }

    /// Another program's reading of the same numbers.
    struct OtherReading: Encodable {
        var name: String
        var factor: Double
    }

    var headset: String
    /// The acquiring process whose headset was measured; nil where the command had a link of its own.
    var daemonPid: Int32?
    /// From the first value to the last.
    var seconds = 0.0
    var otherReading: OtherReading?
    /// In the order in which the headset measures them.
    var electrodes: [Electrode] = []

    init(headset: String, daemonPid: Int32?, _ measurement: ImpedanceMeasurement) {
        self.headset = headset
        self.daemonPid = daemonPid
        otherReading = measurement.otherReading.map { OtherReading(name: $0.name, factor: $0.factor) }
    }

    /// Takes a value that came so long after the first.
    mutating func take(_ value: ImpedanceRecord, after elapsed: Duration) {
        seconds = elapsed.inSeconds
        let index = electrodes.firstIndex { $0.electrode == value.electrode } ?? electrodes.count
        if index == electrodes.count {
            electrodes.append(
                Electrode(
                    electrode: value.electrode, kilohms: value.kilohms, lowestKilohms: value.kilohms,
                    highestKilohms: value.kilohms, values: 0))
        }
        electrodes[index].kilohms = value.kilohms
        electrodes[index].lowestKilohms = min(electrodes[index].lowestKilohms, value.kilohms)
        electrodes[index].highestKilohms = max(electrodes[index].highestKilohms, value.kilohms)
        electrodes[index].values += 1
    }

    /// One value, where nobody looks at a terminal.
    func line(of value: ImpedanceRecord) -> String {
        let time = String(format: "%7.1f s", seconds)
        return "\(time)  \(Self.kilohms(value.kilohms).padded(to: 8))  \(value.electrode.printable)"
    }

    private static func kilohms(_ value: Double) -> String { Quantity.significant(value, digits: 6) + " kΩ" }

    /// While it goes on.
    func liveLines(style: TerminalStyle) -> [String] {
        if electrodes.isEmpty { return ["\(headset.printable): waiting for the first value; Ctrl-C ends it."] }
        return lines(style: style) + ["", "Ctrl-C ends the measurement."]
    }

    func lines(style: TerminalStyle) -> [String] {
        var columns: [TextTable.Column] = [
            .init(heading: "ELECTRODE"), .init(heading: "IMPEDANCE", alignment: .right),
        ]
        if let otherReading { columns.append(.init(heading: otherReading.name.uppercased(), alignment: .right)) }
        columns += [.init(heading: "LOWEST", alignment: .right), .init(heading: "HIGHEST", alignment: .right)]
        var table = TextTable(columns + [.init(heading: "VALUES", alignment: .right)])
        for electrode in electrodes {
            let other = otherReading.map { [TextTable.Cell(Self.kilohms(electrode.kilohms * $0.factor))] } ?? []
            table.append(
                [.init(electrode.electrode), .init(Self.kilohms(electrode.kilohms))] + other + [
                    .init(Self.kilohms(electrode.lowestKilohms)), .init(Self.kilohms(electrode.highestKilohms)),
                    .init(Quantity.count(Int64(electrode.values))),
                ])
        }
        let dispute = otherReading.map {
            ["", "IMPEDANCE is the headset's number. The \($0.name) shows it × \(Quantity.significant($0.factor, digits: 3))."]
        }
        return table.rendered(style: style) + (dispute ?? [])
    }
}

extension String {
    /// With spaces before it, up to a width.
    fileprivate func padded(to width: Int) -> String { String(repeating: " ", count: max(0, width - displayWidth)) + self }
}
