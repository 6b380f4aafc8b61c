/// Something that reads bytes which anybody may have sent, and the rules that it obeys whatever they are.
///
/// `Tests/Fuzz/run` gives it to libFuzzer; the tests give it the kept corpus.
package struct FuzzTarget: Sendable {
    /// The name, as in `Tests/Fuzz/run NAME` and of the corpus file.
    package var name: String
    /// Reads one input; returns the rule that was broken, or nil. What is worse than a broken rule ends the process.
    package var run: @Sendable ([UInt8]) -> String?

    /// Creates a target.
    package init(_ name: String, run: @escaping @Sendable ([UInt8]) -> String?) {
        self.name = name
        self.run = run
    }

    /// Everything that is fuzzed: the way from packets to the database, the decoder of each model of the catalog, and the
    /// readers of all else that comes from outside, from a radio, a file or a network.
    package static let all: [FuzzTarget] = acquisitions + decoders + descriptors + parsers + requests

    /// The target of a name, those with a defect included.
    package static func named(_ name: String) -> FuzzTarget? {
        (all + planted).first { $0.name == name }
    }
}

/// Takes an input apart: what libFuzzer mutates is one string of bytes, what is fed is many.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The next byte; 0 behind the end.
    mutating func byte() -> Int { rest.popFirst().map(Int.init) ?? 0 }

    /// False behind the end.
    var hasMore: Bool { !rest.isEmpty }

    /// The next piece: a length byte and as many bytes, or what is left; nil behind the end.
    mutating func piece() -> [UInt8]? {
        guard let length = rest.popFirst() else { return nil }
        defer { rest = rest.dropFirst(Int(length)) }
        return Array(rest.prefix(Int(length)))
    }
}
