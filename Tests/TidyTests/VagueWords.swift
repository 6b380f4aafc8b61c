/// Words that stood for many things each, so that a reader had to guess which. Another word is exact: an event is emitted, a
/// problem reported, a headset commanded, two things are distinguished; an element has an index, a byte an offset, a sample
/// an n. That a block is placed, and its placement, are in the glossary, and other words than these.
enum VagueWords {
    static let words: Set<String> = ["tell", "tells", "telling", "told", "untold", "place", "places"]
    /// What programs of other people read: the key `tells_identity_in_status` of `headsets show --json`, as its property.
    static let published = ["tellsIdentityInStatus"]

    /// Vague words in code, comments, messages and pages, also as parts of identifiers (`lastPlace`, `isTold`, `tell_all`).
    static func findings(_ file: SourceText) -> [Finding] {
        file.lines.indices.flatMap { index in
            let line = published.reduce(file.lines[index]) { $0.contains($1) ? $0.replacing($1, with: "") : $0 }
            return split(line).filter(words.contains).map { file.finding(index, "a vague word: \($0)") }
        }
    }

    /// The words of a line in lower case; identifiers fall apart at their capitals and underscores.
    private static func split(_ line: String) -> [String] {
        var parts: [String] = []
        var word: [UInt8] = []
        var endsLower = false
        for byte in line.utf8 {
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            if !isUpper && !isLower || isUpper && endsLower {
                if !word.isEmpty { parts.append(String(decoding: word, as: UTF8.self)) }
                word.removeAll(keepingCapacity: true)
            }
            if isLower && !endsLower && word.count > 1 {
                parts.append(String(decoding: word.dropLast(), as: UTF8.self))
                word.removeFirst(word.count - 1)
            }
            if isUpper || isLower { word.append(byte | 0x20) }
            endsLower = isLower
        }
        return word.isEmpty ? parts : parts + [String(decoding: word, as: UTF8.self)]
    }
}
