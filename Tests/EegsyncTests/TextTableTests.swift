import Testing

@testable import eegsync

/// Tables on terminals of any width, and in pipes.
@Suite struct TextTableTests {
    @Test func columnsAlignAlsoWithWideAndCombiningCharacters() {
        var table = TextTable([.init(heading: "NAME"), .init(heading: "ROWS", alignment: .right), .init(heading: "LABEL")])
        table.append(["left", "12", "night"])
        table.append(["夜", "1,234", "cafe\u{301}"])
        table.append(["👍🏽", "7"])
        #expect(
            table.rendered(style: .plain) == [
                "NAME   ROWS  LABEL",
                "left     12  night",
                "夜    1,234  cafe\u{301}",
                "👍🏽        7",
            ])
    }

    @Test func longCellsTakeSeveralLinesOfANarrowTerminal() {
        var table = TextTable([.init(heading: "A"), .init(heading: "B", wraps: true), .init(heading: "C", alignment: .right)])
        table.append(["one", "some words that are long", "1"])
        #expect(table.rendered(style: .plain, columns: 80) == table.rendered(style: .plain))
        #expect(
            table.rendered(style: .plain, columns: 21) == [
                "A    B              C",
                "one  some words     1",
                "     that are long",
            ])
    }

    @Test func aHeadingIsNarrowedBeforeACell() {
        var table = TextTable([.init(heading: "MOVED AT MOST", alignment: .right), .init(heading: "B", wraps: true)])
        table.append(["0.12 ms", "some words"])
        #expect(
            table.rendered(style: .plain, columns: 20) == [
                "MOVED AT",
                "    MOST  B",
                " 0.12 ms  some words",
            ])
    }

    @Test func namesEndInAnEllipsisAtTheEdgeOfAWideCharacter() {
        var table = TextTable([.init(heading: "NAME", shortens: true), .init(heading: "N", alignment: .right)])
        table.append(["ein sehr langer Name", "1"])
        table.append(["左の脳波計の名前です", "2"])
        #expect(
            table.rendered(style: .plain, columns: 16) == [
                "NAME           N",
                "ein sehr lan…  1",
                "左の脳波計の…  2",
            ])
        #expect("左の脳".shortened(to: 4) == "左…")
        #expect("cafe\u{301}s".shortened(to: 5) == "cafe\u{301}s")
        #expect("cafe\u{301}s!".shortened(to: 5) == "cafe\u{301}…")
    }

    @Test func theColumnsThatMatterLeastGoAndAreNamed() {
        var table = TextTable([
            .init(heading: "NAME"), .init(heading: "ROWS", alignment: .right, dispensability: 1),
            .init(heading: "VIEWS", dispensability: 2), .init(heading: "N", alignment: .right),
        ])
        table.append(["left", "1,234,567", "eeg_1", "3"])
        #expect(table.rendered(style: .plain, columns: 26) == ["NAME       ROWS  VIEWS  N", "left  1,234,567  eeg_1  3"])
        #expect(
            table.rendered(style: .plain, columns: 21) == [
                "NAME       ROWS  N", "left  1,234,567  3", "Too narrow for: VIEWS",
            ])
        #expect(
            table.rendered(style: .plain, columns: 12) == ["NAME  N", "left  3", "Too narrow", "for: ROWS,", "VIEWS"])
    }

    @Test func anEmptyColumnGoesFirstAndUnnamed() {
        var table = TextTable([.init(heading: "NAME"), .init(heading: "CODE"), .init(heading: "TEXT", wraps: true)])
        table.append(["left", "", "some words"])
        #expect(table.rendered(style: .plain, columns: 16) == ["NAME  TEXT", "left  some words"])
        #expect(table.rendered(style: .plain, columns: 22) == ["NAME  CODE  TEXT", "left        some words"])
    }

    @Test func whereNothingMoreCanGoEachRowStandsAlone() {
        var table = TextTable([
            .init(heading: "FROM"), .init(heading: "NUMBER", alignment: .right), .init(heading: "EMPTY"),
            .init(heading: "VIEW"),
        ])
        table.append(["2026-03-01 22:00:00.250", "1", "", "accelerometer_1"])
        table.append(["2026-03-01 23:00:00.250", "2", "", "accelerometer_1"])
        #expect(
            table.rendered(style: .plain, columns: 34) == [
                "FROM    2026-03-01 22:00:00.250", "NUMBER  1", "VIEW    accelerometer_1", "",
                "FROM    2026-03-01 23:00:00.250", "NUMBER  2", "VIEW    accelerometer_1",
            ])
        #expect(
            table.rendered(style: .plain, columns: 25).prefix(5) == [
                "FROM", "  2026-03-01 22:00:00.250", "NUMBER", "  1", "VIEW",
            ])
    }

    @Test func aPipeGetsAllOfIt() {
        var table = TextTable([.init(heading: "A", shortens: true), .init(heading: "B", wraps: true, dispensability: 1)])
        let long = String(repeating: "word ", count: 100) + "end"
        table.append([.init(long), .init(long)])
        #expect(table.rendered(style: .plain) == ["A" + String(repeating: " ", count: 504) + "B", long + "  " + long])
    }

    /// What commands print, with what a person or the air makes long.
    private static var tables: [[String]: (TerminalStyle) -> [String]] {
        var wide = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "HEADSET", shortens: true),
            .init(heading: "FROM (Europe/Berlin)"), .init(heading: "ROWS", alignment: .right, dispensability: 2),
            .init(heading: "MISSING", alignment: .right), .init(heading: "VIEWS", wraps: true, dispensability: 4),
            .init(heading: "LABEL", wraps: true, dispensability: 3),
        ])
        for name in ["left", "左の脳波計の名前です", "שמאל", "\u{202E}tfel"] {
            wide.append([
                "12", .init(name), "2026-03-01 22:00:00.250 UTC+1", "123,456,789", "1,234", "eeg_1 accelerometer_2",
                "night 3, P07, sleep",
            ])
        }
        return [["wide"]: { wide.rendered(style: $0) }]
    }

    @Test(arguments: [80, 60, 50, 40])
    func noLineIsWiderThanTheTerminal(columns: Int) {
        var style = TerminalStyle.plain
        style.columns = columns
        for table in Self.tables.values {
            let lines = table(style)
            #expect(lines.allSatisfy { $0.displayWidth <= columns }, "\(lines)")
            // Each number and time is there as a whole.
            for whole in ["2026-03-01 22:00:00.250", "UTC+1", "1,234"] { #expect(lines.contains { $0.contains(whole) }) }
        }
    }

    @Test func whatIsWrittenFromRightToLeftReordersNothingBesideIt() {
        var table = TextTable([.init(heading: "NAME"), .init(heading: "N", alignment: .right)])
        table.append(["שמאל", "12"])
        var style = TerminalStyle.plain
        // A pipe gets the name as it is, a terminal isolated, and as wide.
        #expect(table.rendered(style: style)[1] == "שמאל  12")
        style.columns = 80
        #expect(table.rendered(style: style)[1] == "\u{2068}שמאל\u{2069}  12")
        #expect(table.rendered(style: style)[1].displayWidth == 8)
        // An override from the air is no character.
        var hostile = TextTable([.init(heading: "NAME")])
        hostile.append(["\u{202E}tfel"])
        #expect(hostile.rendered(style: style)[1] == "\u{FFFD}tfel")
    }

    @Test func aCellCannotSteerTheTerminal() {
        var table = TextTable([.init(heading: "L")])
        table.append(["a\u{1B}[2Jb\nc"])
        #expect(table.rendered(style: .plain)[1] == "a\u{FFFD}[2Jb\u{FFFD}c")
    }

    @Test func coloursDoNotCountAsWidth() {
        var table = TextTable([.init(heading: "A"), .init(heading: "B")])
        table.append([.init("ok", .good), "x"])
        let line = "\u{1B}[32mok\u{1B}[0m  x"
        #expect(table.rendered(style: TerminalStyle(isEnabled: true))[1] == line)
        #expect(table.rendered(style: TerminalStyle(isEnabled: true, columns: 5))[1] == line)
        #expect(Paragraph.fitted(line, columns: 5) == [line])
    }

    @Test func aLineIsBrokenBetweenWords() {
        #expect(Paragraph.fitted("  you can: start it again now", columns: 26) == ["  you can: start it again", "  now"])
        #expect(Paragraph.fitted("  as it is", columns: nil) == ["  as it is"])
        let styled = "\u{1B}[33mNothing is recorded yet:\u{1B}[0m eegsync run"
        #expect(
            Paragraph.fitted(styled, columns: 26) == ["\u{1B}[33mNothing is recorded yet:\u{1B}[0m", "eegsync run"])
    }
}
