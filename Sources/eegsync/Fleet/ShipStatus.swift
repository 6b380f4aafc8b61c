import Alerts
import Bluetooth
import Foundation
import Storage

/// What a machine says of itself to a centre: the document of the centre's function `ship_status`.
struct ShipStatus: Encodable, Hashable {
    /// A headset.
    struct Headset: Encodable, Hashable {
        var name: String
        var model: String
        var isWanted: Bool
        var severity: String
        var sentence: String
        var alerts: [String]
        var batteryPercent: Double?
        var newestSeconds: Double?
        var newestUnixNs: Int64?
    }

    var isAcquiring: Bool
    /// What is wrong with the machine; nil for nothing.
    var problem: String?
    /// What rules for alerts say of the machine.
    var alerts: [String]
    var freeBytes: Int64?
    var diskDays: Double?
    var headsets: [Headset]

    /// - Parameters:
    ///   - facts: how things stand.
    ///   - judgements: what the rules for alerts say.
    ///   - unixNanoseconds: now, by the machine's clock.
    init(_ facts: StatusFacts, _ judgements: [Judgement], unixNanoseconds: Int64) {
        func alerts(of headset: String?) -> [String] {
            judgements.filter { $0.verdict == .holds && $0.headset == headset }.map(\.text.printable)
        }
        isAcquiring = facts.daemonPid != nil
        // A pause is wanted; the headsets say it.
        problem = (facts.storage.map { "nothing is stored: \($0.sentence)" } ?? facts.machine?.sentence)?.printable
        self.alerts = alerts(of: nil)
        freeBytes = facts.freeBytes
        diskDays = facts.daysLeft.flatMap { $0.isFinite ? $0 : nil }
        headsets = facts.headsets.map { headset in
            let ages = headset.streams.compactMap(\.newestRowSeconds)
            let newest = ages.filter { abs($0) < 1e9 }.min()
            return Headset(
                // As its recordings name it, by which the centre finds them. PostgreSQL keeps no character 0.
                name: headset.name.replacing("\0", with: "\u{FFFD}"), model: headset.model.printable,
                isWanted: headset.isWanted, severity: headset.severity.rawValue, sentence: headset.sentence.printable,
                alerts: alerts(of: headset.name), batteryPercent: headset.batteryPercent.flatMap { $0.isFinite ? $0 : nil },
                newestSeconds: newest, newestUnixNs: newest.map { unixNanoseconds &- Int64($0 * 1e9) })
        }
    }

    /// The document.
    var json: String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Finds out, every now and then, what a machine says of itself.
struct ShipStatusReader {
    /// How often a machine speaks.
    static let interval = Duration.seconds(10)

    private let options: DatabaseOptions
    private let store: ReadOnlyStore
    private var last: MonotonicTime?

    init(_ options: DatabaseOptions, store: ReadOnlyStore) { (self.options, self.store) = (options, store) }

    /// The document; nil where one was given just now.
    ///
    /// - Throws: ``StorageError``, ``ConfigurationError``.
    mutating func document(at now: MonotonicTime) throws -> String? {
        if let last, now - last < Self.interval { return nil }
        last = now
        let configuration = (try? options.configurationIfPresent()).flatMap { $0.names(store.path) ? $0 : nil }
        let facts = try StatusFacts(store: store, configuration: configuration, now: now)
        let instant = AlertInstant.now
        var reader = AlertFactsReader(
            databasePath: try options.databasePath(), configured: configuration?.headsets.map(\.name),
            commitInterval: (configuration?.limits ?? Configuration.Limits()).commitInterval, hostBoot: store.hostBoot)
        let rules = (configuration?.alerts ?? Configuration.Alerts()).rules
        let watched = reader.facts(at: instant)
        return ShipStatus(
            facts, rules.flatMap { $0.judgements(of: watched) }, unixNanoseconds: instant.unixNanoseconds
        ).json
    }
}
