import Simulation
import Testing

@testable import Assembly

/// The set of missing samples against a plain set of numbers.
struct MissingSamplesTests {
    @Test("Any sequence of insertions, removals and refusals leaves what a plain set holds", arguments: UInt64(1)...40)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var missing = MissingSamples()
        /// By n: the gap it belongs to, and whether it may still be had.
        var model: [Int64: Expected] = [:]
        for _ in 0..<300 {
            let first = Int64(random.below(400)) - 100
            let range = first..<(first + Int64(random.below(40)))
            switch random.below(3) {
            case 0 where !model.keys.contains(where: range.contains):
                missing.insert(MissingSamples.Run(firstN: range.lowerBound, end: range.upperBound, gapFirstN: first))
                for n in range { model[n] = Expected(gap: first, isRecoverable: true) }
            case 1:
                let removed = missing.remove(range)
                #expect(Self.expand(removed) == model.filter { range.contains($0.key) })
                for n in range { model[n] = nil }
            default:
                missing.giveUp(range)
                for n in range { model[n]?.isRecoverable = false }
            }
            #expect(Self.expand(missing.runs) == model)
            #expect(missing.isEmpty == model.isEmpty)
            #expect(zip(missing.runs, missing.runs.dropFirst()).allSatisfy { $0.end <= $1.firstN })
            #expect(missing.runs.allSatisfy { $0.firstN < $0.end })
            let probe = Int64(random.below(400)) - 100
            #expect(missing.intersects(probe..<(probe + 5)) == model.keys.contains { (probe..<(probe + 5)).contains($0) })
            #expect(
                missing.firstRecoverable(from: probe)?.firstN
                    == model.filter { $0.key >= probe && $0.value.isRecoverable }.keys.min())
        }
    }

    @Test("An empty run is no run, and the start of time may be given up")
    func bounds() {
        var missing = MissingSamples()
        missing.insert(MissingSamples.Run(firstN: 5, end: 5, gapFirstN: 5))
        #expect(missing.isEmpty)
        missing.insert(MissingSamples.Run(firstN: 5, end: 9, gapFirstN: 5))
        missing.giveUp(.min..<7)
        #expect(missing.firstRecoverable() == MissingSamples.Run(firstN: 7, end: 9, gapFirstN: 5))
        #expect(missing.remove(.min..<(.max)).count == 2)
        #expect(missing.isEmpty)
    }

    private struct Expected: Hashable {
        var gap: Int64
        var isRecoverable: Bool
    }

    private static func expand(_ runs: [MissingSamples.Run]) -> [Int64: Expected] {
        var expanded: [Int64: Expected] = [:]
        for run in runs {
            for n in run.firstN..<run.end {
                #expect(expanded[n] == nil, "\(n) is in two runs")
                expanded[n] = Expected(gap: run.gapFirstN, isRecoverable: run.isRecoverable)
            }
        }
        return expanded
    }
}
