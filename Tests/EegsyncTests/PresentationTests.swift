import Testing

@testable import eegsync

@Suite struct PresentationTests {
    @Test func wordsStandBehindTheirHeadWhereTheTerminalHasRoomForTwoColumns() {
        let words = "a remedy of several words in a sentence"
        #expect(
            Paragraph.block(words, head: "head  ", indent: 6, columns: 30) == [
                "head  a remedy of several", "      words in a sentence",
            ])
        #expect(Paragraph.block(words, head: "head  ", indent: 6, columns: 29) == ["head  " + words])
        #expect(Paragraph.block("", head: "head", indent: 4, columns: nil) == ["head"])
    }

    @Test func coloursNeedATerminalAndNobodyWhoRefusesThem() {
        #expect(TerminalStyle.detected(isTerminal: true, environment: [:]).isEnabled)
        #expect(TerminalStyle.detected(isTerminal: true, environment: ["NO_COLOR": ""]).isEnabled)
        #expect(!TerminalStyle.detected(isTerminal: true, environment: ["NO_COLOR": "0"]).isEnabled)
        #expect(!TerminalStyle.detected(isTerminal: true, environment: ["TERM": "dumb"]).isEnabled)
        #expect(!TerminalStyle.detected(isTerminal: false, environment: [:]).isEnabled)
        #expect(TerminalStyle.plain.apply(.bad, to: "x") == "x")
    }

    @Test(
        "Of a name from the air nothing stays that a terminal obeys or nobody sees",
        arguments: ["\u{1B}", "\n", "\u{7F}", "\u{9B}", "\u{200E}", "\u{200F}", "\u{61C}", "\u{200B}", "\u{200D}", "\u{FEFF}"]
            + ["\u{AD}", "\u{2028}", "\u{115F}", "\u{E0041}"]
            + (Array(0x202A...0x202E) + Array(0x2066...0x2069)).compactMap { Unicode.Scalar(UInt32($0)).map { String($0) } })
    func invisible(character: String) {
        #expect("Muse\(character)-0666".printable == "Muse\u{FFFD}-0666")
        #expect("\(character)".printable == "\u{FFFD}")
    }

    @Test(
        "A name that a person sees stays as it is",
        arguments: ["Muse-0666", "脳波計", "Gehirn β-Wellen", "❤\u{FE0F}", "👩\u{200D}💻"])
    func visible(name: String) { #expect(name.printable == name) }

    @Test func theProgressBarFitsTheTerminal() {
        #expect(ProgressBar.line(label: "exporting", perMille: 500, columns: 40) == "exporting [#########..........]  50.0 %")
        #expect(ProgressBar.line(label: "exporting", perMille: 1000, columns: 20) == "exporting 100.0 %")
        #expect(ProgressBar.line(label: "exporting", perMille: 0, columns: 200).displayWidth < 80)
        for columns in [25, 40, 80, 200] {
            #expect(ProgressBar.line(label: "exporting", perMille: 333, columns: columns).displayWidth < columns)
        }
    }

    @Test(
        arguments: [(0, 0, 1000), (0, 10, 0), (5, 10, 500), (11, 10, 1000), (-1, 10, 0), (Int64.max, Int64.max, 1000)]
            as [(Int64, Int64, Int)])
    func progressStaysWithinItsBounds(done: Int64, total: Int64, perMille: Int) {
        #expect(ProgressBar.perMille(done: done, total: total) == perMille)
    }

    @Test(arguments: [
        (Duration.zero, "0 ms"), (.milliseconds(85), "85 ms"), (.microseconds(999_600), "1.0 s"),
        (.milliseconds(4_200), "4.2 s"),
        (.milliseconds(59_960), "1 min 00 s"), (.seconds(185), "3 min 05 s"), (.seconds(7_380), "2 h 03 min"),
        (.seconds(12 * 86_400 + 4 * 3600), "12 d 4 h"), (.seconds(-5), "-5.0 s"),
    ])
    func durationsReadWell(duration: Duration, text: String) {
        #expect(Quantity.duration(duration) == text)
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"), (4_700_000, "4.7 MB"), (Int64.max, "9223.4 PB"),
        ] as [(Int64, String)])
    func bytesReadWell(bytes: Int64, text: String) {
        #expect(Quantity.bytes(bytes) == text)
    }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int64.min, "-9,223,372,036,854,775,808"),
        ] as [(Int64, String)])
    func countsReadWell(count: Int64, text: String) {
        #expect(Quantity.count(count) == text)
    }

    @Test func nounsHaveTheirNumber() {
        #expect(Quantity.count(1, "sample") == "1 sample")
        #expect(Quantity.count(0, "sample") == "0 samples")
    }

    @Test func frequenciesReadWell() {
        #expect(Quantity.frequency(250) == "250 Hz")
        #expect(Quantity.frequency(249.93) == "249.9 Hz")
        #expect(Quantity.frequency(.nan) == "unknown")
    }

    @Test func timesAreUTC() {
        #expect(Quantity.time(unixNanoseconds: 0) == "1970-01-01 00:00:00.000")
        #expect(Quantity.time(unixNanoseconds: 1_709_210_096_789_000_000) == "2024-02-29 12:34:56.789")
        #expect(Quantity.time(unixNanoseconds: -1_000_000) == "1969-12-31 23:59:59.999")
    }

    @Test func documentsHaveSortedSnakeCaseKeys() throws {
        struct Example: Facts {
            var rowCount = 2
            var databasePath = "/a/b"
            func lines(style: TerminalStyle) -> [String] { [] }
        }
        #expect(try Example().json() == "{\n  \"database_path\" : \"/a/b\",\n  \"row_count\" : 2\n}")
    }
}
