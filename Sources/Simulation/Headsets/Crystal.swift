package import Bluetooth

/// The crystal of a headset: how fast the headset's own time runs, which all of its streams and its clock follow.
///
/// It is off by a constant part, up to ±2 %, and wanders slowly around that as it warms up and cools down. A pure value: the
/// headset's time at an instant, and the instant of a headset's time, are each other's inverse to the nanosecond.
package struct Crystal: Hashable, Sendable {
    /// The largest constant error, in parts per million: 2 %.
    package static let errorMaximum = 20_000.0

    /// By how much it is fast, in parts per million, but for its wandering.
    package var errorPPM: Double
    /// By how much its speed wanders to either side, in parts per million.
    package var wanderPPM: Double
    /// How long it takes from fast to slow and back; greater than 0.
    package var wanderPeriod: Duration
    /// Where in its period the wandering is at instant 0: 0 up to, but not including, 1.
    package var wanderPhase: Double

    /// Creates a crystal; errors beyond ``errorMaximum`` are cut.
    package init(
        errorPPM: Double = 0, wanderPPM: Double = 0, wanderPeriod: Duration = .seconds(3600), wanderPhase: Double = 0
    ) {
        self.errorPPM = max(-Self.errorMaximum, min(Self.errorMaximum, errorPPM))
        self.wanderPPM = max(-1000, min(1000, wanderPPM))
        self.wanderPeriod = wanderPeriod
        self.wanderPhase = wanderPhase - wanderPhase.rounded(.down)
    }

    /// Any crystal within the limits, wandering by up to 40 ppm within an hour.
    package static func random(_ generator: inout SeededGenerator) -> Crystal {
        Crystal(
            errorPPM: (generator.fraction() * 2 - 1) * errorMaximum, wanderPPM: generator.fraction() * 40,
            wanderPeriod: .seconds(1800 + Int64(generator.below(5400))), wanderPhase: generator.fraction())
    }

    /// What the headset's time is at an instant, in nanoseconds of its own; never runs backwards.
    package func headsetTime(at instant: MonotonicTime) -> Int64 {
        let time = Double(instant.nanoseconds)
        return instant.nanoseconds + Int64((time * errorPPM * 1e-6 + wandered(time)).rounded())
    }

    /// The first instant at which the headset's time is `headsetTime`.
    package func instant(of headsetTime: Int64) -> MonotonicTime {
        var guess = Double(headsetTime) / (1 + errorPPM * 1e-6)
        guess -= wandered(guess)
        var instant = MonotonicTime(nanoseconds: Int64(guess.rounded()))
        // What is left is of the second order: microseconds at most, gone after a step or two.
        for _ in 0..<8 {
            let rest = headsetTime - self.headsetTime(at: instant)
            if rest == 0 { break }
            instant = instant + .nanoseconds(rest)
        }
        while self.headsetTime(at: instant) < headsetTime { instant = instant + .nanoseconds(1) }
        while self.headsetTime(at: instant - .nanoseconds(1)) >= headsetTime { instant = instant - .nanoseconds(1) }
        return instant
    }

    /// By how many nanoseconds wandering has set the headset's time forward since instant 0. The speed follows a wave of
    /// parabolas, whose integral needs no library's sine: the same on every machine.
    private func wandered(_ time: Double) -> Double {
        guard wanderPPM != 0 else { return 0 }
        let half = Double(max(1, wanderPeriod.nanoseconds)) / 2
        let turns = time / (2 * half) + wanderPhase
        return wanderPPM * 1e-6 * half * (Self.wave(turns - turns.rounded(.down)) - Self.wave(wanderPhase))
    }

    /// The integral, from 0, of 4x(1 − x) and its mirror image, one after the other, over a turn of two half-waves.
    private static func wave(_ turn: Double) -> Double {
        func arc(_ x: Double) -> Double { 2 * x * x - 4 * x * x * x / 3 }
        return turn < 0.5 ? arc(2 * turn) : 2.0 / 3 - arc(2 * turn - 1)
    }
}

extension Crystal {
    /// How many whole periods of a frequency, in hertz of the headset's time, lie in a time of the headset; 0 before it began.
    static func periods(in headsetNanoseconds: Int64, frequency: Double) -> Int64 {
        headsetNanoseconds <= 0 ? 0 : Int64(Double(headsetNanoseconds) * frequency / 1e9)
    }

    /// The shortest time of the headset in which so many whole periods lie: the exact inverse, whatever the rounding.
    static func headsetTime(ofPeriods count: Int64, frequency: Double) -> Int64 {
        guard count > 0 else { return 0 }
        var time = Int64((Double(count) * 1e9 / frequency).rounded(.up))
        while periods(in: time, frequency: frequency) < count { time += 1 }
        while time > 0, periods(in: time - 1, frequency: frequency) >= count { time -= 1 }
        return time
    }
}
