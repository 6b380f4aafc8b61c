/// One message to people: an alert was raised, lasts, or is over.
package struct Notice: Hashable, Sendable, Codable {
    /// What has happened.
    package enum Event: String, Hashable, Sendable, Codable {
        /// The condition has held for long enough.
        case raised
        /// It still holds, so many hours later.
        case repeated
        /// It is over.
        case recovered
        /// Somebody tries whether messages arrive.
        case test
    }

    /// The same however often the message is sent; no other message has it.
    package var id: String
    package var event: Event
    /// The rule's name.
    package var rule: String
    package var headset: String?
    package var severity: AlertRule.Severity
    /// The host name of the machine that notices it.
    package var machine: String
    /// One sentence without a full stop.
    package var text: String
    /// What a person can do.
    package var remedy: String?
    /// When the condition began to hold, UTC nanoseconds since 1970.
    package var sinceUnixNanoseconds: Int64
    /// When the message was made.
    package var atUnixNanoseconds: Int64
    /// The ways by which it goes; empty for all.
    package var ways: [String] = []

    /// A message that tries a way.
    package static func test(id: String, machine: String, at now: AlertInstant) -> Notice {
        Notice(
            id: id, event: .test, rule: "test", headset: nil, severity: .warning, machine: machine,
            text: "this is a test; nothing is wrong", remedy: nil, sinceUnixNanoseconds: now.unixNanoseconds,
            atUnixNanoseconds: now.unixNanoseconds)
    }

    /// The alert that it speaks of: the rule, and behind it the headset, as in `no_samples/left`.
    package var alert: String { headset.map { "\(rule)/\($0)" } ?? rule }

    /// What fits in a subject line: `left: no samples for 1 min: ...`, with what has become of it in front.
    package var title: String {
        let sentence = (headset.map { "\($0): " } ?? "") + text
        return switch event {
        case .raised: sentence
        case .repeated: "still: \(sentence)"
        case .recovered: "over: \(sentence)"
        case .test: "test: \(sentence)"
        }
    }

    /// The message in some lines for people.
    ///
    /// - Parameter undelivered: how many messages before it never went out by this way.
    package func lines(undelivered: Int = 0) -> [String] {
        var lines = ["\(title)."]
        if let remedy, event != .recovered { lines.append("You can: \(remedy).") }
        let since = UTCTime.iso8601(unixNanoseconds: sinceUnixNanoseconds)
        let lasted = Duration.nanoseconds(max(0, atUnixNanoseconds &- sinceUnixNanoseconds)).inWords
        switch event {
        case .raised, .repeated: lines.append("On \(machine) since \(since) (\(lasted)).")
        case .recovered: lines.append("On \(machine), it lasted from \(since) on (\(lasted)).")
        case .test: lines.append("On \(machine) at \(since).")
        }
        if undelivered == 1 { lines.append("One message before this one was not sent: it no longer mattered.") }
        if undelivered > 1 { lines.append("\(undelivered) messages before this one were not sent: they no longer mattered.") }
        return lines
    }
}
