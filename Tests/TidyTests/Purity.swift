/// What the pure targets and the tests must not do.
enum Purity {
    /// Targets without clock, task, chance or unordered iteration.
    static let pureTargets = ["Alerts", "AttributeProtocol", "Bluetooth", "Headsets", "Reconnection"]

    /// The same of a target whose other half holds file descriptors.
    static let pureFolders = ["Sources/KernelBluetooth/Conversation/", "Sources/Tap/"]

    /// What would make a pure target depend on something that is not handed to it.
    static func pure(_ file: SourceText) -> [Finding] {
        file.findings(
            matching: /^\s*((public|internal|package|private)\s+)?import\s+(Foundation|Glibc|Dispatch|CLinux)/,
            "a pure target imports the system")
            + file.findings(
                matching: /\b(Task|ContinuousClock|SuspendingClock|DispatchQueue|Thread|Date|Timer)\b\s*(\.|\(|\{)/,
                "a pure target has a clock or a task")
            + file.findings(matching: /\.now\b|\bclock_gettime\b/, "a pure target reads a clock")
            + file.findings(matching: /\bawait\b|\basync\b/, "a pure target waits")
            + file.findings(
                matching: /\.random\s*\(|\bSystemRandomNumberGenerator\b|\.randomElement\b|\.shuffle/,
                "a pure target throws dice")
            + unordered(file)
    }

    /// `Set` and `Dictionary` have another order in each process (their hash seed is random), so nothing pure goes through one.
    private static func unordered(_ file: SourceText) -> [Finding] {
        file.findings(
            matching:
                #/
                \bSet[<(] | \bDictionary[<(]
                | :\s* \[ [A-Z]\w*(\.\w+)* \s*:\s* [A-Za-z]
                | =\s* \[:\]
                | \[ [A-Z]\w* \s*:\s* \(?[A-Za-z][^\]]* \]\(\)
                /#,
            "a pure target holds a Set or a Dictionary")
    }

    /// Waiting on the real clock.
    static func sleeps(_ file: SourceText) -> [Finding] {
        file.findings(
            matching: /\b(u|nano)?sleep\s*\(|\bTask\.sleep\b|\bThread\.sleep\b|\bclock\.sleep\b|\bselect\(0,/,
            "a test sleeps on the real clock")
    }

    /// The same for tests in Python and the shell.
    static func scriptSleeps(_ file: SourceText) -> [Finding] {
        file.lines.indices.filter {
            file.lines[$0].contains(/(^|[;&|]\s*|\btime\.)\s*sleep[ (]/) && !file.lines[$0].contains(/^\s*#/)
        }
        .map { file.finding($0, "a test sleeps on the real clock") }
    }
}
