/// A message as a letter for sendmail: header and body (RFC 5322).
package enum MailMessage {
    /// The letter. Lines end with LF, as sendmail takes them.
    ///
    /// - Parameters:
    ///   - sender: the address it comes from; nil leaves it to sendmail.
    ///   - undelivered: how many messages before it never went out by this way.
    package static func text(_ notice: Notice, sender: String?, receivers: [String], undelivered: Int) -> String {
        var lines: [String] = []
        if let sender { lines.append("From: \(oneLine(sender))") }
        lines += [
            "To: \(oneLine(receivers.joined(separator: ", ")))",
            "Subject: \(encodedWord("[eegsync] \(notice.title)"))",
            "Date: \(UTCTime.rfc5322(unixNanoseconds: notice.atUnixNanoseconds))",
            // The same for a letter that is sent twice, which a mail program then shows once.
            "Message-ID: <\(notice.id)@\(domain(notice.machine))>",
            "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit",
            // Holiday replies do not answer it (RFC 3834).
            "Auto-Submitted: auto-generated", "",
        ]
        return (lines + notice.lines(undelivered: undelivered) + ["", "Message \(notice.id)"]).joined(separator: "\n") + "\n"
    }

    /// Nothing that comes from elsewhere begins a line of the header.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
    }

    private static func domain(_ machine: String) -> String {
        let name = machine.unicodeScalars.filter { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".": true
            default: false
            }
        }
        return name.isEmpty ? "localhost" : String(String.UnicodeScalarView(name))
    }

    /// The text itself where it is ASCII, else encoded words of at most 75 characters (RFC 2047), one a line.
    static func encodedWord(_ text: String) -> String {
        let text = String(oneLine(text).prefix(200))
        guard text.utf8.contains(where: { $0 > 126 }) else { return text }
        var words: [[UInt8]] = [[]]
        for character in text {
            // Twelve characters are around it; 45 bytes become 60.
            if let last = words.last, last.count + character.utf8.count > 45 { words.append([]) }
            words[words.count - 1] += Array(character.utf8)
        }
        return words.map { "=?utf-8?B?\(base64($0))?=" }.joined(separator: "\n ")
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : "=")
            }
        }
        return text
    }
}
