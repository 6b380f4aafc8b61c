import Testing

@testable import Assembly

/// The line under the arrivals.
@Suite("The line under the arrivals")
struct ArrivalEnvelopeTests {
    /// Points of a clock that is slow by a part, each so late: (seconds, milliseconds late).
    private func points(slope: Double, _ arrivals: [(seconds: Double, late: Double)]) -> [ArrivalEnvelope.Point] {
        arrivals.map { ArrivalEnvelope.Point(x: $0.seconds * 1e9, y: slope * $0.seconds * 1e9 + $0.late * 1e6) }
    }

    @Test("A line that rests on two arrivals near to each other says that the far ones may know better")
    func restsOnFewSeconds() throws {
        // A headset that is slow by 0.59 %: its first packets waited for a connection event. Seed 1091912936459.
        let slope = 0.0059
        let arrivals = points(
            slope: slope,
            [
                (0, 18.2), (1.044, 18.0), (2.028, 18.2), (3.072, 18.1), (4.056, 18.3), (5.1, 18.1), (7.008, 1.4),
                (20.14, 9.4), (69.136, 14.2),
            ])
        let fit = try #require(ArrivalEnvelope(arrivals[...], prior: .unknown, supposedLateness: 9e6))
        for seconds in stride(from: 0.0, through: 70, by: 10) {
            let error = abs(fit.y(at: seconds * 1e9) - slope * seconds * 1e9)
            #expect(error <= fit.uncertainty(at: seconds * 1e9), "\(error / 1e6) ms at \(seconds) s")
        }
        #expect(fit.uncertainty(at: 69e9) < 0.5e9)
    }

    @Test("A minute of arrivals tells the rate, whatever was supposed", arguments: [-0.02, -0.0003, 0, 0.0059, 0.02])
    func rate(slope: Double) throws {
        let arrivals = points(slope: slope, (0..<60).map { (Double($0), Double($0 * 7 % 11) / 10) })
        let fit = try #require(ArrivalEnvelope(arrivals[...], prior: .unknown, supposedLateness: 2e6))
        #expect(abs(fit.rate.slope - slope) <= 3 * fit.rate.deviation && fit.rate.deviation < 60e-6)
        #expect(fit.uncertainty(at: 30e9) < 2e6)
    }
}
