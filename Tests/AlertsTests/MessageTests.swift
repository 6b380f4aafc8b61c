import Bluetooth
import Foundation
import Testing

@testable import Alerts

/// How messages read, and how they are written for each receiver.
@Suite struct MessageTests {
    private func json(_ document: some Encodable) throws -> [String: Any] {
        let data = try JSONEncoder().encode(document)
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    @Test func aMessageSaysWhatSinceWhenAndWhatToDo() {
        #expect(
            Notice.made().lines(undelivered: 2) == [
                "left: no samples for 1 min: it is looked for.", "You can: switch it on.",
                "On pi since 2026-09-21T14:12:20Z (1 min).",
                "2 messages before this one were not sent: they no longer mattered.",
            ])
        #expect(
            Notice.made(.recovered, text: "samples are committed").lines() == [
                "over: left: samples are committed.", "On pi, it lasted from 2026-09-21T14:12:20Z on (1 min).",
            ])
        #expect(Notice.made(.repeated, "undervoltage", headset: nil, text: "weak").title == "still: weak")
    }

    @Test func theOwnDocumentHasEveryFact() throws {
        let request = try #require(MessageShape.json.request(.made(), url: "http://a/b", undelivered: 3))
        #expect(request.url == "http://a/b")
        let document = try json(request.document)
        #expect(document["id"] as? String == "origin-1")
        #expect(document["event"] as? String == "raised")
        #expect(document["alert"] as? String == "no_samples/left")
        #expect(document["severity"] as? String == "critical")
        #expect(document["since"] as? String == "2026-09-21T14:12:20Z")
        #expect(document["at"] as? String == "2026-09-21T14:13:20Z")
        #expect(document["undelivered_before"] as? Int == 3)
        #expect(document.count == 13)
    }

    @Test func ntfyTakesTheTopicOutOfTheURL() throws {
        let request = try #require(MessageShape.ntfy.request(.made(), url: "https://ntfy.sh/x/night-7", undelivered: 0))
        #expect(request.url == "https://ntfy.sh/x/")
        let document = try json(request.document)
        #expect(document["topic"] as? String == "night-7")
        #expect(document["priority"] as? Int == 5)
        #expect((document["tags"] as? [String])?.contains("origin-1") == true)
        #expect((document["message"] as? String)?.hasPrefix("left: no samples for 1 min") == true)
        for url in ["https://ntfy.sh", "https://ntfy.sh/", "https://ntfy.sh/?a=b"] {
            #expect(MessageShape.ntfy.request(.made(), url: url, undelivered: 0) == nil, "\(url)")
        }
    }

    @Test func slackTakesAText() throws {
        let request = try #require(MessageShape.slack.request(.made(), url: "https://hooks/x", undelivered: 0))
        let document = try json(request.document)
        #expect(document.count == 1)
        #expect((document["text"] as? String)?.components(separatedBy: "\n").count == 3)
    }

    @Test func aLetterHasAHeadThatNothingFromElsewhereCanExtend() {
        let evil = Notice.made(headset: "left\nBcc: all@example.org", text: "no\r\n\r\nsamples")
        let letter = MailMessage.text(
            evil, sender: "pi@example.org", receivers: ["a@example.org", "b@example.org"], undelivered: 0)
        let head = letter.components(separatedBy: "\n\n").first ?? ""
        #expect(
            head == """
                From: pi@example.org
                To: a@example.org, b@example.org
                Subject: [eegsync] left Bcc: all@example.org: no    samples
                Date: 21 Sep 2026 14:13:20 +0000
                Message-ID: <origin-1@pi>
                MIME-Version: 1.0
                Content-Type: text/plain; charset=utf-8
                Content-Transfer-Encoding: 8bit
                Auto-Submitted: auto-generated
                """)
    }

    @Test func aSubjectBeyondASCIIIsEncodedInPiecesThatDecode() throws {
        let text = "[eegsync] links: Batterie bei 9 °C und müder Gehirnstrommessung 🧠, zum zweiten Mal heute Nacht"
        let words = MailMessage.encodedWord(text).components(separatedBy: "\n ")
        #expect(words.count > 1 && words.allSatisfy { $0.utf8.count <= 75 })
        let decoded = try words.map { word in
            let middle = try #require(word.wholeMatch(of: /=\?utf-8\?B\?([A-Za-z0-9+\/=]*)\?=/)).output.1
            return String(decoding: try #require(Data(base64Encoded: String(middle))), as: UTF8.self)
        }
        #expect(decoded.joined() == text)
        #expect(MailMessage.encodedWord("plain") == "plain")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"), (-1, "1969-12-31T23:59:59Z"),
    ]) func timesAreThoseOfTheCalendar(seconds: Int64, text: String) throws {
        #expect(UTCTime.iso8601(unixNanoseconds: seconds * 1_000_000_000) == text)
        let date = try #require(ISO8601DateFormatter().date(from: text))
        #expect(date.timeIntervalSince1970 == Double(seconds))
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (312, "5 min 12 s"), (3600, "1 h"), (7500, "2 h 05 min"),
        (3 * 86_400 + 4 * 3600 + 59, "3 d 4 h"),
    ]) func durationsAreWords(seconds: Int, words: String) {
        #expect(Duration.seconds(seconds).inWords == words)
    }
}

/// The line of a check.
@Suite struct AlertCheckTests {
    private func facts(_ change: (inout WatchedHeadset) -> Void) -> AlertFacts {
        var headset = WatchedHeadset(name: "left", situation: "streams")
        headset.silence = .seconds(1)
        headset.batteryPercent = 81
        change(&headset)
        var facts = AlertFacts()
        facts.headsets = [headset]
        return facts
    }

    private let rules = [AlertRule(.noSamples), AlertRule(.batteryBelow)]

    @Test func allIsWell() {
        let check = AlertCheck(rules: rules, facts: facts { _ in })
        #expect(check.code == .ok)
        #expect(check.line == "EEGSYNC OK - recording: left | 'left silence'=1s;;60 'left battery'=81%;15:")
    }

    @Test func theWorstCounts() {
        let warning = AlertCheck(rules: rules, facts: facts { $0.batteryPercent = 9 })
        #expect(warning.code == .warning && warning.code.rawValue == 1)
        #expect(warning.line.hasPrefix("EEGSYNC WARNING - left: the battery is at 9 % | "))
        let critical = AlertCheck(
            rules: rules,
            facts: facts {
                $0.batteryPercent = 9
                $0.silence = .seconds(75)
                $0.situation = "is looked for: a|b\nc"
            })
        #expect(critical.code == .critical && critical.code.rawValue == 2)
        #expect(
            critical.line.hasPrefix(
                "EEGSYNC CRITICAL - left: no samples for 1 min 15 s: it is looked for: a/b c; left: the battery is at 9 % | "))
    }

    @Test func whatCannotBeSaidIsUnknown() {
        let check = AlertCheck(unknown: "no database")
        #expect(check.code.rawValue == 3)
        #expect(check.line == "EEGSYNC UNKNOWN - no database")
    }

    @Test func twoRulesOfAKindHaveLabelsOfTheirOwn() {
        var second = AlertRule(.batteryBelow)
        second.name = "nearly_flat"
        let check = AlertCheck(rules: [AlertRule(.batteryBelow), second], facts: facts { _ in })
        #expect(check.line.contains("'left battery'=81%;15: 'left nearly_flat'=81%;15:"))
    }
}
