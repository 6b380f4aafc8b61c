import Bluetooth
import Glibc
import Headsets

/// One model, for `eegsync headsets show`.
struct HeadsetFacts: Facts {
    struct Channel: Encodable {
        var name: String
        var type: String
        var unit: String
        var scale: Double
        var offset: Double
        var rawMinimum: Int32
        var rawMaximum: Int32
    }

    struct Stream: Encodable {
        var name: String
        var bank: Int
        var samplingFrequency: Double
        var counterModulus: Int64?
        var samplesPerCount: Int
        var channels: [Channel]
    }

    /// What a person may set in the configuration.
    struct Setting: Encodable {
        var name: String
        var meaning: String
        var unit: String?
        var values: [String]
        /// Nil where the headset is left as it is.
        var usual: String?
        /// How many channels can have values of their own; nil for a setting of the whole headset.
        var channelCount: Int?

        init(_ setting: HeadsetSetting) {
            name = setting.name
            meaning = setting.meaning
            unit = setting.unit
            values = setting.values
            usual = setting.usual
            channelCount = setting.channelCount
        }
    }

    /// One part of the delay that the times of EEG samples contain.
    struct DelayPart: Encodable {
        var milliseconds: Double
        var meaning: String
        var source: String
    }

    struct Commands: Encodable {
        var purpose: String
        var steps: [String]
    }

    var model: String
    var name: String
    var origin: String
    var about: String
    var services: [String]
    var pairingServices: [String]
    var namePrefixes: [String]
    var companies: [UInt16]
    var controlCharacteristics: [String]
    var dataCharacteristics: [String]
    var identityCharacteristic: String?
    var tellsIdentityInStatus: Bool
    /// True where the characteristics of a headset show which kind of the model it is: streams, data characteristics and
    /// commands may then be others.
    var dependsOnCharacteristics: Bool
    var epoch: String
    var memory: String
    var packetPeriodMilliseconds: Double
    var silenceLimitMilliseconds: Double
    var keepAliveSeconds: Double?
    /// What is known of the delay that the times of EEG samples contain; nil where nothing is.
    var constantDelayMilliseconds: Double?
    var constantDelayParts: [DelayPart]
    /// What the headset measures the impedance of; empty where it cannot, or nobody knows how.
    var impedances: [String]
    var presets: [String]
    var settings: [Setting]
    var streams: [Stream]
    var commands: [Commands]

    init(_ entry: HeadsetLibrary.Entry) {
        let profile = entry.profile
        model = profile.model
        name = profile.displayName
        origin = entry.origin.words
        about = entry.descriptor?.about ?? ""
        services = profile.recognition.serviceUUIDs.map(\.description)
        pairingServices = profile.recognition.pairingServiceUUIDs.map(\.description)
        namePrefixes = profile.recognition.namePrefixes
        companies = profile.recognition.companies
        controlCharacteristics = profile.controlCharacteristics.map(\.description)
        dataCharacteristics = profile.dataCharacteristics.map(\.description)
        identityCharacteristic = profile.identityCharacteristic?.description
        tellsIdentityInStatus = profile.sendsIdentityInStatus
        dependsOnCharacteristics = profile.isDiscriminatedByDatabase
        epoch = profile.epochRule.rawValue
        memory = profile.memory.rawValue
        packetPeriodMilliseconds = profile.timing.packetPeriod.inSeconds * 1000
        silenceLimitMilliseconds = profile.timing.silenceLimit.inSeconds * 1000
        keepAliveSeconds = profile.timing.keepAliveInterval?.inSeconds
        constantDelayMilliseconds = profile.constantDelay.map { $0.known.inSeconds * 1000 }
        constantDelayParts = (profile.constantDelay?.parts ?? []).map {
            DelayPart(milliseconds: $0.duration.inSeconds * 1000, meaning: $0.meaning, source: $0.source)
        }
        impedances = profile.impedance?.electrodes ?? []
        presets = profile.presets
        settings = profile.settings.map(Setting.init)
        streams = profile.streams.map { stream in
            Stream(
                name: stream.name, bank: stream.bank, samplingFrequency: stream.samplingFrequency,
                counterModulus: stream.counterModulus, samplesPerCount: stream.samplesPerCount,
                channels: stream.channels.map {
                    Channel(
                        name: $0.name, type: $0.type, unit: $0.unit, scale: $0.scale, offset: $0.offset,
                        rawMinimum: $0.rawMinimum, rawMaximum: $0.rawMaximum)
                })
        }
        commands = CommandPurpose.allCases.compactMap { purpose in
            let steps = profile.commands(for: purpose, status: nil)
            return steps.isEmpty ? nil : Commands(purpose: purpose.rawValue, steps: steps.map(Self.words))
        }
    }

    private static func words(_ step: CommandStep) -> String {
        switch step {
        case .write(let bytes, let characteristic, let type):
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
            return "write \(digits) to \(characteristic)\(type == .withResponse ? "" : " without response")"
        case .read(let characteristic): return "read \(characteristic)"
        case .wait(let duration): return "wait \(Quantity.duration(duration))"
        case .awaitReply(let timeout, let otherwise):
            let wait = "wait for the answer, at most \(Quantity.duration(timeout))"
            return otherwise.isEmpty ? wait : wait + "; without one: " + otherwise.map(words).joined(separator: ", ")
        case .abandonLink(let reason): return "give the link up: \(reason)"
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: style.columns)
    }

    /// - Parameter columns: how wide a line should be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        func line(_ heading: String, _ values: [String]) -> [String] {
            guard !values.isEmpty else { return [] }
            let head = style.apply(.heading, to: heading.padded(to: 16))
            return Paragraph.block(values.joined(separator: ", ").printable, head: head, indent: 16, columns: columns)
        }
        var facts: [[String]] = [
            [style.apply(.heading, to: name.printable) + " (\(model), \(origin.printable))", ""],
            line("advertises", services + namePrefixes.map { "\"\($0)…\"" } + companies.map { "company \($0)" }),
            line("pairing mode", pairingServices), line("control", controlCharacteristics), line("data", dataCharacteristics),
            line(
                "identity",
                [
                    identityCharacteristic.map { "characteristic \($0)" }
                        ?? (tellsIdentityInStatus ? "in its status" : "none: the address alone")
                ]),
            line("counters", [epoch == "boot" ? "go on until the headset is switched off" : "begin with each connection"]),
            line("memory", [memory == "none" ? "none: what is not received is gone" : "the Buffered EEG service"]),
            line(
                "timing",
                [
                    "a packet each \(packetPeriodMilliseconds.plain) ms",
                    "lost after \(Quantity.duration(seconds: silenceLimitMilliseconds / 1000)) of silence",
                ] + (keepAliveSeconds.map { ["kept alive each \(Quantity.duration(seconds: $0))"] } ?? [])),
        ]
        facts.append(line("constant delay", [delay]))
        facts.append(line("impedance of", impedances))
        if !presets.isEmpty { facts.append(line("presets", [presets.joined(separator: " ")])) }
        if dependsOnCharacteristics {
            facts.append(line("kind", ["its characteristics say; what follows is said of one that was not connected to yet"]))
        }
        for sequence in commands {
            facts.append(line(Self.words(ofPurpose: sequence.purpose), [sequence.steps.joined(separator: "; ")]))
        }
        var lines = facts.flatMap { $0 }
        if !streams.isEmpty { lines += [""] + table.rendered(style: style, columns: columns) }
        if !settings.isEmpty { lines += [""] + settingsTable.rendered(style: style, columns: columns) }
        if !about.isEmpty {
            lines += [""] + about.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// What of the delay that a time contains is known.
    private var delay: String {
        guard let constantDelayMilliseconds else { return "contained in the times; nothing is known about its length" }
        let parts = constantDelayParts.map { "\($0.milliseconds.delay) ms by \($0.meaning) (\($0.source))" }
        return "contained in the times; \(constantDelayMilliseconds.delay) ms are known: " + parts.joined(separator: "; ")
            + "; the rest, as that of the radio, is not"
    }

    /// What is sent when, such as `keep alive`.
    private static func words(ofPurpose purpose: String) -> String {
        purpose.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
    }

    private var table: TextTable {
        var table = TextTable([
            .init(heading: "STREAM"), .init(heading: "RATE", alignment: .right), .init(heading: "COUNTER", wraps: true),
            .init(heading: "CHANNELS", wraps: true), .init(heading: "RAW TO PHYSICAL", wraps: true),
        ])
        for stream in streams {
            let counter = stream.counterModulus.map { modulus in
                let step = stream.samplesPerCount == 1 ? "counts samples" : "\(stream.samplesPerCount) samples a step"
                return "mod \(modulus == 1 << 32 ? "2^32" : String(modulus)), \(step)"
            }
            // Channels that are read in the same way stand together.
            var groups: [(formula: String, channels: [String])] = []
            for channel in stream.channels {
                let formula = Self.formula(of: channel)
                if groups.last?.formula == formula {
                    groups[groups.count - 1].channels.append(channel.name)
                } else {
                    groups.append((formula, [channel.name]))
                }
            }
            for (index, group) in groups.enumerated() {
                let heading: [TextTable.Cell] =
                    index > 0
                    ? ["", "", ""]
                    : [
                        .init(StreamDescription.bankName(stream.name, stream.bank)),
                        .init(stream.samplingFrequency.frequency), .init(counter ?? "none"),
                    ]
                table.append(heading + [.init(group.channels.joined(separator: " ")), .init(group.formula)])
            }
        }
        return table
    }

    private var settingsTable: TextTable {
        var table = TextTable([
            .init(heading: "SETTING"), .init(heading: "VALUES", wraps: true), .init(heading: "USUAL"),
            .init(heading: "FOR"), .init(heading: "MEANING", wraps: true),
        ])
        for setting in settings {
            let unit = setting.unit.map { " \($0)" } ?? ""
            table.append([
                .init(setting.name), .init(setting.values.joined(separator: " ") + unit),
                .init(setting.usual.map { $0 + unit } ?? "as it is"),
                .init(setting.channelCount.map { "\($0) channels" } ?? "headset"), .init(setting.meaning),
            ])
        }
        return table
    }

    /// Such as `× 0.488281 uV − 1000 uV`.
    private static func formula(of channel: Channel) -> String {
        func number(_ value: Double) -> String { (value < 0 ? "−" : "") + abs(value).plain + " " + channel.unit }
        let sign = channel.offset < 0 ? "−" : "+"
        return "× " + number(channel.scale) + (channel.offset == 0 ? "" : " \(sign) \(number(abs(channel.offset)))")
    }
}

extension Double {
    /// With six significant digits, and without zeros at the end.
    fileprivate var plain: String { Quantity.significant(self, digits: 6) }
    /// Milliseconds with three significant digits.
    fileprivate var delay: String { Quantity.significant(self, digits: 3) }
    /// As it is stated, such as `250 Hz` or `9.95 Hz`.
    fileprivate var frequency: String { Quantity.significant(self, digits: 5) + " Hz" }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(1, width - displayWidth))
    }
}
