import Storage
import Testing

@testable import eegsync

/// Tables of events from anywhere.
@Suite struct EventTableTests {
    private func rows(_ text: String, separator: Character = ",") throws -> [[String]] {
        var table = DelimitedText(Array(text.utf8), separator: separator.asciiValue ?? 0)
        var rows: [[String]] = []
        while let row = try table.next() { rows.append(row.fields) }
        return rows
    }

    @Test func quotesHoldSeparatorsLinesAndQuotes() throws {
        #expect(try rows("a,\"b,\"\"c\"\"\r\nd\",e\r\n\r\n,\n\"\"") == [["a", "b,\"c\"\r\nd", "e"], ["", ""]])
        #expect(try rows("a\tb\rc", separator: "\t") == [["a", "b"], ["c"]])
        #expect(try rows("\u{FEFF}a") == [["a"]])
        for wrong in ["\"a", "\"a\"b,c", "a,\"b\n"] {
            #expect(throws: DelimitedText.Problem.self, "\(wrong)") { try rows(wrong) }
        }
    }

    @Test func whateverTheBytesAreTheyAreReadOrRefused() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let alphabet = Array("onset,value\n\"\r\t.-0123456789en/a".utf8) + [0, 0xFF, 0xC3, 0x28]
        for _ in 0..<2000 {
            var bytes = Array("onset,value,description\n".utf8)
            for _ in 0..<60 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            let table = EventTable(bytes, separator: UInt8(ascii: ","), stream: nil)
            #expect(!table.events.isEmpty || !table.problems.isEmpty)
        }
    }

    @Test func tablesThatSayNothingAreRefused() {
        for text in [
            "", "\n\n", "a,b\n1,2\n", "onset\n1\n", "onset,onset,value\n", "onset,time,value\n1,2,3\n", "onset,value\n",
        ] {
            let table = EventTable(Array(text.utf8), separator: UInt8(ascii: ","), stream: nil)
            #expect(table.events.isEmpty && table.problems.count == 1, "\(text)")
        }
        let hugeNumbers = "onset,value,duration\n1e999,1,1\n1,1e30,1\n1,1,1e300\n1,9223372036854775808,n/a\n"
        #expect(
            EventTable(Array(hugeNumbers.utf8), separator: UInt8(ascii: ","), stream: nil).problems.map(\.line) == [2, 3, 4, 5])
    }

    @Test func numbersAreDecimal() {
        let text = "onset,value,duration\n0x10,1,1\n1,0x1p3,1\n1,1,0x1\n1e1,1.0,2.5\n"
        let table = EventTable(Array(text.utf8), separator: UInt8(ascii: ","), stream: nil)
        #expect(table.problems.map(\.line) == [2, 3, 4])
        #expect(table.events.map(\.annotation.durationSeconds) == [2.5])
    }

    @Test func thereIsALimit() {
        let text = "onset,value\n" + String(repeating: "1,1\n", count: EventTable.eventCountMaximum + 1)
        let table = EventTable(Array(text.utf8), separator: UInt8(ascii: ","), stream: nil)
        #expect(table.problems.map(\.reason) == ["more than 100000 events"])
        let wide = String(repeating: "a,", count: 300)
        #expect(EventTable(Array(wide.utf8), separator: UInt8(ascii: ","), stream: nil).problems.count == 1)
    }
}
