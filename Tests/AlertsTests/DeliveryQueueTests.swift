import Bluetooth
import Foundation
import Testing

@testable import Alerts

/// What one way still has to deliver, through outages, deaths and floods.
@Suite struct DeliveryQueueTests {
    private static let failed = DeliveryOutcome.refused(reason: "no network")

    /// Delivers what is due at each second; the network is there or not.
    private func deliver(
        _ queue: inout DeliveryQueue, from begin: Int, until end: Int, isUp: Bool
    ) -> (sent: [String], attempts: Int) {
        var (sent, attempts): ([String], Int) = ([], 0)
        for second in begin..<end {
            let now = MonotonicTime.boot + .seconds(second)
            while let notice = queue.begin(at: now) {
                attempts += 1
                queue.end(notice, isUp ? .delivered : Self.failed, at: now)
                if isUp { sent.append("\(notice.event.rawValue) \(notice.alert)") }
            }
        }
        return (sent, attempts)
    }

    @Test func afterADayWithoutNetworkOneMessageSaysWhatStillMatters() {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        queue.add(.made(.raised, "battery_below", id: "2"))
        #expect(deliver(&queue, from: 0, until: 3600, isUp: false).sent.isEmpty)
        queue.add(.made(.recovered, "battery_below", id: "3"))
        for hour in 1..<24 {
            queue.add(.made(.repeated, id: "r\(hour)"))
            #expect(queue.count == 1)
            let (_, attempts) = deliver(&queue, from: hour * 3600, until: (hour + 1) * 3600, isUp: false)
            #expect(attempts <= 13, "each five minutes")
        }
        #expect(queue.problem == "no network")
        #expect(queue.undelivered == 25, "1 raised, 22 repeated, and both of the battery")
        #expect(deliver(&queue, from: 86_400, until: 86_400 + 301, isUp: true).sent == ["repeated no_samples/left"])
        #expect(queue.undelivered == 0 && queue.problem == nil && queue.count == 0)
    }

    @Test func whatIsOverBeforeAnybodyHeardOfItIsNotSent() {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        _ = deliver(&queue, from: 0, until: 600, isUp: false)
        queue.add(.made(.recovered, id: "2"))
        #expect(queue.count == 0)
        #expect(queue.undelivered == 2)
    }

    @Test func theEndOfWhatMayHaveArrivedIsSent() {
        for outcome in [nil, .unclear(reason: "no answer"), .delivered] as [DeliveryOutcome?] {
            var queue = DeliveryQueue(way: "phone")
            queue.add(.made(.raised, id: "1"))
            let notice = queue.begin(at: .boot)
            if let notice, let outcome { queue.end(notice, outcome, at: .boot) }
            queue.add(.made(.recovered, id: "2"))
            #expect(deliver(&queue, from: 0, until: 600, isUp: true).sent == ["recovered no_samples/left"], "\(outcome as Any)")
        }
    }

    @Test func aProcessThatIsKilledInADeliverySendsTheSameMessageAgain() throws {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        let begun = queue.begin(at: .boot)
        let first = try #require(begun)
        // Killed here: what was kept before the delivery is all that is left.
        var kept = try JSONDecoder().decode(DeliveryQueue.self, from: try JSONEncoder().encode(queue))
        let begunAgain = kept.begin(at: .boot)
        let second = try #require(begunAgain)
        #expect(second == first && second.id == "1")
        kept.end(second, .delivered, at: .boot)
        #expect(kept.count == 0)
        // Its end is sent, for the receiver has heard of it.
        kept.add(.made(.recovered, id: "2"))
        #expect(kept.count == 1)
    }

    @Test func aQueueThatIsNotKeptBeforeTheDeliveryWouldLoseTheEnd() throws {
        // The planted defect: kept before `begin`, so that nobody knows that the message may have arrived.
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        var kept = queue
        _ = queue.begin(at: .boot)
        kept.add(.made(.recovered, id: "2"))
        #expect(kept.count == 0)
    }

    @Test func attemptsBecomeRarerUpToFiveMinutes() {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(id: "1"))
        var attempts: [Int] = []
        for second in 0..<1300
        where queue.begin(at: .boot + .seconds(second)).map({
            queue.end($0, Self.failed, at: .boot + .seconds(second))
        }) != nil { attempts.append(second) }
        #expect(attempts == [0, 5, 15, 35, 75, 155, 315, 615, 915, 1215])
    }

    @Test func aFloodDropsTheOldestAndCountsThem() {
        var queue = DeliveryQueue(way: "phone")
        for number in 0..<1000 { queue.add(.made(.raised, headset: "h\(number)", id: "\(number)")) }
        #expect(queue.count == DeliveryQueue.waitingMaximum)
        #expect(queue.undelivered == 1000 - DeliveryQueue.waitingMaximum)
        let oldest = queue.begin(at: .boot)
        #expect(oldest?.headset == "h950")
    }

    @Test func aFloodDropsTheOldestWhereItHasGoneBehindTheOthers() {
        var queue = DeliveryQueue(way: "phone")
        for number in 0...DeliveryQueue.waitingMaximum {
            var notice = Notice.made(.raised, headset: "h\(number)", id: "\(number)")
            notice.atUnixNanoseconds += Int64(number)
            if number == DeliveryQueue.waitingMaximum {
                // Three failures of the oldest: it is the last in the queue now.
                for second in [0, 5, 15] {
                    let now = MonotonicTime.boot + .seconds(second)
                    if let failed = queue.begin(at: now) { queue.end(failed, Self.failed, at: now) }
                }
            }
            queue.add(notice)
        }
        #expect(queue.count == DeliveryQueue.waitingMaximum && queue.undelivered == 1)
        let next = queue.begin(at: .boot + .seconds(600))
        #expect(next?.headset == "h1")
        #expect(!queue.waiting.contains { $0.notice.headset == "h0" })
    }

    @Test func aClockThatWasSetBackLosesNotTheNewest() {
        var queue = DeliveryQueue(way: "phone")
        for number in 0...DeliveryQueue.waitingMaximum {
            var notice = Notice.made(.raised, headset: "h\(number)", id: "\(number)")
            if number == DeliveryQueue.waitingMaximum { notice.atUnixNanoseconds -= 3_600_000_000_000 }
            queue.add(notice)
        }
        #expect(queue.waiting.last?.notice.headset == "h\(DeliveryQueue.waitingMaximum)")
    }

    @Test func aNewAlertAfterAnUndeliveredEndReplacesIt() {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        #expect(deliver(&queue, from: 0, until: 1, isUp: true).sent == ["raised no_samples/left"])
        queue.add(.made(.recovered, id: "2"))
        _ = deliver(&queue, from: 1, until: 100, isUp: false)
        queue.add(.made(.raised, id: "3"))
        #expect(queue.count == 1)
        queue.add(.made(.recovered, id: "4"))
        #expect(deliver(&queue, from: 400, until: 1000, isUp: true).sent == ["recovered no_samples/left"])
    }

    /// Delivers what is due at each second to a receiver that refuses messages of some headsets for what they say.
    private func deliver(
        _ queue: inout DeliveryQueue, until end: Int, rejecting headsets: Set<String>
    ) -> (sent: [String], rejected: [String]) {
        var (sent, rejected): ([String], [String]) = ([], [])
        for second in 0..<end {
            let now = MonotonicTime.boot + .seconds(second)
            while let notice = queue.begin(at: now) {
                let headset = notice.headset ?? ""
                let isRejected = headsets.contains(headset)
                if isRejected { rejected.append(headset) } else { sent.append(headset) }
                queue.end(notice, isRejected ? .rejected(reason: "the server answers 413") : .delivered, at: now)
            }
        }
        return (sent, rejected)
    }

    @Test func aMessageThatNobodyTakesHoldsUpNoOtherAndIsDroppedAfterThreeRefusals() {
        var queue = DeliveryQueue(way: "phone")
        for headset in ["a", "b", "c"] { queue.add(.made(.raised, headset: headset, id: headset)) }
        let first = deliver(&queue, until: 6, rejecting: ["a"])
        #expect(first.sent == ["b", "c"], "five seconds later, and not after it")
        let all = deliver(&queue, until: 600, rejecting: ["a"])
        #expect(first.rejected + all.rejected == ["a", "a", "a"])
        #expect(queue.count == 0)
        #expect(queue.undelivered == 1 && queue.problem == "the server answers 413")
        // Nobody has heard that it began.
        queue.add(.made(.recovered, headset: "a", id: "d"))
        #expect(queue.count == 0)
    }

    @Test func whereEveryMessageIsRefusedAttemptsBecomeRarerAllTheSame() {
        var queue = DeliveryQueue(way: "phone")
        for number in 0..<20 { queue.add(.made(.raised, headset: "h\(number)", id: "\(number)")) }
        let headsets = Set((0..<20).map { "h\($0)" })
        let outcome = deliver(&queue, until: 1300, rejecting: headsets)
        #expect(outcome.rejected.count == 10 && queue.count == 20)
    }

    @Test func anOutageDropsNothingAndKeepsTheOrderUntilAMessageHasFailedThreeTimes() {
        var queue = DeliveryQueue(way: "phone")
        for headset in ["a", "b", "c"] { queue.add(.made(.raised, headset: headset, id: headset)) }
        var tried: [String] = []
        for second in [0, 5, 15, 35, 75] {
            let now = MonotonicTime.boot + .seconds(second)
            guard let notice = queue.begin(at: now) else { continue }
            tried.append(notice.headset ?? "")
            queue.end(notice, Self.failed, at: now)
        }
        #expect(tried == ["a", "a", "a", "b", "b"])
        #expect(queue.count == 3 && queue.undelivered == 0)
        let (sent, _) = deliver(&queue, from: 155, until: 156, isUp: true)
        #expect(sent == ["raised no_samples/b", "raised no_samples/c", "raised no_samples/a"])
    }

    /// Delivers what is due at each second by a program that ends with an error for messages of some headsets.
    private func deliver(_ queue: inout DeliveryQueue, in seconds: Range<Int>, failing headsets: Set<String>) -> [String] {
        var sent: [String] = []
        for second in seconds {
            let now = MonotonicTime.boot + .seconds(second)
            while let notice = queue.begin(at: now) {
                let isFailing = headsets.contains(notice.headset ?? "")
                queue.end(notice, isFailing ? .unclear(reason: "exit code 1") : .delivered, at: now)
                if !isFailing { sent.append("\(notice.event.rawValue) \(notice.headset ?? "")") }
            }
        }
        return sent
    }

    @Test func aMessageThatAProgramFailsOnHoldsUpNoOtherForEverAndStays() {
        var queue = DeliveryQueue(way: "script")
        for headset in ["a", "b", "c"] { queue.add(.made(.raised, headset: headset, id: headset)) }
        #expect(deliver(&queue, in: 0..<35, failing: ["a"]).isEmpty)
        #expect(deliver(&queue, in: 35..<36, failing: ["a"]) == ["raised b", "raised c"])
        #expect(queue.count == 1 && queue.undelivered == 0)
        // From now on each failure lets the others go first.
        #expect(deliver(&queue, in: 36..<2000, failing: ["a"]).isEmpty)
        queue.add(.made(.raised, headset: "d", id: "d"))
        #expect(deliver(&queue, in: 2000..<2601, failing: ["a"]) == ["raised d"])
        #expect(deliver(&queue, in: 2601..<2902, failing: []) == ["raised a"])
        #expect(queue.count == 0)
    }

    @Test func anEndOvertakesItsAlertNeverAndComesAlone() {
        var queue = DeliveryQueue(way: "script")
        for headset in ["a", "b"] { queue.add(.made(.raised, headset: headset, id: headset)) }
        #expect(deliver(&queue, in: 0..<600, failing: ["a"]) == ["raised b"])
        queue.add(.made(.recovered, headset: "a", id: "over"))
        #expect(queue.count == 1)
        #expect(deliver(&queue, in: 600..<1000, failing: []) == ["recovered a"], "it may have arrived")
        #expect(queue.count == 0)
    }

    @Test func howOftenAMessageHasFailedOutlivesTheProcess() throws {
        var queue = DeliveryQueue(way: "script")
        for headset in ["a", "b"] { queue.add(.made(.raised, headset: headset, id: headset)) }
        #expect(deliver(&queue, in: 0..<6, failing: ["a"]).isEmpty)
        var next = try JSONDecoder().decode(DeliveryQueue.self, from: try JSONEncoder().encode(queue))
        #expect(next.isDue(at: .boot), "its first attempt is the third of the message")
        #expect(deliver(&next, in: 0..<6, failing: ["a"]) == ["raised b"])
    }

    @Test func theEndOfADroppedMessageThatMayHaveArrivedIsSent() {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, headset: "first", id: "first"))
        if let notice = queue.begin(at: .boot) { queue.end(notice, .unclear(reason: "no answer"), at: .boot) }
        for number in 0..<DeliveryQueue.waitingMaximum { queue.add(.made(.raised, headset: "h\(number)", id: "\(number)")) }
        #expect(queue.undelivered == 1)
        queue.add(.made(.recovered, headset: "first", id: "over"))
        let (sent, _) = deliver(&queue, from: 600, until: 601, isUp: true)
        #expect(sent.last == "recovered no_samples/first")
    }

    @Test func aQueueThatAnEarlierVersionHasKeptIsRead() throws {
        var queue = DeliveryQueue(way: "phone")
        queue.add(.made(.raised, id: "1"))
        let text = String(decoding: try JSONEncoder().encode(queue), as: UTF8.self)
        #expect(!text.contains("rejections") && !text.contains("failures"))
        #expect(try JSONDecoder().decode(DeliveryQueue.self, from: Data(text.utf8)).count == 1)
    }
}
