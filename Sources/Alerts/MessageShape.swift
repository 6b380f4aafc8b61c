/// How a message is written for a receiver over HTTP: a document that an encoder makes JSON of.
package enum MessageShape: String, Hashable, Sendable, CaseIterable {
    /// Every fact under its own key.
    case json
    /// What ntfy.sh and servers of its kind take (https://docs.ntfy.sh/publish/#publish-as-json).
    case ntfy
    /// What Slack's incoming webhooks take, and those of Mattermost and Rocket.Chat.
    case slack

    /// Where it is sent to, and what. An ntfy topic is the last part of its URL; its JSON goes to what stands before it.
    ///
    /// - Parameters:
    ///   - url: as a person has written it.
    ///   - undelivered: how many messages before it never went out by this way.
    /// - Returns: nil where the URL has no topic and needs one.
    package func request(_ notice: Notice, url: String, undelivered: Int) -> (url: String, document: MessageDocument)? {
        switch self {
        case .json: return (url, .json(NoticeDocument(notice, undelivered: undelivered)))
        case .slack:
            return (url, .slack(SlackDocument(text: notice.lines(undelivered: undelivered).joined(separator: "\n"))))
        case .ntfy:
            guard let topic = topic(of: url) else { return nil }
            let server = String(url.dropLast(topic.count))
            return (server, .ntfy(NtfyDocument(notice, topic: topic, undelivered: undelivered)))
        }
    }

    /// The last part of an ntfy URL; nil where there is none.
    package func topic(of url: String) -> String? {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        guard self == .ntfy, parts.count >= 4, let topic = parts.last, !topic.isEmpty, !topic.contains("?") else { return nil }
        return String(topic)
    }
}

/// What is sent.
package enum MessageDocument: Encodable, Sendable {
    case json(NoticeDocument)
    case ntfy(NtfyDocument)
    case slack(SlackDocument)

    /// Encodes what it holds.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .json(let document): try document.encode(to: encoder)
        case .ntfy(let document): try document.encode(to: encoder)
        case .slack(let document): try document.encode(to: encoder)
        }
    }
}

/// A message with every fact under its own key; also what a command reads on its standard input.
package struct NoticeDocument: Encodable, Hashable, Sendable {
    var id: String
    var event: String
    var alert: String
    var rule: String
    var headset: String?
    var severity: String
    var machine: String
    var title: String
    var text: String
    var remedy: String?
    var since: String
    var at: String
    var undeliveredBefore: Int

    private enum CodingKeys: String, CodingKey {
        case id, event, alert, rule, headset, severity, machine, title, text, remedy, since, at
        case undeliveredBefore = "undelivered_before"
    }

    /// - Parameter undelivered: how many messages before it never went out by this way.
    package init(_ notice: Notice, undelivered: Int) {
        id = notice.id
        event = notice.event.rawValue
        alert = notice.alert
        rule = notice.rule
        headset = notice.headset
        severity = notice.severity.rawValue
        machine = notice.machine
        title = notice.title
        text = notice.text
        remedy = notice.remedy
        since = UTCTime.iso8601(unixNanoseconds: notice.sinceUnixNanoseconds)
        at = UTCTime.iso8601(unixNanoseconds: notice.atUnixNanoseconds)
        undeliveredBefore = undelivered
    }
}

/// A message to an ntfy server.
package struct NtfyDocument: Encodable, Hashable, Sendable {
    var topic: String
    var title: String
    var message: String
    /// 1 ... 5; 3 is the usual one, 5 rings through the night.
    var priority: Int
    var tags: [String]

    init(_ notice: Notice, topic: String, undelivered: Int) {
        self.topic = topic
        let severity = notice.severity
        title = "eegsync on \(notice.machine)"
        message = notice.lines(undelivered: undelivered).joined(separator: "\n")
        switch notice.event {
        case .raised, .repeated: (priority, tags) = severity == .critical ? (5, ["rotating_light"]) : (4, ["warning"])
        case .recovered: (priority, tags) = (3, ["white_check_mark"])
        case .test: (priority, tags) = (3, ["test_tube"])
        }
        // Whoever gets the message twice sees that it is one.
        tags.append(notice.id)
    }
}

/// A message to an incoming webhook of Slack.
package struct SlackDocument: Encodable, Hashable, Sendable {
    var text: String
}
