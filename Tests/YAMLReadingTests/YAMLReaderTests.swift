import Testing
import YAMLReading

/// Reads a mapping with one value of each kind.
private struct SmallReader: YAMLReader {
    var problems: [YAMLProblem] = []
    var found: [String] = []

    private enum Colour: String, CaseIterable {
        case red, green
    }

    /// What was read, or what is wrong.
    static func read(_ text: String) -> [String] {
        var reader = SmallReader()
        do throws(YAMLDocumentError) {
            reader.take(try reader.document(text, lengthMaximum: 4096))
            try reader.refuseProblems()
            return reader.found
        } catch {
            return error.problems.map(\.description)
        }
    }

    private mutating func take(_ root: YAMLValue) {
        let fields = fields(root, ["count", "scale", "flag", "colour", "title", "names"])
        found += integer(fields["count"], 0...100).map { ["\($0)"] } ?? []
        found += number(fields["scale"], 0.5...1e6, nonzero: true, unit: "uV").map { ["\($0)"] } ?? []
        found += flag(fields["flag"]).map { ["\($0)"] } ?? []
        found += word(fields["colour"], Colour.self).map { ["\($0)"] } ?? []
        found += text(fields["title"], limit: 8, allowed: "1 ... 8 characters").map { [$0] } ?? []
        if let names = fields["names"] { found += elements(names, "a list of names").compactMap(\.text) }
    }
}

@Suite("A YAML document")
struct YAMLReaderTests {
    @Test("is read with the types that were asked for")
    func right() {
        let text = "count: 0x1_0\nscale: (2^3 - 1) / 2\nflag: true\ncolour: green\ntitle: '12'\nnames: [a, ~, b]"
        #expect(SmallReader.read(text) == ["16", "3.5", "true", "green", "12", "a", "b"])
        #expect(SmallReader.read("scale: \"1e6 / 2\"") == ["500000.0"])
    }

    @Test(
        "has the line, the column and the key of each wrong value",
        arguments: [
            ("count: 101", "column 8: count: 101 is out of range; allowed is a whole number, 0 ... 100"),
            ("count: '7'", "column 8: count: '7' in quotes is not a whole number; allowed is a whole number, 0 ... 100"),
            ("count: 1.5", "column 8: count: '1.5' is not a whole number; allowed is a whole number, 0 ... 100"),
            ("count: ", "column 7: count: nothing is not a whole number; allowed is a whole number, 0 ... 100"),
            (
                "count: 99999999999999999999",
                "column 8: count: '99999999999999999999' is not a whole number; "
                    + "allowed is a whole number, 0 ... 100"
            ),
            ("scale: 1e9", "column 8: scale: 1000000000 is out of range; allowed is 0.5 ... 1000000 uV, not 0"),
            (
                "scale: .nan",
                "column 8: scale: '.nan' is not a number or a calculation such as 4.5e6 / (24 * (2^23 - 1)); "
                    + "allowed is 0.5 ... 1000000 uV, not 0"
            ),
            (
                "scale: \"1\"",
                "column 8: scale: '1' in quotes is not a number or a calculation such as "
                    + "4.5e6 / (24 * (2^23 - 1)); allowed is 0.5 ... 1000000 uV, not 0"
            ),
            ("flag: 'true'", "column 7: flag: 'true' in quotes is neither true nor false"),
            ("colour: gren", "column 9: colour: 'gren' is not one of the words; did you mean 'green'?"),
            ("colour: blue", "column 9: colour: 'blue' is not one of the words; allowed are red and green"),
            ("title: [a]", "column 8: title: a list is not a text; 1 ... 8 characters"),
            (
                "title: \"a\\nb\"",
                "column 8: title: the text is longer than 8 characters or has control characters; "
                    + "1 ... 8 characters"
            ),
            ("names: {a: b}", "column 8: names: a mapping is not a list; a list of names"),
            ("titel: a", "column 1: titel: unknown key; did you mean 'title'?"),
            ("title: !fill-in \"Which one?\"", "column 8: title: still to be filled in; Which one?"),
            (
                "[1]",
                "column 1: a list is not a mapping; "
                    + "allowed are the keys count, scale, flag, colour, title and names"
            ),
            ("title: a\n\u{7}", "this is not YAML: control characters are not allowed"),
        ])
    func wrong(text: String, problem: String) {
        let found = SmallReader.read(text)
        #expect(found.count == 1 && found.first?.hasSuffix(problem) == true, "\(found)")
    }

    @Test("tells all of its problems at once, in the order of the text, and no more than anybody reads")
    func several() {
        let found = SmallReader.read("flag: 1\ncount: -1\nzzz: 3\ncolour: rad")
        #expect(found.map { String($0.prefix(6)) } == ["line 1", "line 2", "line 3", "line 4"])
        let many = (0..<300).map { "k\($0): 1" }.joined(separator: "\n")
        #expect(SmallReader.read(many).count == YAMLDocumentError.problemsMaximum)
    }

    @Test("ends where it is no YAML, too large, too deep or repeats itself for ever")
    func bounded() {
        #expect(SmallReader.read("a: [") == ["line 2, column 1: this is not YAML: did not find expected node content"])
        #expect(SmallReader.read("") == ["this is not YAML: the text is empty"])
        let twice = "the key 'count' is written twice, first in line"
        for (text, wrong) in [
            ("count: 1\ncount: 2", "line 2, column 1: this is not YAML: \(twice) 1"),
            ("a:\n  count: 1\n  b: {count: 4}\n\n  \"count\" : 2", "line 5, column 3: this is not YAML: \(twice) 2"),
            ("a: {count: 1, b: 2, count: 3}", "line 1, column 21: this is not YAML: \(twice) 1"),
            ("- count: 1\n  count: 2\n- count: 3", "line 2, column 3: this is not YAML: \(twice) 1"),
        ] { #expect(SmallReader.read(text) == [wrong]) }
        #expect(SmallReader.read(String(repeating: "#", count: 5000)) == ["the text is larger than 4 KiB"])
        #expect(SmallReader.read("a: " + String(repeating: "[", count: 70) + String(repeating: "]", count: 70)).count == 1)
        let doubling = (0..<30).map { "a\($0): &a\($0) [*a\(max(0, $0 - 1)), *a\(max(0, $0 - 1))]" }
        #expect(SmallReader.read(doubling.joined(separator: "\n")) == ["the text has more than 40 anchors and aliases"])
        let few = "a0: &a0 [1,1]\n" + (1..<14).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }.joined(separator: "\n")
        #expect(SmallReader.read(few) == ["the text has more than 20000 values, or is nested too deeply"])
    }

    @Test("suggests the word that a wrong one is closest to")
    func spelling() {
        #expect(Spelling.suggestion(for: "chanels", among: ["channels", "unit"]) == "did you mean 'channels'?")
        #expect(Spelling.suggestion(for: "rate", among: ["sampling_rate"]) == "did you mean 'sampling_rate'?")
        #expect(Spelling.suggestion(for: "x", among: ["channels", "unit"]) == "allowed are channels and unit")
        #expect(Spelling.suggestion(for: String(repeating: "x", count: 100), among: []) == "")
    }
}
