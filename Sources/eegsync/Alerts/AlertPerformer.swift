import Alerts
import Foundation

/// Delivers messages by the ways of the configuration.
struct AlertPerformer {
    /// Where `/sys` is.
    var files = SystemFiles()
    /// The program that speaks HTTP.
    var curl = "/usr/bin/curl"

    /// Delivers one message by one way.
    ///
    /// - Parameter undelivered: how many messages before it never went out by this way.
    func deliver(_ notice: Notice, by kind: Configuration.Alerts.Kind, undelivered: Int) async -> DeliveryOutcome {
        switch kind {
        case .command(let words): await CommandWay(words: words).deliver(notice, undelivered: undelivered)
        case .http(let receiver): await WebhookWay(receiver: receiver, curl: curl).deliver(notice, undelivered: undelivered)
        case .mail(let letter): await MailWay(letter: letter).deliver(notice, undelivered: undelivered)
        case .led(let lamp): StatusLED(lamp: lamp, files: files).blink()
        }
    }

    /// JSON on one line, its keys sorted.
    static func json(_ document: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers only: nothing that could not be encoded.
        let data = (try? encoder.encode(document)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

/// Runs a program for each message.
struct CommandWay {
    /// The program and its arguments.
    let words: [String]
    var limit = Duration.seconds(30)

    /// Runs it: the message is on its standard input as JSON and in its environment, and exit code 0 says that it was taken,
    /// 65 that it is refused for what it says.
    func deliver(_ notice: Notice, undelivered: Int) async -> DeliveryOutcome {
        guard let path = words.first else { return .refused(reason: "no program is named") }
        var program = ChildProgram(path: path, arguments: Array(words.dropFirst()), limit: limit)
        program.input = AlertPerformer.json(NoticeDocument(notice, undelivered: undelivered)) + "\n"
        program.environment = [
            "EEGSYNC_ALERT_ID": notice.id, "EEGSYNC_ALERT_EVENT": notice.event.rawValue, "EEGSYNC_ALERT_RULE": notice.rule,
            "EEGSYNC_ALERT_HEADSET": notice.headset ?? "", "EEGSYNC_ALERT_SEVERITY": notice.severity.rawValue,
            "EEGSYNC_ALERT_TITLE": notice.title,
            "EEGSYNC_ALERT_TEXT": notice.lines(undelivered: undelivered).joined(separator: "\n"),
        ]
        let end = await program.run()
        guard let problem = end.problem else { return .delivered }
        if case .notStarted = end { return .refused(reason: problem) }
        if end.isExit(of: Sysexit.dataError) { return .rejected(reason: problem) }
        // Whatever it has done before it failed.
        return .unclear(reason: problem)
    }
}

/// Exit codes of `sysexits.h` by which a program refuses a message for what it says: it would refuse it again.
private enum Sysexit {
    /// `EX_DATAERR`; of commands only. msmtp ends so, too, where its server takes a receiver not now (SMTP's 451).
    static let dataError: Int32 = 65
    /// `EX_NOUSER`: sendmail knows no such receiver. `EX_NOHOST`, 68, is none of these: msmtp ends so where it cannot resolve
    /// the name of its own server, as without a network (`NET_EHOSTNOTFOUND` in its sources).
    static let noUser: Int32 = 67
}

extension ChildProgram.End {
    /// True where the program has exited with the code.
    fileprivate func isExit(of code: Int32) -> Bool {
        if case .exited(let its, _, _) = self { its == code } else { false }
    }
}

/// Gives each message to sendmail.
struct MailWay {
    let letter: Configuration.Alerts.Letter
    var limit = Duration.seconds(30)

    /// Exit code 0 says that the mail system has taken the letter; whether it arrives, nobody knows here.
    func deliver(_ notice: Notice, undelivered: Int) async -> DeliveryOutcome {
        // -i: a line with a single dot does not end the letter.
        var program = ChildProgram(path: letter.program, arguments: ["-i", "--"] + letter.receivers, limit: limit)
        program.input = MailMessage.text(
            notice, sender: letter.sender, receivers: letter.receivers, undelivered: undelivered)
        let end = await program.run()
        guard let problem = end.problem else { return .delivered }
        if case .killed = end { return .unclear(reason: problem) }
        if end.isExit(of: Sysexit.noUser) { return .rejected(reason: problem) }
        return .refused(reason: problem)
    }
}
