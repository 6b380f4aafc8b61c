import Bluetooth
package import Headsets
package import YAMLReading

/// Reads a headset's descriptor and complains about everything in it that is not exactly right, all at once.
package struct DescriptorReader: YAMLReader {
    /// The version of the format that this program reads.
    package static let version = 1
    /// The most bytes of a descriptor.
    package static let lengthMaximum = 131_072
    package var problems: [YAMLProblem] = []
    /// Characteristics by the names that the descriptor gives them.
    var characteristics: [(name: String, uuid: BluetoothUUID)] = []
    var streams: [DraftStream] = []

    /// A stream, and what its sources say about it.
    struct DraftStream {
        var stream: DescribedStream
        var node: YAMLValue
        /// The channels that say their own range.
        var hasRange: [Bool]
        /// Whether the descriptor says how many samples a step of the counter stands for.
        var hasSamplesPerCount = false
        /// Whether the descriptor says the modulus.
        var hasModulus = false
        /// The bits of the counter in its packets, 0 where they have none; nil before the first of them.
        var counterBits: Int?
        /// The channels that packets fill.
        var filled: [Bool]
    }

    private init() {}

    /// Reads a text.
    ///
    /// - Parameter takenModels: identifiers of built-in models, which no descriptor may have.
    /// - Throws: ``YAMLDocumentError``, with all problems at once.
    package static func read(_ text: String, takenModels: [String] = []) throws(YAMLDocumentError) -> HeadsetDescriptor {
        var reader = DescriptorReader()
        let root = try reader.document(text, lengthMaximum: lengthMaximum)
        let descriptor = reader.descriptor(root, takenModels: takenModels)
        try reader.refuseProblems()
        return descriptor
    }

    // MARK: The whole

    private static let keys = [
        "descriptor", "model", "name", "about", "recognise", "gatt", "epoch", "memory", "timing", "streams", "sources",
        "commands",
    ]

    private mutating func descriptor(_ root: YAMLValue, takenModels: [String]) -> HeadsetDescriptor {
        let found = fields(root, Self.keys)
        if let node = required("descriptor", found, "write 'descriptor: \(Self.version)', the version of the format"),
            let version = integer(node, 1...9999), version != Self.version
        {
            complain(node, "version \(version) of the format is not known to this eegsync", "it reads \(Self.version)")
        }
        let model = model(found, takenModels: takenModels)
        let name = text(required("name", found, "a name for people"), limit: 64, allowed: "1 ... 64 characters")
        let gatt = optional("gatt", found).map { gattFields($0) }
        let recognition = recognition(found)
        let memory = word(
            optional("memory", found), [("none", MemoryCapability.none), ("buffered-eeg", .bufferedEEGService)])
        let epoch = word(optional("epoch", found), [("connection", EpochRule.connection), ("boot", .boot)])
        readStreams(found, isDescribedByHeadset: memory == .bufferedEEGService)
        var descriptor = HeadsetDescriptor(
            model: model ?? "", displayName: name ?? "", recognition: recognition,
            services: gatt.map { services($0) } ?? [], timing: timing(found))
        descriptor.about = text(optional("about", found), limit: 4000, allowed: "a text", hasLines: true) ?? ""
        descriptor.epochRule = epoch ?? (memory == .bufferedEEGService ? .boot : .connection)
        descriptor.memory = memory ?? .none
        if descriptor.services.isEmpty { descriptor.services = recognition.serviceUUIDs }
        if let gatt { discriminate(gatt, &descriptor) }
        descriptor.sources = sources(found, hasMemory: memory == .bufferedEEGService)
        // A classic headset is known by its serial port.
        if descriptor.services.isEmpty, descriptor.sources.contains(where: { $0.characteristic == .serialPort }) {
            descriptor.services = [.serialPort]
        }
        descriptor.commands = commands(found)
        settleStreams(&descriptor)
        return descriptor
    }

    private mutating func model(_ found: YAMLFields, takenModels: [String]) -> String? {
        let allowed = "allowed are 1 ... 32 lower-case letters, digits and '-'"
        guard let node = required("model", found, allowed), let model = text(node, limit: 32, allowed: allowed) else {
            return nil
        }
        let isLegal = model.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "-")
        }
        if !isLegal { complain(node, "\(node.kind) is no identifier for a model", allowed) }
        if takenModels.contains(model) { complain(node, "'\(model)' is a built-in model", "choose another identifier") }
        return model
    }

    private mutating func timing(_ found: YAMLFields) -> ProfileTiming {
        let keys = [
            "packet_period_milliseconds", "silence_limit_milliseconds", "status_limit_milliseconds",
            "step_limit_milliseconds", "keep_alive_seconds",
        ]
        func milliseconds(_ value: Double?) -> Duration? { value.map { .nanoseconds(Int64(($0 * 1e6).rounded())) } }
        guard let node = required("timing", found, "a mapping with 'packet_period_milliseconds'") else {
            return ProfileTiming(packetPeriod: .milliseconds(40), silenceLimit: .milliseconds(2500))
        }
        let timing = fields(node, keys)
        let period = number(
            required("packet_period_milliseconds", timing, "the time between two notifications while streaming"), 0.1...60_000)
        let packetPeriod = milliseconds(period) ?? .milliseconds(40)
        let silenceNode = optional("silence_limit_milliseconds", timing)
        let silence = milliseconds(number(silenceNode, 100...600_000)) ?? max(.milliseconds(2500), packetPeriod * 20)
        if let silenceNode, silence <= packetPeriod {
            complain(
                silenceNode, "a headset would count as silent between two of its packets",
                "make it longer than 'packet_period_milliseconds'")
        }
        return ProfileTiming(
            packetPeriod: packetPeriod, silenceLimit: silence,
            statusLimit: milliseconds(number(optional("status_limit_milliseconds", timing), 10...60_000)) ?? .seconds(1),
            stepLimit: milliseconds(number(optional("step_limit_milliseconds", timing), 100...120_000)) ?? .seconds(3),
            keepAliveInterval: milliseconds(number(optional("keep_alive_seconds", timing), 0.1...3600).map { $0 * 1000 }))
    }
}
