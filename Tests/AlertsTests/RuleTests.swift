import Bluetooth
import Testing

@testable import Alerts

/// Each rule raises, says what is the case, and is over.
@Suite struct RuleTests {
    private static func rule(_ kind: AlertCondition.Kind, _ change: (inout AlertRule) -> Void = { _ in }) -> AlertRule {
        var rule = AlertRule(kind)
        change(&rule)
        return rule
    }

    @Test func silenceCountsFromTheNewestSampleNotFromTheStartOfThisProcess() {
        var world = World([AlertRule(.noSamples)])
        world.left { $0.silence = .seconds(300) }
        let notice = world.pass(World.step).first
        #expect(notice?.title == "left: no samples for 5 min: it is looked for")
        #expect(notice?.severity == .critical)
        #expect(notice.map { $0.atUnixNanoseconds - $0.sinceUnixNanoseconds } == 300_000_000_000)
        world.left { $0.silence = .seconds(1) }
        #expect(world.pass(.seconds(120)).map(\.event) == [.recovered])
    }

    @Test func silenceShorterThanTheRulesTimeIsNoAlert() {
        var world = World([AlertRule(.noSamples)])
        for seconds in [1, 10, 59] {
            world.left { $0.silence = .seconds(seconds) }
            #expect(world.pass(.seconds(300)).isEmpty)
        }
        world.left { $0.silence = .seconds(60) }
        #expect(world.pass(World.step).map(\.event) == [.raised])
    }

    @Test func aPauseIsNoAlert() {
        var world = World([AlertRule(.noSamples)])
        world.left { $0.silence = .seconds(3600) }
        world.facts.isPaused = true
        #expect(world.pass(.seconds(600)).isEmpty)
    }

    @Test func aBatteryIsLowBelowItsLimitAndWellFivePercentAboveIt() {
        var world = World([AlertRule(.batteryBelow)])
        func after(_ percent: Double?, in world: inout World) -> [Notice.Event] {
            world.left { $0.batteryPercent = percent }
            return world.pass(.seconds(180)).map(\.event)
        }
        #expect(after(15, in: &world) == [])
        #expect(after(14.5, in: &world) == [.raised])
        #expect(world.notices.last?.text == "the battery is at 14.5 %")
        // A reading that hops about the limit is one alert.
        #expect([16, 14, 19.9, nil, 13].flatMap { after($0, in: &world) } == [])
        #expect(after(80, in: &world) == [.recovered])
    }

    @Test func badContactMustLast() {
        var world = World([AlertRule(.contactBad)])
        world.left { $0.badContacts = ["TP9 is flat"] }
        #expect(world.pass(.seconds(295)).isEmpty)
        world.left { $0.badContacts = [] }
        #expect(world.pass(World.step).isEmpty)
        world.left { $0.badContacts = ["TP9 is flat", "AF7 has poor contact"] }
        #expect(world.pass(.seconds(305)).map(\.text) == ["contact is bad: TP9 is flat, AF7 has poor contact"])
    }

    @Test func soManyChannelsMustBeBad() {
        var world = World([Self.rule(.contactBad) { $0.condition = .contactBad(channels: 2) }])
        world.left { $0.badContacts = ["TP9 is flat"] }
        #expect(world.pass(.seconds(900)).isEmpty)
    }

    @Test func gapsAreAShareOfWhatWasToCome() {
        var world = World([AlertRule(.gapRate)])
        world.left { $0.missingFraction = 0.049 }
        #expect(world.pass(.seconds(600)).isEmpty)
        world.left { $0.missingFraction = 0.072 }
        #expect(world.pass(.seconds(125)).map(\.text) == ["7.2 % of the last ten minutes are missing"])
        world.left { $0.missingFraction = 0.03 }
        #expect(world.pass(.seconds(600)).isEmpty)
        world.left { $0.missingFraction = 0.02 }
        #expect(world.pass(.seconds(65)).map(\.event) == [.recovered])
    }

    @Test func aDiskThatFillsUp() {
        var world = World([AlertRule(.diskDays)])
        world.facts.diskDays = 2.9
        #expect(world.pass(.seconds(70)).map(\.title) == ["the disk lasts for 2.9 days at the rate of what is recorded"])
        world.facts.diskDays = 3.5
        #expect(world.pass(.seconds(300)).isEmpty)
        world.facts.diskDays = 4
        #expect(world.pass(.seconds(70)).map(\.event) == [.recovered])
    }

    @Test func aClockThatIsNotSynchronisedForAnHour() {
        var world = World([AlertRule(.clockUnsynchronised)])
        world.facts.isClockSynchronised = false
        #expect(world.pass(.seconds(3595)).isEmpty)
        #expect(world.pass(.seconds(10)).map(\.event) == [.raised])
        world.facts.isClockSynchronised = true
        #expect(world.pass(.seconds(70)).map(\.event) == [.recovered])
    }

    @Test func deathsWithinAnHour() {
        var world = World([AlertRule(.restarts)])
        world.facts.restarts = [.seconds(60), .seconds(600), .seconds(3601)]
        #expect(world.pass(.seconds(60)).isEmpty)
        world.facts.restarts = [.seconds(5), .seconds(120), .seconds(660)]
        #expect(world.pass(World.step).map(\.text) == ["eegsync run, or the machine, died 3 times in the last 1 h"])
    }

    @Test func aQuarantineIsSaidAtOnceWithItsReason() {
        var world = World([AlertRule(.quarantined)])
        world.left {
            $0.isQuarantined = true
            $0.situation = "is quarantined: it sends 300 channels"
            $0.remedy = "systemctl reload eegsync"
        }
        let lines = world.pass(World.step).first?.lines() ?? []
        #expect(lines.first == "left: is quarantined: it sends 300 channels.")
        #expect(lines.dropFirst().first == "You can: systemctl reload eegsync.")
    }

    @Test func heatAndAWeakSupply() {
        var world = World([AlertRule(.temperature), AlertRule(.undervoltage)])
        world.facts.temperatureCelsius = 79.9
        world.facts.isUndervoltage = false
        #expect(world.pass(.seconds(300)).isEmpty)
        world.facts.temperatureCelsius = 82.4
        world.facts.isUndervoltage = true
        #expect(world.pass(.seconds(70)).map(\.alert).sorted() == ["temperature", "undervoltage"])
        world.facts.temperatureCelsius = 76
        world.facts.isUndervoltage = false
        #expect(world.pass(.seconds(300)).map(\.alert) == ["undervoltage"])
        world.facts.temperatureCelsius = 74.9
        #expect(world.pass(.seconds(70)).map(\.alert) == ["temperature"])
    }

    @Test func aDatabaseThatCannotBeReadFreezesWhatIsSaidOfHeadsets() {
        var world = World(AlertRule.standard)
        world.left { $0.silence = .seconds(60) }
        world.pass(World.step)
        world.facts.headsets = nil
        world.facts.databaseProblem = "the disk is gone"
        #expect(world.pass(.seconds(3600)).map(\.title) == ["the database cannot be read: the disk is gone"])
        world.facts.databaseProblem = nil
        world.left { $0.silence = .seconds(3700) }
        #expect(world.pass(.seconds(70)).map { "\($0.event.rawValue) \($0.alert)" } == ["recovered database_unreadable"])
        #expect(world.events == ["raised no_samples/left", "raised database_unreadable", "recovered database_unreadable"])
    }

    @Test func nothingThatIsNotKnownRaisesAnything() {
        var world = World(AlertRule.standard)
        #expect(world.pass(.seconds(90_000)).isEmpty)
    }

    @Test func aRuleConcernsTheHeadsetsThatItNames() {
        var world = World([Self.rule(.quarantined) { $0.headsets = ["right"] }])
        world.left { $0.isQuarantined = true }
        #expect(world.pass(.seconds(60)).isEmpty)
        world.facts.headsets?.append(WatchedHeadset(name: "right", situation: "is quarantined"))
        world.facts.headsets?[1].isQuarantined = true
        #expect(world.pass(.seconds(60)).map(\.alert) == ["quarantined/right"])
    }

    @Test func everyKindHasAStandardRuleWithWords() {
        #expect(AlertRule.standard.map(\.name) == AlertCondition.Kind.allCases.map(\.rawValue))
        #expect(AlertRule.standard.allSatisfy { $0.condition.kind.rawValue == $0.name && !$0.condition.words.isEmpty })
    }
}
