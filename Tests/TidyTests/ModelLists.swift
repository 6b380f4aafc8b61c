/// Lists of headsets that somebody would have to keep: a new headset is its folder, its simulator, its firmware in the lab and
/// its page, and nothing else that is shared names it.
enum ModelLists {
    /// So many lines that follow each other are one list.
    private static let lineCount = 4
    /// Fewer models than these are an example, or what a test is about.
    private static let modelCount = 3

    /// The models of the program, by what their profiles say of themselves.
    static func models(_ profiles: [SourceText]) -> [String] {
        profiles.flatMap(\.lines).compactMap {
            !$0.holds("package var model: String {")
                ? nil : $0.firstMatch(of: /^    package var model: String \{ "([a-z0-9-]+)" \}$/).map { String($0.1) }
        }
    }

    /// True for a file that is one headset's own.
    static func isOfOneHeadset(_ path: String) -> Bool {
        path.contains(/^Sources\/(Headsets\/(?!Profile\/)|Simulation\/Headsets\/(?!SimulatedModel))/)
            || path.contains(/^Tests\/(HeadsetsTests|SimulationTests|Lab\/headsets|Lab\/tests)\//)
    }

    /// The first list of models in a file: three of them, in whatever spelling, in lines that follow each other. What is said
    /// in comments is none.
    static func findings(_ file: SourceText, models: [String]) -> [Finding] {
        // The longest first: the name of one may begin that of another.
        let words = models.sorted { $0.count > $1.count }
        // Most files name no three of them anywhere, in whatever spelling.
        let text = file.lines.joined(separator: "\n").lowercased()
        guard words.count(where: { text.contains($0.filter { $0 != "-" }) || text.contains($0.replacing("-", with: "_")) }) > 1
        else { return [] }
        let named = file.lines.map { namedModels($0, words) }
        for index in named.indices {
            let list = named[index...].prefix(lineCount).reduce(into: Set<String>()) { $0.formUnion($1) }
            guard !named[index].isEmpty, list.count >= modelCount else { continue }
            return [file.finding(index, "a list of headsets: \(list.sorted().joined(separator: ", "))")]
        }
        return []
    }

    private static func namedModels(_ line: String, _ words: [String]) -> Set<String> {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        guard !code.contains(/^\s*#/) else { return [] }
        var rest = code.lowercased().filter { $0 != "-" && $0 != "_" }
        var found = Set<String>()
        for word in words {
            let plain = word.filter { $0 != "-" }
            guard rest.contains(plain) else { continue }
            found.insert(word)
            rest = rest.replacing(plain, with: " ")
        }
        return found
    }
}
