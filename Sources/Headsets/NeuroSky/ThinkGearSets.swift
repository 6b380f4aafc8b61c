/// Which sets of powers of a ThinkGear stream were lost: one follows each 512 raw samples, and damaged bytes alone do not show
/// one. Eleven bytes may be what is left of a raw frame and of a set, or of two raw frames.
struct ThinkGearSets: Hashable, Sendable {
    private static let period = ThinkGearProfile.samplesPerPower
    /// By so many raw samples damaged bytes may be wrong.
    private static let tolerance = 2
    /// Damage before the first set that is remembered: more of it is no stream.
    private static let suspectLimit = 16

    /// Raw samples since the link began, those in damaged bytes included.
    private var raw = 0
    /// ``raw`` at the latest set that came, or is known to be lost; nil before the first one.
    private var latest: Int?
    /// Between which raw samples the first sets may have been lost.
    private var suspects: [ClosedRange<Int>] = []
    /// Whether anything was damaged since the latest set.
    private var isDamaged = false
    /// False for a module that sends none: what its damaged bytes were, nothing else shows.
    private var hasRaw = false

    mutating func addRaw() {
        raw += 1
        hasRaw = true
    }

    /// Damaged bytes, in which there may have been so many raw samples and sets.
    ///
    /// - Returns: how many sets were lost there for certain, as the raw samples bear them out.
    mutating func addDamage(raw count: Int, sets: Int) -> Int {
        guard hasRaw else { return sets }
        let before = raw
        raw += count
        isDamaged = true
        guard sets > 0 else { return 0 }
        guard let latest else {
            if suspects.count < Self.suspectLimit { suspects.append((before - Self.tolerance)...(raw + Self.tolerance)) }
            return 0
        }
        let due = (raw - latest + Self.tolerance) / Self.period
        guard due == sets else { return 0 }
        self.latest = latest + due * Self.period
        return due
    }

    /// A set has come.
    ///
    /// - Returns: how many were lost before it.
    mutating func takeSet() -> Int {
        defer { (latest, suspects, isDamaged) = (raw, [], false) }
        if let latest {
            // Without damage an interval that is no multiple is that of a module that began anew.
            let spread = isDamaged ? Self.period / 2 : 0
            let periods = (raw - latest + Self.period / 2) / Self.period
            return periods > 1 && abs(raw - latest - periods * Self.period) <= spread ? periods - 1 : 0
        }
        var lost = 0
        while suspects.contains(where: { $0.contains(raw - (lost + 1) * Self.period) }) { lost += 1 }
        return lost
    }
}
