import Bluetooth
import Simulation
import Testing

struct LatenessTests {
    /// The counters of a headset's notifications and when they arrived, in milliseconds since the first one was sent.
    private static func arrivals(_ lateness: LatenessModel, seconds: Double) -> [(counter: Int, milliseconds: Double)] {
        var options = SimulatedWorld.Options()
        options.lateness = lateness
        let bench = Bench(options: options)
        bench.connect()
        bench.central.request(
            .setNotifyValue(
                true, for: HeadsetSpecification.countingCharacteristic, on: bench.world.headsets[0].identifier,
                attempt: Attempt(number: 3)))
        bench.run(seconds: seconds)
        return bench.take().compactMap { event in
            guard case .didUpdateValue(_, _, let value, let arrival) = event else { return nil }
            return (Int(value[0]) | Int(value[1]) << 8, Double(arrival.nanoseconds) / 1e6)
        }
    }

    /// How much later each arrives than in a world without lateness.
    private static func lateness(_ model: LatenessModel, seconds: Double = 300) -> [Double] {
        let punctual = arrivals(LatenessModel(), seconds: seconds)
        let late = arrivals(model, seconds: seconds)
        #expect(late.count > Int(seconds * 33) - 100)
        // None is lost, and they keep their order.
        #expect(late.map(\.counter) == Array(1...late.count))
        #expect(zip(late, late.dropFirst()).allSatisfy { $0.milliseconds <= $1.milliseconds })
        return zip(punctual, late).map { $1.milliseconds - $0.milliseconds }
    }

    @Test("A busy machine takes notifications late, some of them by much, and stalls once in a minute")
    func busy() {
        var model = LatenessModel.busy
        let all = Self.lateness(model)
        #expect(all.allSatisfy { $0 >= 0 })
        #expect((all.max() ?? 0) > 900)
        model.stall = .zero
        let sorted = Self.lateness(model).sorted()
        #expect((2.0...8).contains(sorted[sorted.count / 2]), "median \(sorted[sorted.count / 2]) ms")
        #expect((70.0...120).contains(sorted[sorted.count * 97 / 100]))
    }

    @Test("A radio hands over batches each 30 ms")
    func batches() {
        let late = Self.lateness(.batches)
        #expect(late.allSatisfy { (0.0...30).contains($0) } && late.contains { $0 > 0 })
    }

    @Test("What is under way when a link ends arrives before its end; the same seed gives the same lateness")
    func endOfLink() {
        var options = SimulatedWorld.Options()
        options.lateness = LatenessModel(mean: .milliseconds(500))
        var digests: Set<UInt64> = []
        for _ in 0..<2 {
            let script = [
                ScriptedFault(at: MonotonicTime(nanoseconds: 10_000_000_000), .headsetDisconnect)
            ]
            let bench = Bench(script: script, options: options)
            bench.connect()
            bench.central.request(
                .setNotifyValue(
                    true, for: HeadsetSpecification.countingCharacteristic, on: bench.world.headsets[0].identifier,
                    attempt: Attempt(number: 3)))
            bench.run(seconds: 20)
            let events = bench.take()
            let end = events.firstIndex { if case .didDisconnect = $0 { true } else { false } }
            let last = events.lastIndex { if case .didUpdateValue = $0 { true } else { false } }
            #expect((last ?? 0) < (end ?? 0))
            digests.insert(bench.world.digest)
        }
        #expect(digests.count == 1)
    }
}
