import Bluetooth
import Testing

@Suite struct ConnectionParametersTests {
    private func parameters(
        _ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16
    ) -> ConnectionParameters? {
        ConnectionParameters(
            minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout)
    }

    @Test func theRangesOfTheSpecificationHold() {
        #expect(parameters(6, 6, 0, 10) != nil)
        #expect(parameters(3200, 3200, 0, 3200) != nil)
        #expect(parameters(5, 6, 0, 400) == nil)
        #expect(parameters(24, 12, 0, 400) == nil)
        #expect(parameters(6, 3201, 0, 3200) == nil)
        #expect(parameters(6, 6, 500, 3200) == nil)
        #expect(parameters(6, 6, 0, 9) == nil)
        #expect(parameters(6, 6, 0, 3201) == nil)
    }

    @Test func theTimeoutIsLongerThanTwoIntervalsOfASleepingPeripheral() {
        // 30 ms x (1 + 4) x 2 = 300 ms
        #expect(parameters(24, 24, 4, 30) == nil)
        #expect(parameters(24, 24, 4, 31) != nil)
        #expect(parameters(80, 80, 0, 20) == nil)
        #expect(parameters(80, 80, 0, 21) != nil)
    }

    @Test func theIntervalHoldsTwoNotificationsWithinItsBounds() {
        let slow = ConnectionParameters(packetPeriod: .milliseconds(40), silenceLimit: .seconds(9))
        #expect(slow == parameters(12, 24, 0, 300))
        let muse = ConnectionParameters(packetPeriod: .milliseconds(7), silenceLimit: .milliseconds(1500))
        #expect(muse == parameters(6, 11, 0, 200))
        let fastest = ConnectionParameters(packetPeriod: .microseconds(900), silenceLimit: .milliseconds(500))
        #expect(fastest == parameters(6, 6, 0, 200))
        let endless = ConnectionParameters(packetPeriod: .seconds(3600), silenceLimit: .seconds(3600))
        #expect(endless == parameters(12, 24, 0, 600))
    }

    @Test func everyChoiceIsOneThatTheSpecificationAllows() {
        for period in stride(from: -10, through: 500, by: 3) {
            for silence in stride(from: -100, through: 10_000, by: 333) {
                let chosen = ConnectionParameters(packetPeriod: .milliseconds(period), silenceLimit: .milliseconds(silence))
                #expect(
                    parameters(chosen.minimumInterval, chosen.maximumInterval, chosen.latency, chosen.supervisionTimeout)
                        == chosen)
                #expect((Duration.seconds(2) ... .seconds(6)).contains(chosen.supervision))
            }
        }
    }

    @Test func peopleReadMillisecondsAndSeconds() {
        #expect(parameters(12, 24, 0, 400)?.description == "interval 15 ... 30 ms, latency 0, supervision timeout 4 s")
        #expect(parameters(6, 11, 1, 42)?.description == "interval 7.5 ... 13.75 ms, latency 1, supervision timeout 0.42 s")
        #expect(parameters(24, 40, 0, 405)?.interval == .milliseconds(30) ... .milliseconds(50))
        #expect(parameters(24, 40, 0, 405)?.description.hasSuffix("4.05 s") == true)
        #expect(parameters(24, 40, 0, 3200)?.supervision == .seconds(32))
    }
}
