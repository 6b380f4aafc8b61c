import Bluetooth
import Storage
import Testing

@testable import Tap

/// Messages, and the bytes that they are sent as.
@Suite struct TapFrameTests {
    private static func decode(_ bytes: [UInt8], pieceLength: Int) throws(TapError) -> [TapMessage] {
        var decoder = TapDecoder()
        var messages: [TapMessage] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.append(rest.prefix(pieceLength))
            rest = rest.dropFirst(pieceLength)
            while let message = try decoder.next() { messages.append(message) }
        }
        return messages
    }

    @Test(arguments: [1, 3, 23, 24, 100, 1 << 16])
    func whatIsReadIsWhatWasWritten(pieceLength: Int) throws {
        let bytes = TapExamples.messages.flatMap { $0.encoded() }
        #expect(try Self.decode(bytes, pieceLength: pieceLength) == TapExamples.messages)
    }

    @Test func everyKindHasAnExample() {
        #expect(Set(TapExamples.all.map(TapKind.init)) == Set(TapKind.allCases))
    }

    /// The layout that the page documents, byte by byte: a change of it is another version.
    @Test func theLayoutIsAsDocumented() {
        let commit = TapMessage(
            number: 0x0102, at: MonotonicTime(nanoseconds: 3),
            content: .committed(TapCommit(through: 9, rows: [.init(stream: StreamID(rawValue: 7), firstN: 5, count: 4)])))
        #expect(
            commit.encoded()
                == [56, 0, 0, 0, 15, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
                + [9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test func whatALaterVersionAddsIsLeftOut() throws {
        let greeting = TapExamples.messages[0]
        var unknown = TapExamples.messages[1].encoded()
        unknown[4] = 200
        var longer = TapExamples.messages[1].encoded()
        longer += [1, 2, 3]
        longer[0] += 3
        var decoder = TapDecoder()
        decoder.append((greeting.encoded() + unknown + longer)[...])
        #expect(try decoder.next() == greeting)
        #expect(try decoder.next() == TapExamples.messages[1], "fields behind those that are known are left out")
        #expect(try decoder.next() == nil)
        #expect(decoder.unknownCount == 1)
    }

    @Test func anotherVersionIsRefused() {
        let other = TapMessage(number: 0, at: .boot, content: .hello(TapHello(program: "9", droppedReaders: 0, version: 2)))
        #expect(throws: TapError.version(2)) { try Self.decode(other.encoded(), pieceLength: 100) }
        #expect(throws: TapError.malformed(kind: 2), "nobody has greeted") {
            try Self.decode(TapExamples.messages[1].encoded(), pieceLength: 100)
        }
    }

    @Test(arguments: [[0, 0, 0, 0], [19, 0, 0, 0], [1, 0, 16, 0], [255, 255, 255, 255]] as [[UInt8]])
    func aLengthThatNoFrameHasIsRefused(length: [UInt8]) {
        #expect(throws: TapError.self) { try Self.decode(length, pieceLength: 4) }
    }

    /// Each byte of each frame is changed, each frame is cut at each length: it is read as something or refused, and nothing
    /// else happens.
    @Test func damagedFramesAreReadOrRefused() {
        var refused = 0
        for message in TapExamples.messages {
            let frame = Array(message.encoded().dropFirst(4))
            for index in frame.indices {
                for value in [0, 1, 0x7F, 0xFF] as [UInt8] where frame[index] != value {
                    var damaged = frame
                    damaged[index] = value
                    if (try? TapMessage(frame: damaged)) == nil { refused += 1 }
                }
                if (try? TapMessage(frame: Array(frame[..<index]))) == nil { refused += 1 }
            }
        }
        #expect(refused > 1_000)
    }

    /// A length that lies makes no room for what is not there.
    @Test func announcedRowsThatDoNotComeAreRefused() {
        var frame = Array(TapMessage(number: 1, at: .boot, content: .samples(TapExamples.samples)).encoded().dropFirst(4))
        for offset in 0..<4 { frame[36 + offset] = 0xFF }
        #expect(throws: TapError.malformed(kind: 6)) { try TapMessage(frame: frame) }
    }

    @Test func aTextThatIsTooLongIsCutBetweenCharacters() throws {
        let text = String(repeating: "µ", count: 40_000)
        let message = TapMessage(
            number: 1, at: .boot, content: .refused(TapRefusal(recording: TapExamples.recording, through: 0, reason: text)))
        let read = try TapMessage(frame: Array(message.encoded().dropFirst(4)))
        guard case .refused(let refusal) = read?.content else {
            Issue.record("another kind")
            return
        }
        #expect(refusal.reason == String(repeating: "µ", count: 32_767))
    }

    @Test func timesOfRowsFollowTheMap() {
        #expect(TapExamples.samples.time(ofRow: 0) == MonotonicTime(nanoseconds: 5_000_000_000))
        #expect(TapExamples.samples.time(ofRow: 2) == MonotonicTime(nanoseconds: 5_008_000_025))
    }
}
