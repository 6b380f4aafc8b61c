import Testing

@testable import Centre

/// What is read of the machines of a study: each machine says of itself what it likes.
@Suite struct FleetReadingTests {
    private static let columns = 28

    private static func headset(_ cells: [Int: String]) -> FleetReading.Headset? {
        row([11: "left"].merging(cells) { _, second in second }).headset
    }

    private static func row(_ cells: [Int: String]) -> FleetReading.Row {
        FleetReading.Row((0..<columns).map { cells[$0] })
    }

    @Test func aBatteryHasPercent() {
        for (text, wanted) in [("0", 0), ("61.4", 61.4), ("100", 100)] as [(String, Double)] {
            #expect(Self.headset([17: text])?.batteryPercent == wanted)
        }
        for text in ["-1", "100.5", "1e300", "-1e300", "9.3e18", "NaN", "Infinity", "-Infinity"] {
            #expect(Self.headset([17: text])?.batteryPercent == nil)
        }
    }

    @Test(arguments: ["NaN", "Infinity", "-Infinity"]) func whatIsNoNumberWasNotSaid(text: String) {
        let row = Self.row([4: text, 10: text, 11: "left", 18: text, 19: text, 20: text, 22: text])
        #expect(row.contactSeconds == nil && row.diskDays == nil)
        #expect(row.headset?.newestSeconds == nil && row.headset?.delaySeconds == nil)
        #expect(row.headset?.backlogSeconds == nil && row.headset?.missingTodaySeconds == nil)
    }

    @Test func aQuotaIsOfTheMachine() {
        let row = Self.row([11: "left", 26: "1000", 27: "900"])
        #expect(row.quotaKiB == 1000 && row.usedKiB == 900)
        #expect(Self.row([11: "left"]).quotaKiB == nil)
    }

    @Test func whatIsANumberWas() {
        let row = Self.row([4: "3.5", 10: "40", 9: "9223372036854775807", 11: "left", 18: "-2", 21: "-9223372036854775808"])
        #expect(row.contactSeconds == 3.5 && row.diskDays == 40 && row.freeBytes == .max)
        #expect(row.headset?.newestSeconds == -2 && row.headset?.gapsToday == .min)
    }
}
