import Bluetooth
import Foundation
import Synchronization
import Testing

@testable import Alerts
@testable import eegsync

/// The service in virtual time: what is kept, what is delivered, and what a killed process leaves.
@Suite struct AlertServiceTests {
    /// Ways, memory and clock of a service, which outlive it.
    private final class Outside: Sendable {
        struct State {
            var kept: AlertMemory
            var now = AlertInstant(time: .boot + .seconds(1000), unixNanoseconds: 1_790_000_000_000_000_000)
            var delivered: [(way: String, notice: Notice)] = []
            /// What was kept when a delivery began.
            var keptAtDelivery: [AlertMemory] = []
            var down: [String] = []
            var isDiskFull = false
            /// Ways that do not answer before the others have.
            var hanging: [String] = []
            var lit: [String: Bool] = [:]
        }

        let state: Mutex<State>

        init() {
            let now = AlertInstant(time: .boot + .seconds(1000), unixNanoseconds: 1_790_000_000_000_000_000)
            state = Mutex(State(kept: AlertMemory(origin: "origin", boot: "boot-1", at: now)))
        }

        var now: AlertInstant { state.withLock { $0.now } }
        var delivered: [String] {
            state.withLock { $0.delivered.map { "\($0.way) \($0.notice.event.rawValue) \($0.notice.alert)" } }
        }

        func service(_ alerts: Configuration.Alerts, from memory: AlertMemory? = nil) -> AlertService {
            AlertService(
                alerts: alerts, machine: "pi", memory: memory ?? state.withLock { $0.kept }, boot: "boot-1", at: now,
                keep: { memory throws(FileReason) in
                    if self.state.withLock({ $0.isDiskFull }) { throw FileReason("No space left on device") }
                    self.state.withLock { $0.kept = memory }
                },
                deliver: { notice, way, _ in
                    while self.state.withLock({
                        $0.hanging.contains(way.name) && $0.kept.queues.contains { $0.count > 0 && $0.way != way.name }
                    }) {
                        await Task.yield()
                    }
                    return self.state.withLock { state -> DeliveryOutcome in
                        state.keptAtDelivery.append(state.kept)
                        if state.down.contains(way.name) { return .refused(reason: "no network") }
                        state.delivered.append((way.name, notice))
                        return .delivered
                    }
                },
                light: { lamp, isLit in
                    self.state.withLock { $0.lit[lamp.name] = isLit }
                    return nil
                })
        }

        func pass(_ duration: Duration) {
            state.withLock {
                $0.now.time = $0.now.time + duration
                $0.now.unixNanoseconds += duration.nanoseconds
            }
        }
    }

    private static let alerts: Configuration.Alerts = {
        var alerts = Configuration.Alerts()
        alerts.rules = [AlertRule(.quarantined)]
        alerts.ways = [
            .init(name: "phone", kind: .http(.init(address: .url("http://x/")))), .init(name: "script", kind: .command(["/x"])),
            .init(name: "lamp", kind: .led(.init(name: "ACT"))),
        ]
        return alerts
    }()

    private func facts(isBad: Bool, headsets: [String] = ["left"]) -> AlertFacts {
        var facts = AlertFacts()
        facts.headsets = headsets.map { name in
            var headset = WatchedHeadset(name: name, situation: "is quarantined")
            headset.isQuarantined = isBad
            return headset
        }
        return facts
    }

    /// Between two messages the service looks, and lives.
    @Test func eachStepSendsOneMessageByEachWayAndTheNextIsDueAtOnce() async {
        let outside = Outside()
        outside.state.withLock { $0.down = ["phone"] }
        var service = outside.service(Self.alerts)
        let headsets = ["a", "b", "c"]
        var counts: [Int] = []
        for _ in headsets {
            _ = await service.step(facts(isBad: true, headsets: headsets), now: { outside.now })
            counts.append(outside.delivered.count)
            #expect(service.isDue(at: outside.now) == (counts.count < 3), "the phone, which is down, is not due")
        }
        #expect(counts == [1, 2, 3])
        #expect(outside.delivered == headsets.map { "script raised quarantined/\($0)" })
        outside.state.withLock { $0.down = [] }
        outside.pass(.seconds(5))
        #expect(service.isDue(at: outside.now))
        _ = await service.step(facts(isBad: true, headsets: headsets), now: { outside.now })
        #expect(outside.delivered.count == 4 && outside.delivered.last?.hasPrefix("phone") == true)
    }

    @Test func everyWayIsUsedAndTheLampIsLitWhileItLasts() async {
        let outside = Outside()
        var service = outside.service(Self.alerts)
        _ = await service.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered.sorted() == ["phone raised quarantined/left", "script raised quarantined/left"])
        #expect(outside.state.withLock { $0.lit } == ["ACT": true])
        for _ in 0..<20 {
            outside.pass(.seconds(5))
            _ = await service.step(facts(isBad: false), now: { outside.now })
        }
        #expect(outside.delivered.count == 4)
        #expect(outside.state.withLock { $0.lit } == ["ACT": false])
    }

    @Test func aRuleGoesByTheWaysThatItNames() async {
        let outside = Outside()
        var alerts = Self.alerts
        alerts.rules[0].ways = ["script"]
        var service = outside.service(alerts)
        _ = await service.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered == ["script raised quarantined/left"])
        #expect(outside.state.withLock { $0.lit } == ["ACT": false])
    }

    @Test func aWayThatIsDownHoldsNoOtherUp() async {
        let outside = Outside()
        outside.state.withLock { $0.down = ["phone"] }
        var service = outside.service(Self.alerts)
        var lines: [AlertService.Line] = []
        for _ in 0..<17_280 {
            lines += await service.step(facts(isBad: true), now: { outside.now })
            outside.pass(.seconds(5))
        }
        // Raised, and repeated three times within a day.
        #expect(outside.delivered.count == 4 && outside.delivered.allSatisfy { $0.hasPrefix("script") })
        #expect(lines.filter { $0.text.hasPrefix("phone") }.map(\.text) == ["phone: no network"], "said once")
        outside.state.withLock { $0.down = [] }
        outside.pass(.seconds(300))
        lines = await service.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered.filter { $0.hasPrefix("phone") } == ["phone repeated quarantined/left"])
        #expect(lines.contains { $0.text == "phone: messages go out by it again" })
    }

    @Test func aProcessThatIsKilledAnywhereSendsTheSameMessagesAgainAndForgetsNone() async {
        // Whatever was kept when a delivery began is where another process may have to go on from.
        let outside = Outside()
        var service = outside.service(Self.alerts)
        _ = await service.step(facts(isBad: true), now: { outside.now })
        let kept = outside.state.withLock { $0.keptAtDelivery }
        let identifiers = Set(outside.state.withLock { $0.delivered.map(\.notice.id) })
        #expect(kept.count == 2 && identifiers == ["origin-1"])
        for memory in kept {
            let again = Outside()
            var service = again.service(Self.alerts, from: memory)
            _ = await service.step(facts(isBad: true), now: { again.now })
            #expect(again.delivered.sorted() == outside.delivered.sorted())
            #expect(Set(again.state.withLock { $0.delivered.map(\.notice.id) }) == identifiers)
            // And its end, although this process never saw it begin.
            for _ in 0..<20 {
                again.pass(.seconds(5))
                _ = await service.step(facts(isBad: false), now: { again.now })
            }
            #expect(again.delivered.filter { $0.contains("recovered") }.count == 2)
        }
    }

    @Test func afterADeliveryAnotherProcessSendsNothingAgain() async {
        let outside = Outside()
        var first = outside.service(Self.alerts)
        _ = await first.step(facts(isBad: true), now: { outside.now })
        var second = outside.service(Self.alerts)
        _ = await second.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered.count == 2)
    }

    @Test func whatWasDeliveredWhileAnotherWayHangsIsNotRepeatedByAProcessThatFollowsAKill() async throws {
        let outside = Outside()
        outside.state.withLock { $0.hanging = ["phone"] }
        var service = outside.service(Self.alerts)
        // Ends only because what the script has taken is kept while the phone hangs.
        _ = await service.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered == ["script raised quarantined/left", "phone raised quarantined/left"])
        let atTheHang = try #require(outside.state.withLock { $0.keptAtDelivery.last })
        let again = Outside()
        var second = again.service(Self.alerts, from: atTheHang)
        _ = await second.step(facts(isBad: true), now: { again.now })
        #expect(again.delivered == ["phone raised quarantined/left"])
    }

    @Test func aFullDiskIsSaidAndSilencesNobody() async {
        let outside = Outside()
        outside.state.withLock { $0.isDiskFull = true }
        var service = outside.service(Self.alerts)
        let lines = await service.step(facts(isBad: true), now: { outside.now })
        #expect(outside.delivered.count == 2)
        #expect(lines.contains { $0.text == "memory: what was noticed cannot be kept: No space left on device" })
    }

    @Test func nothingIsKeptWhileNothingHappens() async {
        let outside = Outside()
        let before = outside.state.withLock { $0.kept }
        var service = outside.service(Self.alerts)
        for _ in 0..<1000 {
            outside.pass(.seconds(5))
            _ = await service.step(facts(isBad: false), now: { outside.now })
        }
        #expect(outside.state.withLock { $0.kept } == before)
    }

    @Test func aWayThatIsGoneTakesItsMessagesWithIt() async {
        let outside = Outside()
        outside.state.withLock { $0.down = ["phone"] }
        var service = outside.service(Self.alerts)
        _ = await service.step(facts(isBad: true), now: { outside.now })
        var alerts = Self.alerts
        alerts.ways.removeFirst()
        let later = outside.service(alerts)
        #expect(later.memory.queues.map(\.way) == ["script"])
    }
}
