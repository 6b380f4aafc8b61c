import Bluetooth
import CBenchmarks
import Glibc
import Headsets

/// Decoders alone, each beside a C loop that reads the same bytes: samples per second, and allocations per notification.
///
/// A sample is one value of one channel. Decoder and loop take turns, so that a busy machine slows both; the median of the
/// rounds counts.
struct Decode {
    /// What a decoder cost.
    struct Result {
        var name: String
        var samplesPerSecond: Double
        var floorSamplesPerSecond: Double
        var allocationsPerNotification: Double

        var json: String {
            "{\"name\": \"\(name)\", \"samplesPerSecond\": \(samplesPerSecond),"
                + " \"floorSamplesPerSecond\": \(floorSamplesPerSecond),"
                + " \"allocationsPerNotification\": \(allocationsPerNotification)}"
        }
    }

    /// How often decoder and floor take turns.
    var rounds: Int
    /// How many samples a decoder decodes at least in one round: some 10 ms of the slowest that is allowed.
    private static let samplesPerRound = 200_000

    func run(_ workload: DecodeWorkload) -> Result {
        var decoder = workload.decoder
        var decoded = Decoded()
        // Twice: the first pass makes room for what is kept from then on, such as a message that has begun.
        _ = Self.pass(&decoder, workload, &decoded)
        let counts = Self.pass(&decoder, workload, &decoded)
        let samples = counts.reduce(0, +)
        precondition(samples > 0, "\(workload.name) decodes nothing")
        var values = [Int32](repeating: 0, count: counts.max() ?? 0)
        let passes = (Self.samplesPerRound + samples - 1) / samples
        var times: [Double] = []
        var floorTimes: [Double] = []
        var allocations: UInt64 = 0
        times.reserveCapacity(rounds)
        floorTimes.reserveCapacity(rounds)
        for _ in 0..<rounds {
            let before = allocation_count()
            var begin = Self.processorSeconds
            for _ in 0..<passes { Self.decode(&decoder, workload, &decoded) }
            times.append(Self.processorSeconds - begin)
            allocations += allocation_count() - before
            begin = Self.processorSeconds
            for _ in 0..<passes { Self.readByC(workload, counts, &values) }
            floorTimes.append(Self.processorSeconds - begin)
        }
        let perRound = Double(passes * samples)
        return Result(
            name: workload.name, samplesPerSecond: perRound / Self.median(times),
            floorSamplesPerSecond: perRound / Self.median(floorTimes),
            allocationsPerNotification: Double(allocations) / Double(rounds * passes * workload.notifications.count))
    }

    private static func decode(
        _ decoder: inout any HeadsetDecoder, _ workload: DecodeWorkload, _ decoded: inout Decoded
    ) {
        for (characteristic, value) in workload.notifications {
            decoded.removeAll()
            decoder.decode(value, from: characteristic, into: &decoded)
        }
    }

    /// How many samples each of the notifications yields.
    private static func pass(
        _ decoder: inout any HeadsetDecoder, _ workload: DecodeWorkload, _ decoded: inout Decoded
    ) -> [Int] {
        workload.notifications.map { characteristic, value in
            decoded.removeAll()
            decoder.decode(value, from: characteristic, into: &decoded)
            return decoded.values.count
        }
    }

    private static func readByC(_ workload: DecodeWorkload, _ counts: [Int], _ values: inout [Int32]) {
        for (index, notification) in workload.notifications.enumerated() {
            floor_decode(notification.value, notification.value.count, &values, counts[index])
        }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
