import Foundation

/// A passkey in a file of its own, so that the configuration may be read by everybody: `passkey_file` of a headset.
struct PasskeyFile {
    /// An absolute path, or the name of a credential that systemd has loaded for the service (`LoadCredential=`,
    /// systemd.exec(5)).
    let path: String
    /// The directory of the credentials; nil for a process that has none.
    var credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]

    /// The passkey: one line of 1 ... 6 digits.
    ///
    /// - Throws: ``FileReason`` in words that complete "cannot be read: ...".
    func passkey() throws(FileReason) -> UInt32 {
        let lines: [String]
        if path.hasPrefix("/") {
            lines = try SecretFile.lines(of: path)
        } else if let credentials {
            // systemd gives them to the user of the unit alone, with an access list that looks like a group's right.
            lines = try SecretFile.lines(of: credentials + "/" + path, isClosedByDirectory: true)
        } else {
            throw FileReason("it is no absolute path, and systemd has loaded no credentials for this process")
        }
        guard lines.count == 1, (1...6).contains(lines[0].utf8.count), lines[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let value = UInt32(lines[0])
        else { throw FileReason("it does not hold one line of 1 to 6 digits") }
        return value
    }
}
