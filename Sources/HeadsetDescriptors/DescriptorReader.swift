import Bluetooth
public import Headsets
import Yams

/// Reads a headset's descriptor and complains about everything in it that is not exactly right, all at once.
public struct DescriptorReader {
    /// The version of the format that this program reads.
    public static let version = 1
    /// The most bytes of a descriptor.
    public static let lengthMaximum = 131_072
    /// The most values, aliases followed.
    static let valuesMaximum = 20_000
    /// The most signs that could be an anchor or an alias. Each alias can at most double what stands below it.
    private static let aliasSignsMaximum = 40

    var problems: [DescriptorProblem] = []
    /// Characteristics by the names that the descriptor gives them.
    var characteristics: [(name: String, uuid: BluetoothUUID)] = []
    var streams: [DraftStream] = []
    private var valueCount = 0

    /// A stream, and what its sources say about it.
    struct DraftStream {
        var stream: DescribedStream
        var node: DescriptorNode
        /// The channels that say their own range.
        var hasRange: [Bool]
        /// Whether the descriptor says how many samples a step of the counter stands for.
        var hasSamplesPerCount = false
        /// Whether the descriptor says the modulus.
        var hasModulus = false
        /// The channels that packets fill.
        var filled: [Bool]
    }

    private init() {}

    /// Reads a text.
    ///
    /// - Parameter takenModels: identifiers of built-in models, which no descriptor may have.
    /// - Throws: ``DescriptorError``, with all problems at once.
    public static func read(_ text: String, takenModels: [String] = []) throws(DescriptorError) -> HeadsetDescriptor {
        var reader = DescriptorReader()
        let root = DescriptorNode(node: try compose(text), path: "")
        guard reader.survey(root, depth: 0) else {
            throw .tooLarge(reason: "the descriptor has more than \(valuesMaximum) values, or is nested too deeply")
        }
        let descriptor = reader.descriptor(root, takenModels: takenModels)
        guard let descriptor, reader.problems.isEmpty else {
            let inOrder = reader.problems.enumerated().sorted {
                ($0.element.line ?? 0, $0.element.column ?? 0, $0.offset) < (
                    $1.element.line ?? 0, $1.element.column ?? 0, $1.offset
                )
            }
            throw .invalid(Array(inOrder.map(\.element).prefix(DescriptorError.problemsMaximum)))
        }
        return descriptor
    }

    private static func compose(_ text: String) throws(DescriptorError) -> Node {
        guard text.utf8.count <= lengthMaximum else {
            throw .tooLarge(reason: "the descriptor is larger than \(lengthMaximum / 1024) KiB")
        }
        // Aliases of aliases can stand for more values than there are atoms; they are counted before anything follows them.
        let signs = text.utf8.count { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "*") }
        let words = text.split { $0 == "\n" || $0 == " " || $0 == "," || $0 == "[" || $0 == "{" || $0 == "-" || $0 == ":" }
        guard
            signs <= aliasSignsMaximum
                || words.count(where: { $0.count > 1 && ($0.hasPrefix("&") || $0.hasPrefix("*")) }) <= aliasSignsMaximum
        else { throw .tooLarge(reason: "the descriptor has more than \(aliasSignsMaximum) anchors and aliases") }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw DescriptorError.malformed(line: nil, column: nil, reason: "the text is empty")
            }
            return node
        } catch let error as DescriptorError {
            throw error
        } catch let error as YamlError {
            throw DescriptorError(error)
        } catch {
            throw .malformed(line: nil, column: nil, reason: "it cannot be read")
        }
    }

    /// Counts the values, and collects those that are still to be filled in; false where there are too many.
    private mutating func survey(_ node: DescriptorNode, depth: Int) -> Bool {
        valueCount += 1
        guard valueCount <= Self.valuesMaximum, depth < 64 else { return false }
        if node.isOpen {
            let question = DescriptorNode.printable(node.node.scalar?.string ?? "")
            var problem = node.problem("still to be filled in", question.isEmpty ? "" : fullQuestion(node))
            problem.isOpenFact = true
            problems.append(problem)
            return true
        }
        for (_, value) in node.entries ?? [] where !survey(value, depth: depth + 1) { return false }
        for element in node.elements ?? [] where !survey(element, depth: depth + 1) { return false }
        return true
    }

    private func fullQuestion(_ node: DescriptorNode) -> String {
        let text = node.node.scalar?.string ?? ""
        return String(text.prefix(300)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    // MARK: The whole

    private static let keys = [
        "descriptor", "model", "name", "about", "recognise", "gatt", "epoch", "memory", "timing", "streams", "sources",
        "commands",
    ]

    private mutating func descriptor(_ root: DescriptorNode, takenModels: [String]) -> HeadsetDescriptor? {
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
        descriptor.about = text(optional("about", found), limit: 4000, allowed: "a text") ?? ""
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

    private mutating func model(_ found: DescriptorFields, takenModels: [String]) -> String? {
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

    private mutating func timing(_ found: DescriptorFields) -> ProfileTiming {
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

extension DescriptorError {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self = .malformed(line: mark.line, column: mark.column, reason: problem)
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.first.map(DescriptorNode.printable) ?? "?"
            self = .malformed(line: context.mark.line, column: context.mark.column, reason: "the key '\(key)' is written twice")
        case .reader(let problem, _, _, _): self = .malformed(line: nil, column: nil, reason: problem)
        default: self = .malformed(line: nil, column: nil, reason: "it cannot be read")
        }
    }
}
