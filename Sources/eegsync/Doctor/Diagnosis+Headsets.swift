extension Diagnosis {
    /// Headsets that were let go, and the times of those that stream.
    static func headsets(_ headsets: [HostFacts.Headset]) -> [Finding] {
        let quarantined = headsets.compactMap { headset in
            headset.quarantine.map {
                Finding.problem("headset", "\(headset.name) \($0.sentence)", remedy: $0.remedy)
            }
        }
        let warnings = headsets.flatMap { headset in
            (headset.timeWarnings ?? []).map {
                Finding.warning("times", "\(headset.name): \($0.sentence)", remedy: $0.remedy)
            }
        }
        let isTimed = headsets.contains { $0.timeWarnings != nil }
        let fine = Finding.ok("times", "nothing is wrong with the times and the rates of what streams")
        return quarantined + (warnings.isEmpty && isTimed ? [fine] : warnings)
    }
}
