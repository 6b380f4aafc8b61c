import Simulation
import Testing

@testable import Assembly

/// Losses of a stream without counter, told by the headset's marks.
struct PeriodMarksTests {
    /// A headset that sends blocks of 10 samples and a mark each 512, of which a part of the blocks is lost.
    private static func run(
        seconds: Int64, phase: Int64, lossOneIn: UInt64, markLossOneIn: UInt64 = .max, seed: UInt64
    ) -> (lost: Int64, detected: Int64) {
        var random = SeededGenerator(seed: seed)
        var (n, lost, detected) = (Int64(0), Int64(0), Int64(0))
        var marks: PeriodMarks?
        var sent: Int64 = 0
        for second in 1...seconds {
            // Blocks end at multiples of 10 of the headset's own count, which is `phase` ahead of the marks'.
            while (sent + 10) <= second * 512 + phase {
                sent += 10
                if random.below(lossOneIn) == 0 { lost += 10 } else { n += 10 }
            }
            if random.below(markLossOneIn) == 0 { continue }
            if var known = marks {
                let more = known.take(n: n, dueN: sent) ?? 0
                (detected, n) = (detected + more, n + more)
                marks = known
            } else {
                marks = PeriodMarks(n: n, dueN: sent, period: 512, block: 10)
                (lost, detected) = (0, 0)
            }
        }
        return (lost, detected)
    }

    @Test("Without a loss none is told, whatever the phase of the blocks", arguments: 0..<Int64(10))
    func none(phase: Int64) {
        #expect(Self.run(seconds: 600, phase: phase, lossOneIn: .max, seed: 1).detected == 0)
        #expect(Self.run(seconds: 600, phase: phase, lossOneIn: .max, markLossOneIn: 20, seed: 1).detected == 0)
    }

    @Test("One block in 100 lost is told to a block", arguments: 0..<Int64(10), UInt64(1)...3)
    func losses(phase: Int64, seed: UInt64) {
        let found = Self.run(seconds: 1800, phase: phase, lossOneIn: 100, seed: seed)
        #expect(found.lost > 8_000 && abs(found.lost - found.detected) <= 20, "\(found)")
    }

    @Test("Marks that are lost themselves hide no loss", arguments: UInt64(1)...3)
    func lostMarks(seed: UInt64) {
        let found = Self.run(seconds: 1800, phase: 4, lossOneIn: 100, markLossOneIn: 30, seed: seed)
        #expect(abs(found.lost - found.detected) <= 30, "\(found)")
    }

    @Test("Marks a second late, because a queue was held, tell no loss")
    func stall() {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        for second in Int64(1)...100 {
            let isLate = second % 10 == 0
            #expect(marks.take(n: second * 512, dueN: second * 512 + (isLate ? 512 : 3)) == 0)
        }
    }

    @Test("A mark that comes twice tells no loss")
    func repeatedMark() {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        for second in Int64(0)...20 {
            if second > 0 { #expect(marks.take(n: second * 512, dueN: second * 512) == 0) }
            if second % 3 == 0 { #expect(marks.take(n: second * 512, dueN: second * 512 + 4) == 0) }
        }
    }

    @Test("A loss of whole periods is told once marks stay late")
    func periods() {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        var (detected, n) = (Int64(0), Int64(0))
        for second in Int64(1)...20 {
            // The seconds 6 to 8 never came.
            if (6...8).contains(second) { continue }
            n += 512
            let more = marks.take(n: n, dueN: second * 512) ?? -1
            (detected, n) = (detected + more, n + more)
        }
        #expect(detected == 3 * 512)
    }

    @Test("A mark that was lost with most of its samples shows by the time", arguments: [Int64(1), 10])
    func lostWithSamples(block: Int64) {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 510, block: block)
        for second in Int64(1)...5 { #expect(marks.take(n: second * 510, dueN: second * 510) == 0) }
        // Of two seconds 700 samples came, and one mark.
        #expect(marks.take(n: 5 * 510 + 700, dueN: 7 * 510) == 320)
        #expect(marks.take(n: 8 * 510, dueN: 8 * 510) == 0)
    }

    @Test(
        "A mark that was lost with nearly all of its samples shows once the next ones stay late",
        arguments: [Int64(440), 460, 500, 511])
    func lostWithNearlyAll(lost: Int64) {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        var (detected, n) = (Int64(0), Int64(0))
        for second in Int64(1)...20 {
            n += second == 6 ? 512 - lost : 512
            if second == 6 { continue }
            let more = marks.take(n: n, dueN: second * 512) ?? -1000
            (detected, n) = (detected + more, n + more)
        }
        #expect(detected == lost && n == 20 * 512)
    }

    @Test(
        "Samples too many before a mark that has waited, as damage was counted too high, show no loss",
        arguments: [Int64(1), 9, 40], [Int64(300), 400, 600, 1400, 3000])
    func countedTooHigh(excess: Int64, wait: Int64) {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        for second in Int64(1)...30 {
            let n = second * 512 + (second >= 6 ? excess : 0)
            let dueN = second >= 6 ? max(second * 512, 6 * 512 + wait) : second * 512
            if let lost = marks.take(n: n, dueN: dueN) {
                #expect(lost == 0)
            } else {
                marks = PeriodMarks(n: n, dueN: dueN, period: 512, block: 1)
            }
        }
    }

    @Test("A stall of seconds, behind which several marks come at once, is no loss", arguments: [Int64(1500), 2000, 5000])
    func longStall(wait: Int64) {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        for second in Int64(1)...30 {
            let dueN = second >= 6 ? max(second * 512, 6 * 512 + wait) : second * 512
            #expect(marks.take(n: second * 512, dueN: dueN) == 0)
        }
    }

    @Test("A first mark that has waited hides no loss behind it", arguments: [Int64(100), 205, 300, 500, 1400])
    func lateFirstMark(wait: Int64) {
        var marks = PeriodMarks(n: 0, dueN: wait, period: 512, block: 1)
        var (detected, n) = (Int64(0), Int64(0))
        for second in Int64(1)...20 {
            n += second == 1 ? 452 : 512
            let more = marks.take(n: n, dueN: max(wait, second * 512)) ?? -1000
            (detected, n) = (detected + more, n + more)
        }
        #expect(detected == 60 && n == 20 * 512)
    }

    @Test("Where the time bears no loss out, the headset has begun anew: nothing is entered", arguments: [Int64(5), 130, 250])
    func beganAnew(early: Int64) {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        for second in Int64(1)...5 { #expect(marks.take(n: second * 512, dueN: second * 512) == 0) }
        let n = 6 * 512 - early
        let found = marks.take(n: n, dueN: n)
        #expect(found == (early > 128 ? nil : early))
    }

    @Test("What is lost while marks wait in a queue is found all the same")
    func lossInStall() {
        var marks = PeriodMarks(n: 0, dueN: 0, period: 512, block: 1)
        var (detected, n) = (Int64(0), Int64(0))
        for second in Int64(1)...100 {
            n += second % 7 == 0 ? 500 : 512
            let more = marks.take(n: n, dueN: second * 512 + (second % 10 == 0 ? 500 : 3)) ?? -1
            (detected, n) = (detected + more, n + more)
        }
        #expect(detected == 14 * 12 && n == 100 * 512)
    }
}
