import Bluetooth
import Testing

@testable import Alerts

/// Holding, clearing, repeating, flapping, restarts.
@Suite struct DebounceTests {
    @Test func whatFlapsBecomesOneAlertThatLasts() {
        var world = World([AlertRule(.undervoltage)])
        var step = 0
        // Twenty seconds weak, two minutes well, for two days.
        world.pass(.seconds(2 * 86_400)) { world in
            world.facts.isUndervoltage = step % 28 < 4
            step += 1
        }
        #expect(step == 34_560)
        let raised = world.notices.filter { $0.event == .raised }
        #expect(raised.count == 2, "1 min well ends it, 4 min do not come: \(world.events)")
        #expect(raised.last?.text.hasSuffix("(it has come back 1 time lately)") == true)
        // Then only what is repeated, each six hours.
        #expect(world.notices.filter { $0.event == .repeated }.count == 7)
        #expect(world.notices.count == 10)
    }

    @Test func withoutThatTwoDaysWouldBeThousandsOfMessages() {
        // The planted defect: a rule that is over at once, and no memory of having been over, as each process begins anew.
        var rule = AlertRule(.undervoltage)
        (rule.clearing, rule.holding) = (.zero, .zero)
        var count = 0
        for cycle in 0..<1234 {
            var world = World([rule])
            world.facts.isUndervoltage = true
            count += world.pass(World.step).count
            world.facts.isUndervoltage = false
            count += world.pass(World.step).count
            #expect(cycle < 1234)
        }
        #expect(count == 2468)
    }

    @Test func aConditionThatComesAndGoesQuickerThanTheRulesTimeIsNoAlert() {
        var world = World([AlertRule(.clockUnsynchronised)])
        var step = 0
        world.pass(.seconds(86_400)) { world in
            world.facts.isClockSynchronised = step % 60 == 59
            step += 1
        }
        #expect(world.notices.isEmpty)
    }

    @Test func whatLastsIsRepeatedAndWhatIsNotToBeIsNot() {
        for (repeating, expected) in [(Duration.seconds(3600), 24), (nil, 0)] as [(Duration?, Int)] {
            var world = World([AlertRule(.quarantined)], repeating: repeating)
            world.left { $0.isQuarantined = true }
            world.pass(.seconds(86_400 + 60))
            #expect(world.notices.count == expected + 1)
            #expect(Set(world.notices.map(\.id)).count == world.notices.count)
        }
    }

    @Test func aRecoveryIsSaidOnceItHasLasted() {
        var world = World([AlertRule(.quarantined)])
        world.left { $0.isQuarantined = true }
        world.pass(World.step)
        world.left { $0.isQuarantined = false }
        #expect(world.pass(.seconds(60)).isEmpty)
        let over = world.pass(World.step)
        #expect(over.map(\.event) == [.recovered])
        #expect(over.first?.title == "over: left: is not quarantined")
        #expect(over.first?.remedy == nil)
    }

    @Test func aHeadsetThatIsNotWantedAnyMoreEndsItsAlert() {
        var world = World([AlertRule(.noSamples)])
        world.left { $0.silence = .seconds(60) }
        world.pass(World.step)
        world.facts.headsets = []
        #expect(world.pass(World.step).map(\.title) == ["over: left: its recording is no longer wanted"])
    }

    @Test func aRuleThatIsGoneEndsItsAlerts() {
        var world = World([AlertRule(.noSamples)])
        world.left { $0.silence = .seconds(60) }
        world.pass(World.step)
        world.restart(rules: [AlertRule(.batteryBelow)])
        #expect(world.pass(World.step).map(\.text) == ["the rule no_samples is no longer in the configuration"])
    }

    @Test func anotherProcessRepeatsNothingAndForgetsNothing() {
        var world = World([AlertRule(.noSamples)])
        world.left { $0.silence = .seconds(60) }
        world.pass(World.step)
        for _ in 0..<10 {
            world.restart()
            #expect(world.pass(.seconds(600)).isEmpty)
        }
        world.left { $0.silence = .seconds(1) }
        world.restart()
        #expect(world.pass(.seconds(70)).map(\.event) == [.recovered])
        #expect(world.notices.map(\.id) == ["origin-1", "origin-2"])
    }

    @Test func theEndOfAnAlertMustLastInOneProcess() {
        var world = World([AlertRule(.quarantined)])
        world.left { $0.isQuarantined = true }
        world.pass(World.step)
        world.left { $0.isQuarantined = false }
        world.pass(.seconds(50))
        world.restart()
        #expect(world.pass(.seconds(60)).isEmpty, "nobody knows what was between the two processes")
        #expect(world.pass(World.step).map(\.event) == [.recovered])
    }

    @Test func aRebootCountsAsLongAsTheWallClockSays() {
        var world = World([AlertRule(.quarantined)], repeating: .seconds(3600))
        world.left { $0.isQuarantined = true }
        world.pass(World.step)
        // Off for 50 minutes; the boottime begins at 0.
        world.advance(.seconds(3000))
        world.restart(boot: "boot-2", booted: .seconds(30))
        #expect(world.pass(.seconds(590)).isEmpty)
        let again = world.pass(.seconds(15))
        #expect(again.map(\.event) == [.repeated])
        #expect(again.first.map { ($0.atUnixNanoseconds - $0.sinceUnixNanoseconds) / 1_000_000_000 } == 3600)
    }

    @Test func aWallClockThatWasSetBackWhileTheMachineWasOffCountsAsNoTime() {
        var world = World([AlertRule(.quarantined)], repeating: .seconds(3600))
        world.left { $0.isQuarantined = true }
        world.pass(World.step)
        world.advance(.seconds(-3_000_000))
        world.restart(boot: "boot-2", booted: .seconds(30))
        #expect(world.pass(.seconds(3595)).isEmpty)
        #expect(world.pass(.seconds(10)).map(\.event) == [.repeated])
    }

    @Test func aThousandHeadsetsAreBounded() {
        var world = World([AlertRule(.quarantined)])
        world.facts.headsets = (0..<1000).map {
            var headset = WatchedHeadset(name: "h\($0)", situation: "is quarantined")
            headset.isQuarantined = true
            return headset
        }
        world.pass(.seconds(600))
        #expect(world.notices.count == AlertEngine.raisedMaximum)
        world.facts.headsets = []
        world.pass(.seconds(600))
        #expect(world.notices.count == 2 * AlertEngine.raisedMaximum)
    }
}
