import Bluetooth

/// Bounds what is reported of one headset whose link comes and goes: a few changes in a minute one by one, of more the sum.
struct PhaseLines {
    private var began: MonotonicTime?
    private var reported = 0
    private var summed = PhaseChanges(count: 0, returns: 0, period: .zero)

    /// When the sum is due; nil where all is reported.
    func deadline(_ limits: AcquisitionLimits) -> MonotonicTime? {
        summed.count > 0 ? began.map { $0 + limits.linesPeriod } : nil
    }

    /// Notes a change. True where it is to be reported by itself.
    mutating func note(isReturn: Bool, _ limits: AcquisitionLimits, at now: MonotonicTime) -> Bool {
        if summed.count == 0, began.map({ now - $0 >= limits.linesPeriod }) ?? true { (began, reported) = (now, 0) }
        guard reported >= limits.linesPerPeriod else {
            reported += 1
            return true
        }
        summed.count += 1
        summed.returns += isReturn ? 1 : 0
        return false
    }

    /// The sum, where it is due. What goes on in the same way is summed up again.
    mutating func takeSum(_ limits: AcquisitionLimits, at now: MonotonicTime) -> PhaseChanges? {
        guard let deadline = deadline(limits), deadline <= now, let began else { return nil }
        var sum = summed
        sum.period = now - began
        self.began = now
        summed = PhaseChanges(count: 0, returns: 0, period: .zero)
        return sum
    }
}
