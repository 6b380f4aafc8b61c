import Testing

private let (sources, migrations, tests) = (Tree.sources, Tree.migrations, Tree.tests)

/// The folder below `Sources` that a file belongs to.
private func target(of file: SourceText) -> String {
    let parts = file.path.split(separator: "/")
    return parts.first == "Sources" && parts.count > 2 ? String(parts[1]) : String(parts.first ?? "")
}

private func report(_ findings: [Finding]) -> Comment {
    "\(findings.map(\.description).joined(separator: "\n"))"
}

/// The tree as it is obeys the rules of the house.
@Suite struct TreeTests {
    @Test func thereIsSomethingToCheck() {
        #expect(sources.count > 10 && tests.count > 5)
    }

    @Test func noFileIsTooLongAndNoLineTooWide() {
        let findings = (sources + migrations + tests).flatMap(Lengths.files)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func noFunctionIsTooLong() {
        let findings = (sources + migrations + tests).flatMap(Lengths.functions)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func theMedianFileIsShort() {
        #expect(Lengths.median(sources.map(\.lineCount)) <= Lengths.medianLimit)
    }

    @Test func thePureTargetsArePure() {
        let pure = sources.filter { file in
            Purity.pureTargets.contains(target(of: file)) || Purity.pureFolders.contains(where: file.path.hasPrefix)
        }
        let findings = pure.flatMap(Purity.pure)
        #expect(findings.isEmpty, report(findings))
        #expect(Purity.pureFolders.allSatisfy { folder in pure.contains { $0.path.hasPrefix(folder) } })
    }

    @Test func noTestSleeps() {
        let scripts = Tree.files(below: "Tests", withExtensions: ["py", "sh", "", "bash"])
        let findings = tests.flatMap(Purity.sleeps) + scripts.flatMap(Purity.scriptSleeps)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func theTopOfTheTreeIsFixed() throws {
        let findings = Wording.topLevel(try Tree.topLevelNames())
        #expect(findings.isEmpty, report(findings))
    }

    @Test func noNameIsWithoutMeaning() {
        let findings = (sources + migrations + tests).map(\.path).flatMap(Wording.folders)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func everyPublicSymbolIsDocumented() {
        let prescribed = sources.flatMap(Wording.requirements)
        let findings = (sources + migrations).flatMap { Wording.undocumented($0, prescribed: prescribed) }
        #expect(findings.isEmpty, report(findings))
    }

    @Test func nothingIsPromisedForLater() {
        let all = ["Sources", "Tests", "Migrations", "Deploy"].flatMap { Tree.files(below: $0, withExtensions: []) }
        let findings = all.flatMap(Wording.promises)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func everyWordIsExact() {
        let all = Tree.files(below: "Sources", withExtensions: [])
        let findings = all.flatMap(VagueWords.findings)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func noPathOfAMachineIsInTheTree() {
        let all = ["Sources", "Tests", "Migrations", "Deploy"].flatMap { Tree.files(below: $0, withExtensions: []) }
        let findings = all.filter { !$0.path.hasPrefix("Tests/TidyTests/") }.flatMap(Wording.machinePaths)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func everyEscapeFromTheCompilerIsProven() {
        let findings = (sources + migrations).flatMap(Wording.unproven)
        #expect(findings.isEmpty, report(findings))
    }

    @Test func theReadmeIsShort() throws {
        let readme = SourceText(path: "README.md", text: try Tree.text("README.md"))
        #expect(readme.lineCount <= Lengths.readmeLimit)
        let findings = Wording.machinePaths(readme) + Wording.promises(readme)
        #expect(findings.isEmpty, report(findings))
    }
}
