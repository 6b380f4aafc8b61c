import Foundation
import NIOCore
import NIOEmbedded
import Page

/// A connection to the page's server without a socket: bytes go in and come out, and time passes as it is said to.
///
/// Everything between the socket and the page's routes is what `eegsync serve` runs: limits, SwiftNIO's parser and its order of
/// requests, policy, routes, heads of answers. What stands in for the rest is that each request is answered when it is said to.
final class ServedConnection {
    /// How a request was answered, as the browser must see it.
    struct Answer {
        var method: String
        var response: PageResponse
        var bytes: Data
    }

    private let channel = EmbeddedChannel()
    private let transport = FuzzedTransport()
    private let answering: FuzzedAnswering

    /// - Parameter believesFirstLines: a defect: of several header lines of one name only the first is looked at.
    init(believesFirstLines: Bool = false) throws {
        answering = FuzzedAnswering(believesFirstLines: believesFirstLines)
        try channel.pipeline.syncOperations.addHandler(transport)
        try PageConnection.configure(channel)
        try channel.pipeline.syncOperations.addHandler(answering)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 8580), promise: nil)
        channel.read()
    }

    var isOpen: Bool { channel.isActive }
    /// The rule that was broken on the way.
    var broken: String? { answering.broken ?? transport.broken }
    /// What was answered, in its order.
    var answers: [Answer] { answering.answers }
    /// What the browser has received.
    private(set) var received: [UInt8] = []
    /// How many bytes were read since something was sent.
    var unansweredCount: Int { transport.unansweredCount }
    /// For how long nothing has been sent.
    var sinceWrite: TimeAmount { transport.sinceWrite }

    /// Gives bytes as the server reads them, in pieces; what it does not read yet waits.
    func send(_ bytes: [UInt8], pieceLength: Int = .max) {
        if !bytes.isEmpty { transport.waiting.append((bytes[...], pieceLength)) }
        settle()
    }

    /// The browser has nothing more to say.
    func endSending() {
        transport.hasEnded = true
        settle()
    }

    /// Answers the request that waits, if one does.
    func answer() {
        answering.answerNext(channel)
        settle()
    }

    /// From now on the browser reads nothing, or all again.
    func stall(_ isStalled: Bool) {
        transport.isStalled = isStalled
        settle()
    }

    func pass(_ time: TimeAmount) {
        transport.sinceWrite = transport.sinceWrite + time
        channel.embeddedEventLoop.advanceTime(by: time)
        settle()
    }

    /// Answers everything that is there to be answered.
    func answerAll() {
        // Each turn answers one request; there are no more of them than bytes.
        var count = answers.count - 1
        while answering.isWaiting, count < answers.count {
            count = answers.count
            answer()
        }
    }

    /// Does what goes on by itself: what can be read is read, refusals are sent, bytes arrive.
    private func settle() {
        var goesOn = true
        while goesOn {
            channel.embeddedEventLoop.run()
            goesOn = transport.deliver(channel, whileWaiting: answering.isWaiting)
            if answering.isRefused {
                answering.answerNext(channel)
                goesOn = true
            }
            while let bytes = try? channel.readOutbound(as: IOData.self) {
                if case .byteBuffer(let buffer) = bytes { received += Array(buffer.readableBytesView) }
            }
        }
    }

    /// Lets go of everything.
    func end() {
        if channel.isActive { channel.close(promise: nil) }
        channel.embeddedEventLoop.run()
    }
}
