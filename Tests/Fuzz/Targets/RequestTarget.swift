import NIOCore
import Page

extension FuzzTarget {
    /// What strangers send to the page's server.
    static let requests = [FuzzTarget("request") { bytes in RequestRun(input: bytes).brokenRule() }]

    /// The same with a server that looks at the first of several header lines of one name alone.
    static let plantedRequest = FuzzTarget("planted-request") { bytes in
        RequestRun(input: bytes).brokenRule(believesFirstLines: true)
    }
}

/// One connection to the page's server.
///
/// An input is steps: what is said next (any bytes, a word of HTTP, a well-formed request, or what was said last many times
/// over), how it comes (in pieces, late, from a browser that reads nothing meanwhile), and when the server answers.
struct RequestRun {
    /// What is said at most: half as much again as may wait for an answer.
    private static let byteMaximum = 98_304
    /// Into how many pieces what is sent at once is cut at most: more take time, and reach nothing new.
    private static let pieceMaximum = 64
    fileprivate static let unansweredMaximum = 65_536
    /// The longest that a connection lasts in which nothing is sent: a silence, and a request that does not end.
    private static let secondsMaximum: Int64 = 135

    private let input: [UInt8]

    init(input: [UInt8]) {
        self.input = input
    }

    /// What has been said.
    private struct Said {
        var all: [UInt8] = []
        var last: [UInt8] = []
        /// What must be answered; nil once something was said of which that is not known.
        var expected: [Int]? = []
        /// Whether the last request ends the connection.
        var isLast = false
        var passed = TimeAmount.zero

        /// False once limits may have ended the connection.
        var isWithinLimits: Bool { passed < .seconds(20) && all.count <= RequestRun.unansweredMaximum }

        mutating func say(_ bytes: [UInt8]) {
            last = bytes
            all += bytes
        }
    }

    /// The first rule that does not hold.
    func brokenRule(believesFirstLines: Bool = false) -> String? {
        guard let connection = try? ServedConnection(believesFirstLines: believesFirstLines) else { return "no connection" }
        defer { connection.end() }
        var input = FuzzInput(self.input)
        var said = Said()
        var pending: [UInt8] = []
        while input.hasMore, said.all.count < Self.byteMaximum {
            let kind = input.byte()
            let count = said.all.count
            step(kind, &input, &said, connection)
            pending += said.all[count...]
            if kind & 7 >= 4 {
                let length = kind & 7 == 4 ? input.byte() : 0
                let least = pending.count / Self.pieceMaximum
                connection.send(pending, pieceLength: length == 0 ? .max : max(length, least))
                pending = []
            }
            if let broken = brokenRule(during: connection) { return broken }
        }
        connection.send(pending)
        connection.stall(false)
        connection.answerAll()
        return brokenRule(during: connection) ?? brokenRule(of: connection, said) ?? brokenRule(ofEnd: connection)
    }

    private func step(_ kind: Int, _ input: inout FuzzInput, _ said: inout Said, _ connection: ServedConnection) {
        let parameter = kind >> 3
        switch kind & 7 {
        case 0:
            said.say(input.piece() ?? [])
            said.expected = nil
        case 1:
            said.say(RequestWords.all[parameter % RequestWords.all.count])
            said.expected = nil
        case 2:
            let request = FuzzedRequest(parameter, &input)
            said.say(request.bytes)
            if !said.isLast { request.status.map { said.expected?.append($0) } ?? (said.expected = nil) }
            said.isLast = said.isLast || request.isLast
        case 3:
            let room = Self.byteMaximum - said.all.count
            let times = min(input.byte(), room / max(1, said.last.count))
            for _ in 0..<times { said.all += said.last }
            if times > 0 { said.expected = nil }
        case 5: connection.answer()
        case 6:
            let time = TimeAmount.milliseconds(Int64(1) << Int64(min(parameter, 17)))
            said.passed = said.passed + time
            connection.pass(time)
        case 7: connection.stall(parameter & 1 == 1)
        default: break
        }
    }

    private func brokenRule(during connection: ServedConnection) -> String? {
        if let broken = connection.broken { return broken }
        guard connection.isOpen else { return nil }
        if connection.unansweredCount > Self.unansweredMaximum { return "\(connection.unansweredCount) bytes wait" }
        return connection.sinceWrite > .seconds(Self.secondsMaximum) ? "the connection lasts" : nil
    }

    /// What the browser received is what was answered, in its order, each once; and every request is answered, where it can be
    /// known to be one.
    private func brokenRule(of connection: ServedConnection, _ said: Said) -> String? {
        var reader = AnswerReader(connection.received)
        var isLast = false
        for (number, answer) in connection.answers.enumerated() {
            guard let received = reader.next(to: answer.method) else {
                return said.isWithinLimits || connection.isOpen ? "answer \(number) is not complete" : nil
            }
            guard received.status == answer.response.status || received.status == 304 else { return "another answer" }
            let content = received.status == 304 || answer.method == "HEAD" ? [] : Array(answer.bytes)
            guard received.content == content else { return "answer \(number) has another content" }
            if let name = received.missingHeader { return "answer \(number) has no \(name)" }
            if isLast { return "an answer behind the last" }
            isLast = received.values("Connection") == ["close"]
        }
        if !reader.isAtEnd {
            if let broken = brokenRule(ofRest: &reader, isLast: isLast) { return broken }
            if connection.isOpen { return "a connection goes on behind what is no HTTP" }
        }
        guard said.isWithinLimits else { return nil }
        if let expected = said.expected, expected != connection.answers.map(\.response.status) {
            return "answered with \(connection.answers.map(\.response.status)) instead of \(expected)"
        }
        return brokenRule(ofPieces: connection, said)
    }

    /// What is no HTTP is answered once, and not behind the last answer.
    private func brokenRule(ofRest reader: inout AnswerReader, isLast: Bool) -> String? {
        guard let received = reader.next(to: "GET"), received.status == 400, reader.isAtEnd else {
            return "more is received than was answered"
        }
        if let name = received.missingHeader { return "the answer to what is no HTTP has no \(name)" }
        return isLast || received.values("Connection") != ["close"]
            ? "what is no HTTP is answered in between, or behind the last" : nil
    }

    /// However bytes are cut into pieces, the same is answered.
    private func brokenRule(ofPieces connection: ServedConnection, _ said: Said) -> String? {
        guard let whole = try? ServedConnection() else { return "no connection" }
        defer { whole.end() }
        whole.send(said.all)
        whole.answerAll()
        return whole.received == connection.received && whole.isOpen == connection.isOpen
            ? nil : "\(whole.answers.count) answers at once, \(connection.answers.count) to pieces"
    }

    /// Whoever has sent all is answered, and the connection ends; and it ends by itself.
    private func brokenRule(ofEnd connection: ServedConnection) -> String? {
        guard connection.isOpen else { return nil }
        if input.count.isMultiple(of: 2) {
            connection.endSending()
            connection.answerAll()
        } else {
            connection.pass(.seconds(Self.secondsMaximum))
        }
        return connection.isOpen ? "the connection does not end" : connection.broken
    }
}
