/// The version of bluetoothd or of a kernel, as numbers: 5.9 comes before 5.66.
struct SoftwareVersion: Hashable, Comparable, CustomStringConvertible {
    /// Such as `[6, 1, 192]`; never empty.
    let numbers: [Int]

    /// A known version.
    init(_ first: Int, _ others: Int...) { numbers = [first] + others }

    /// Reads the numbers that a text begins with, such as those of `6.12.34+rpt-rpi-v8`; nil where it begins with none.
    init?(_ text: some StringProtocol) {
        let digits = text.prefix { $0 == "." || ($0.isASCII && $0.isNumber) }
        let numbers = digits.split(separator: ".").compactMap { Int($0) }
        guard !numbers.isEmpty else { return nil }
        self.numbers = numbers
    }

    /// The kernel's own version, of a text of /proc/version.
    ///
    /// The release that it begins with is the name of an interface in Debian (`6.1.0-38-amd64`), which stays the same over
    /// many versions; the version stands after the word `Debian` (`6.1.147-1`, on a Raspberry Pi `1:6.12.34-1+rpt1`).
    init?(kernel text: String) {
        let words = text.split { $0 == " " || $0 == "\n" }
        if let debian = words.firstIndex(of: "Debian"), words.indices.contains(debian + 1) {
            let version = words[debian + 1]
            self.init(version.firstIndex(of: ":").map { version[version.index(after: $0)...] } ?? version)
            return
        }
        guard words.count >= 3, words[0] == "Linux", words[1] == "version" else { return nil }
        self.init(words[2])
    }

    static func < (left: SoftwareVersion, right: SoftwareVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    var description: String { numbers.map(String.init).joined(separator: ".") }
}
