import Headsets

/// Takes the characters that a Cyton is sent one after the other, and keeps what they set.
struct CytonCommands {
    /// What the board does about a command.
    enum Command: Hashable {
        /// `b`.
        case start
        /// `s`.
        case stop
        /// `C`.
        case attachDaisy
        /// `c`.
        case removeDaisy
        /// `v`.
        case reset
        /// Something was set or asked for; while it does not stream, the board says so.
        case said(String)
    }

    /// What the 6 bytes beside the samples are.
    private(set) var auxiliary = CytonSettings.Auxiliary.accelerometer
    /// True where the board's time is sent too.
    private(set) var stampsTime = false
    /// The characters of a command of several that has not ended yet.
    private var pending: [UInt8] = []

    /// The command that ends with a character; nil where it goes on, or means nothing.
    mutating func next(_ character: UInt8) -> Command? {
        if !pending.isEmpty { return goOn(character) }
        switch UnicodeScalar(character) {
        case "b": return .start
        case "s": return .stop
        case "C": return .attachDaisy
        case "c": return .removeDaisy
        case "v": return .reset
        case "d": return .said("updating channel settings to default")
        case "D": return .said("060110")
        case "?": return .said("Board ADS Registers\nID, 00, 3E, 0, 0, 1, 1, 1, 1, 1, 0\n")
        case "<", ">":
            stampsTime = character == UInt8(ascii: "<")
            return .said("Time stamp \(stampsTime ? "ON" : "OFF")")
        case "x", "z", "/", "~":
            pending = [character]
            return nil
        default: return nil
        }
    }

    private mutating func goOn(_ character: UInt8) -> Command? {
        pending.append(character)
        switch UnicodeScalar(pending[0]) {
        case "/":
            auxiliary = CytonSettings.Auxiliary(rawValue: character) ?? auxiliary
            return end("Success: board mode")
        case "~": return end("Success: Sample rate is 250Hz")
        case "x": return character == UInt8(ascii: "X") ? end("Success: Channel set") : nil
        default: return character == UInt8(ascii: "Z") ? end("Success: Lead off set") : nil
        }
    }

    private mutating func end(_ text: String) -> Command {
        pending.removeAll()
        return .said(text)
    }
}
