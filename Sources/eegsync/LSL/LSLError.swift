/// Why nothing goes to Lab Streaming Layer.
enum LSLError: Error, Hashable, Sendable {
    /// The library is not installed, or is none for this machine.
    case noLibrary(tried: [String], reason: String)
    /// The library lacks a function that is needed.
    case tooOld(version: Int32, function: String)
    /// It refuses to make an outlet.
    case outlet(name: String)
}

extension Failure {
    /// Why `eegsync lsl` cannot go on.
    init(lsl error: LSLError) {
        switch error {
        case .noLibrary(let tried, let reason):
            self.init(
                problem: "liblsl, the library of Lab Streaming Layer, is not there: tried \(tried.joined(separator: ", ")) "
                    + "(\(reason)).", consequence: "nothing is sent; the recording goes on.",
                remedy:
                    "install liblsl from its project (a .deb for each release), or take the one of the Python package pylsl "
                    + "(eegsync lsl --library PATH); then start it again: systemctl restart eegsync-lsl.", code: .unavailable)
        case .tooOld(0, let function):
            self.init(
                problem: "the library is not liblsl: it says no version, and has no \(function).",
                consequence: "nothing is sent; the recording goes on.",
                remedy: "name the file of liblsl, or leave --library away, for the one that is installed.", code: .unavailable)
        case .tooOld(let version, let function):
            self.init(
                problem: "liblsl \(version / 100).\(version % 100) lacks \(function).",
                consequence: "nothing is sent; the recording goes on.", remedy: "install liblsl 1.14 or later.",
                code: .unavailable)
        case .outlet(let name):
            self.init(
                problem: "liblsl makes no outlet \(name).", consequence: "nothing more is sent; the recording goes on.",
                remedy: "see what liblsl has written above; ports 16572 to 16604 must be free.", code: .temporary)
        }
    }
}
