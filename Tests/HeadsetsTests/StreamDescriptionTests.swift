import Headsets
import Testing

/// What is believed of a stream's description.
@Suite("A stream's description")
struct StreamDescriptionTests {
    private static let stream = StreamDescription(
        name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32,
        channels: ["C3", "C4"].map { ChannelDescription(name: $0, scale: 0.02, rawMinimum: -100, rawMaximum: 100) })

    private typealias Field = StreamDescriptionError.Field

    /// The field that is refused; nil where none is.
    private static func refused(_ change: (inout StreamDescription) -> Void) -> Field? {
        var stream = stream
        change(&stream)
        do throws(StreamDescriptionError) {
            try stream.check()
        } catch {
            switch error {
            case .stream(_, let field, _), .channel(_, _, let field, _): return field
            case .tooManyStreams, .repeatedStream: return nil
            }
        }
        return nil
    }

    @Test("is refused where nothing can be computed from it")
    func refusals() {
        let frequencies = [0, -1, 1e-10, 0.009, 100_001, 1e9, .nan, .infinity]
        #expect(frequencies.allSatisfy { frequency in Self.refused { $0.samplingFrequency = frequency } == .samplingFrequency })
        let scales = [0, 1e305, -1e31, .leastNonzeroMagnitude, .nan, -.infinity]
        #expect(scales.allSatisfy { scale in Self.refused { $0.channels[1].scale = scale } == .scale })
        // The last one swallows every step of the raw value.
        let offsets = [1e301, -.infinity, .nan, 1e20]
        #expect(offsets.allSatisfy { offset in Self.refused { $0.channels[0].offset = offset } == .offset })
        #expect([0, -3, 65_537, .max].allSatisfy { count in Self.refused { $0.samplesPerCount = count } == .samplesPerCount })
        #expect([0, 1, -5, 1 << 33].allSatisfy { modulus in Self.refused { $0.counterModulus = modulus } == .counterModulus })
        #expect(Self.refused { $0.channels = [] } == .channelCount)
        #expect(Self.refused { $0.channels += $0.channels + $0.channels + $0.channels + $0.channels } == .channelCount)
        #expect(Self.refused { $0.bank = -1 } == .bank)
        for name in ["", "a\nb", String(repeating: "x", count: 65)] {
            #expect(Self.refused { $0.name = name } == .name)
            #expect(Self.refused { $0.channels[0].name = name } == .name)
        }
        #expect(Self.refused { $0.channels[0].unit = "\u{7F}" } == .unit)
        #expect(Self.refused { ($0.channels[0].rawMinimum, $0.channels[0].rawMaximum) = (1, 0) } == .rawRange)
    }

    @Test("is believed at its bounds")
    func bounds() throws {
        #expect(Self.refused { $0.samplingFrequency = 0.01 } == nil)
        #expect(Self.refused { $0.samplingFrequency = 100_000 } == nil)
        #expect(Self.refused { $0.counterModulus = nil } == nil)
        #expect(Self.refused { ($0.channels[0].rawMinimum, $0.channels[0].rawMaximum) = (.min, .max) } == nil)
        #expect(Self.refused { $0.channels[0].scale = -1e-30 } == nil)
    }

    @Test("is refused beside too many others, and beside one of its name and bank")
    func lists() throws {
        let streams = (0..<65).map { index in
            var stream = Self.stream
            stream.name = "s\(index)"
            return stream
        }
        try StreamDescription.check(Array(streams.prefix(64)))
        #expect(throws: StreamDescriptionError.tooManyStreams(65)) { try StreamDescription.check(streams) }
        #expect(throws: StreamDescriptionError.repeatedStream(name: "eeg", bank: 0)) {
            try StreamDescription.check([Self.stream, Self.stream])
        }
    }

    @Test("of every model is believed")
    func models() throws {
        for profile in HeadsetCatalog.builtIn.profiles { try StreamDescription.check(profile.streams) }
        for preset in MuseAthenaPreset.allCases { try StreamDescription.check(MuseAthenaProfile(preset: preset).streams) }
    }
}
