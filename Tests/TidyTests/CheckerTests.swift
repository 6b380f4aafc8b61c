import Testing

private func source(_ text: String) -> SourceText { SourceText(path: "Sources/Planted/Planted.swift", text: text) }

/// Every checker bites on a planted defect and leaves its harmless neighbour alone.
@Suite struct CheckerTests {
    @Test func commentsAndLiteralsAreNotCode() {
        let file = source(
            "let a = \"try! \\(b!.c(\"x!\")) y!\" // z!\nlet d = #\"e! \\(f!)\"#\n/* g! */let h = \"\"\"\n  i!\n  \"\"\"\n")
        #expect(file.code.joined().filter { $0 == "!" }.count == 1, "\(file.code)")
        #expect(file.code.map(\.count) == file.lines.map(\.count))
        #expect(file.code[0].contains("b!.c("))
    }

    @Test func aLongFileAndAWideLineAreFound() {
        #expect(Lengths.files(source(String(repeating: "a\n", count: 400))).isEmpty)
        #expect(Lengths.files(source(String(repeating: "a\n", count: 401))).map(\.line) == [0])
        #expect(Lengths.files(source("a\n" + String(repeating: "b", count: 129))).map(\.line) == [2])
    }

    @Test func aLongFunctionIsFound() {
        func function(_ head: String, lines: Int) -> SourceText {
            source("struct S {\n    \(head) {\n" + String(repeating: "        if a { b() }\n", count: lines - 2) + "    }\n}\n")
        }
        for head in [
            "func f()", "init(a: Int = 3)", "func f(\n        a: () -> Void\n    ) -> Int",
            "static func < (l: S, r: S) -> Bool",
        ] {
            #expect(Lengths.functions(function(head, lines: 60)).isEmpty, "\(head)")
            #expect(Lengths.functions(function(head, lines: 71)).map(\.line) == [2], "\(head)")
        }
    }

    @Test func aRequirementOfAProtocolIsNoLongFunction() {
        let body = String(repeating: "    func f(a: Int) -> Int\n\n", count: 60)
        #expect(Lengths.functions(source("protocol P {\n\(body)}\nstruct S {\n    func g() {}\n}\n")).isEmpty)
    }

    @Test func theMedianIsTheMiddle() {
        #expect(Lengths.median([]) == 0)
        #expect(Lengths.median([1, 500, 3]) == 3)
    }

    @Test(arguments: [
        "import Foundation", "public import Glibc", "Task { }", "let t = Date()", "let t = ContinuousClock.now", "await f()",
        "let r = Int.random(in: 0...1)", "array.shuffled()", "var s: Set<Int>", "var d: [String: Int] = [:]",
        "let d = Dictionary(grouping: a, by: b)", "let s = Set(a)", "clock_gettime(CLOCK_BOOTTIME, &t)",
        "let d = [Int: String]()",
    ]) func animpureLineIsFound(line: String) {
        #expect(Purity.pure(source(line)).count >= 1)
    }

    @Test(arguments: [
        "import Bluetooth", "// import Foundation", "let taskName = \"Task {\"", "func f(at now: MonotonicTime)",
        "let a = [1: 2]",
        "case asynchronous", "let limit: Duration", "let x = condition ? a : [b]", "f(a: [first, second])", "struct DataSet {}",
    ]) func apureLineIsLeftAlone(line: String) {
        #expect(Purity.pure(source(line)).isEmpty)
    }

    @Test(arguments: ["sleep(1)", "usleep(5)", "try await Task.sleep(for: .seconds(1))", "Thread.sleep(forTimeInterval: 1)"])
    func aSleepIsFound(line: String) {
        #expect(Purity.sleeps(source(line)).count == 1)
        #expect(Purity.sleeps(source("// " + line)).isEmpty)
    }

    @Test func aSleepInAScriptIsFound() {
        #expect(
            Purity.scriptSleeps(source("a && sleep 3\ntime.sleep(1)\nsleep 1\n# sleep 1\nasleep 1")).map(\.line) == [1, 2, 3])
    }

    @Test func aStrayNameAtTheTopIsFound() {
        #expect(Wording.topLevel(Wording.topLevel + [".git", "Package.resolved"]).isEmpty)
        #expect(Wording.topLevel(Wording.topLevel + ["Scripts"]).map(\.path) == ["Scripts"])
        #expect(Wording.topLevel(Wording.topLevel.filter { $0 != "LICENSE" }).map(\.path) == ["LICENSE"])
    }

    @Test func anEmptyNameIsFound() {
        for path in ["Sources/A/Utils/B.swift", "Sources/A/LinkManager.swift", "Sources/Common/A.swift"] {
            #expect(Wording.folders(path).count == 1, "\(path)")
        }
        #expect(Wording.folders("Sources/A/CommonMode.swift").isEmpty)
    }

    @Test func anUndocumentedPublicSymbolIsFound() {
        let text = """
            package final class A {
                /// Documented.
                package var a: Int
                package var b: Int
                /// Documented.
                @discardableResult
                package func c() {}
                package func f() {}
                package static var d: Int { 1 }
                package static func < (l: A, r: A) -> Bool { true }
                package init(a: Int) {}
                var e: Int
            }
            """
        #expect(Wording.undocumented(source(text)).map(\.line) == [1, 8, 9])
    }

    @Test func aWitnessNeedsNoSecondDocumentation() {
        let names = Wording.requirements(
            source("public protocol P {\n    func f(a: Int)\n    var b: Int { get }\n}\nfunc g() {}\n"))
        #expect(names == ["f", "b"])
        let witness = source("    public func f(a: Int) {}\n    public func h() {}\n")
        #expect(Wording.undocumented(witness, prescribed: names).map(\.line) == [2])
    }

    @Test func aPromiseIsFound() {
        #expect(Wording.promises(source("// TO" + "DO: later\n// to do")).map(\.line) == [1])
        #expect(Wording.promises(source("// FIX" + "ME")).count == 1)
    }

    @Test(arguments: [
        "for place in list.indices {}", "let lastPlace = 1", "var placeBits: Int", "for index in places {}",
        "func tell(_ event: Event) {}", "case .tellState:", "link.isTold = true", "var told: [Event] = []",
        "var tellsOfAll = true", "/// The state, as last told.", "// Told once.", "/// What tells that a sample is missing.",
        "it (untold)", "\"the file does not tell it\"", "| one place | a page |", "int tell_all(void);", "/// ``Central/tell``",
        "let URLPlace = 1",
    ])
    func aVagueWordIsFound(line: String) {
        #expect(VagueWords.findings(source(line)).count == 1)
        #expect(VagueWords.findings(SourceText(path: "Sources/A/A.docc/A.md", text: line)).count == 1)
    }

    @Test(arguments: [
        "let placement = Placement()", "/// A block that was placed.", "text.replace(a, b)", "replacing: old",
        "/// A satellite.", "let isMisplaced = true", "/// Instead of the replacement.", "stellar", "the workplace",
        "tellsIdentityInStatus = profile.sendsIdentityInStatus",
    ])
    func anExactWordIsLeftAlone(line: String) {
        #expect(VagueWords.findings(source(line)).isEmpty)
    }

    @Test func whereAVagueWordStandsIsNamed() {
        let findings = VagueWords.findings(source("let a = 1\n// no place to tell it\nlet told = 2"))
        #expect(findings.map(\.line) == [2, 2, 3])
        #expect(findings.map(\.rule) == ["place", "tell", "told"].map { "a vague word: \($0)" })
    }

    @Test func aPathOfAMachineIsFound() {
        #expect(
            Wording.machinePaths(source("let p = \"/home/ann/x\"\n\"\("/")work/a\"\n\"/var/lib/eegsync\"\n/homework/")).map(
                \.line)
                == [1, 2])
    }

    @Test(arguments: [
        "let a = try! f()", "let a = b!", "let a = b!.c", "f(b![0])", "a = x as! Y", "class A: @unchecked Sendable {}",
        "nonisolated(unsafe) var a = 1", "fatalError()",
    ])
    func anUnprovenEscapeIsFound(line: String) {
        #expect(Wording.unproven(source(line)).count == 1)
        #expect(Wording.unproven(source(line + "  // because")).isEmpty)
        #expect(Wording.unproven(source("// because\n" + line)).isEmpty)
    }

    @Test(arguments: ["if a != b {}", "if !a {}", "let s = \"a!\"", "a! = 1 // set", "x = !y", "guard !list.isEmpty else {}"])
    func whatIsNoEscapeIsLeftAlone(line: String) {
        #expect(Wording.unproven(source(line)).isEmpty)
    }
}
