/// How things stand, as the companion service says it.
struct CompanionStatus: Hashable {
    /// The worst of what is wanted.
    var severity: HeadsetSituation.Severity
    /// True while a person wants nothing recorded.
    var isPaused = false
    /// One sentence for a person.
    var sentence: String
    /// The headsets, in the order of `eegsync status`.
    var headsets: [CompanionHeadset] = []

    /// Where the database cannot be read.
    init(problem: String) {
        severity = .waiting
        sentence = "The status cannot be read: \(problem)"
    }

    init(_ facts: StatusFacts) {
        severity = facts.storage == nil ? facts.severity : .waiting
        isPaused = facts.pausedSeconds != nil
        headsets = facts.headsets.map(CompanionHeadset.init)
        let wanted = facts.headsets.filter(\.isWanted)
        if isPaused {
            sentence = "Paused: nothing is recorded."
        } else if let storage = facts.storage {
            sentence = "Nothing is stored: \(storage.sentence)."
        } else if wanted.isEmpty {
            sentence = "No headset is recorded."
        } else {
            sentence = wanted.map { "\($0.name) \($0.sentence)" }.joined(separator: "; ") + "."
        }
        sentence = sentence.printable
    }

    /// The value of the status: version, severity, flags, the number of headsets, and the sentence.
    var value: [UInt8] {
        let header = [CompanionService.version, severity.code, isPaused ? 1 : 0, UInt8(clamping: headsets.count)]
        return header + sentence.utf8(atMost: CompanionService.valueLengthMaximum - header.count)
    }

    /// The value of the headsets: their records, each behind its length, as many as fit.
    var headsetsValue: [UInt8] {
        var value: [UInt8] = []
        for index in headsets.indices {
            let record = record(of: index)
            guard value.count + 1 + record.count <= CompanionService.valueLengthMaximum else { break }
            value += [UInt8(record.count)] + record
        }
        return value
    }

    /// The record of a headset, as it is notified.
    func record(of index: Int) -> [UInt8] { headsets[index].record(index: index) }
}

/// One headset, as the companion service says it.
struct CompanionHeadset: Hashable {
    var name: String
    var severity: HeadsetSituation.Severity
    var isWanted: Bool
    /// The name of the connection state, such as `streaming`; empty where there is none.
    var state: String
    /// 0 ... 100; nil where it is not known.
    var batteryPercent: UInt8?
    /// How old the newest stored sample is, in seconds; nil where there is none.
    var newestSeconds: UInt32?
    /// Samples that are missing, of those that the headset sends, summed over its streams.
    var missing: UInt32
    /// Gaps, summed over its streams.
    var gaps: UInt32

    /// The age of the newest sample that counts as none: transactions come each ten seconds.
    private static let usualSeconds: UInt32 = 20

    init(_ headset: StatusFacts.Headset) {
        name = headset.name
        severity = headset.severity
        isWanted = headset.isWanted
        state = headset.state ?? ""
        batteryPercent = headset.batteryPercent.map { UInt8(clamping: Int($0.rounded())) }
        newestSeconds = headset.streams.compactMap(\.newestRowSeconds).min().map { UInt32(clamping: Int64(max(0, $0))) }
        missing = UInt32(clamping: headset.streams.reduce(0) { $0 + $1.missing - $1.missingByDesign })
        gaps = UInt32(clamping: headset.streams.reduce(0) { $0 + $1.gaps - $1.gapsByDesign })
    }

    /// Little-endian: index, severity, flags, battery, seconds, missing, gaps, then the state and the name, each behind its
    /// length. The first 16 bytes fit into a notification of any link.
    func record(index: Int) -> [UInt8] {
        var record: [UInt8] = [
            UInt8(clamping: index), severity.code, isWanted ? 1 : 0, batteryPercent ?? 0xFF,
        ]
        for number in [newestSeconds ?? .max, missing, gaps] {
            record += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        for text in [state, name] {
            let bytes = text.utf8(atMost: CompanionService.nameLengthMaximum)
            record += [UInt8(bytes.count)] + bytes
        }
        return record
    }

    /// What a change is seen by: of the age of the newest sample, that it is more than usual, in tens of seconds.
    var notified: CompanionHeadset {
        var headset = self
        headset.newestSeconds = newestSeconds.map { $0 <= Self.usualSeconds ? 0 : $0 / 10 }
        return headset
    }
}

extension HeadsetSituation.Severity {
    /// Its number in the companion service, which does not change.
    var code: UInt8 {
        switch self {
        case .idle: 0
        case .good: 1
        case .working: 2
        case .waiting: 3
        }
    }
}

extension String {
    /// The text in UTF-8, cut between characters where it is longer.
    func utf8(atMost length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in self {
            guard bytes.count + character.utf8.count <= length else { break }
            bytes += character.utf8
        }
        return bytes
    }
}
