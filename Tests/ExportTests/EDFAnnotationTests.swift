import Testing

@testable import Export

@Suite struct EDFAnnotationTests {
    @Test("An annotation is encoded as the specification's examples are")
    func bytes() {
        let annotation = EDFAnnotation(onsetMicroseconds: 180_000_000, durationMicroseconds: 25_500_000, text: "Apnea")
        #expect(annotation.bytes == Array("+180\u{15}25.5\u{14}Apnea\u{14}\u{0}".utf8))
        let early = EDFAnnotation(onsetMicroseconds: -65_000, durationMicroseconds: nil, text: "µ")
        #expect(early.bytes == [0x2D, 0x30, 0x2E, 0x30, 0x36, 0x35, 0x14, 0xC2, 0xB5, 0x14, 0x00])
        #expect(EDFAnnotation.timeKeeping(567_000_001) == Array("+567.000001\u{14}\u{14}\u{0}".utf8))
    }

    @Test("What is encoded is parsed")
    func parse() {
        let annotations = [
            EDFAnnotation(onsetMicroseconds: 1, durationMicroseconds: nil, text: ""),
            EDFAnnotation(onsetMicroseconds: -1_500_000, durationMicroseconds: 0, text: "a b"),
            EDFAnnotation(onsetMicroseconds: 9_000_000_000_000, durationMicroseconds: 1_000_001, text: "µ"),
        ]
        let bytes = EDFAnnotation.timeKeeping(1) + annotations[1].bytes + annotations[2].bytes + [0, 0, 0]
        #expect(EDFAnnotation.parse(bytes) == annotations)
    }

    @Test("Bytes that are no lists are refused", arguments: ["+1", "x\u{14}\u{14}", "+1\u{15}\u{14}a\u{14}", "+1\u{14}a", "+1.1234567\u{14}\u{14}"])
    func garbage(text: String) {
        #expect(EDFAnnotation.parse(Array(text.utf8) + [0]) == nil)
    }

    @Test("Control characters, which end a list or hide an annotation from readers, become spaces")
    func controls() {
        let made = EDFAnnotation.annotations(onset: 0, duration: nil, text: "a\u{14}b\u{0}c\nd\te")
        #expect(made.map(\.text) == ["a b c d e"])
    }

    @Test("A long text is continued in further annotations and loses nothing")
    func longText() {
        let text = String((0..<1000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) }) + "ééé"
        let made = EDFAnnotation.annotations(onset: 5, duration: nil, text: text)
        #expect(made.count == 3)
        #expect(made.allSatisfy { $0.text.utf8.count <= EDFAnnotation.textLimit })
        #expect(made[0].text.hasPrefix("(1/3) abc"))
        #expect(made.map { $0.text.dropFirst(6) }.joined() == text)
    }
}
