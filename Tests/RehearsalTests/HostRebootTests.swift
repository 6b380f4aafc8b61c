import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Rehearsal

/// Hosts that lose their power, and clocks that are wrong for a while.
struct HostRebootTests {
    private static let headsets = [
        TimeTests.headsets[0], RehearsedHeadset(name: "cyton", specification: .cyton(), profile: CytonProfile()),
        RehearsedHeadset(name: "muse", specification: .muse(), profile: MuseProfile()),
    ]

    private static let hour: Duration = .seconds(3600)
    private static let clocks: [(name: String, clock: HostClock)] = [
        ("right", HostClock()), ("behind by 1 h", HostClock(error: .zero - hour, synchronisesAfter: .seconds(60))),
        ("ahead by 3 years", HostClock(error: hour * 24 * 365 * 3, synchronisesAfter: .seconds(45))),
        (
            "steps twice",
            HostClock(
                error: .zero - hour, synchronisesAfter: .seconds(40), remainingError: .seconds(20), settlesAfter: .seconds(80))
        ),
        ("never synchronised", HostClock(error: .zero - hour, synchronisesAfter: nil)),
    ]

    @Test(
        "A host that boots again keeps every row, and the times of all boots are right once its clock is",
        arguments: headsets.indices, clocks.indices)
    func reboots(_ index: Int, _ clock: Int) throws {
        let (name, hostClock) = Self.clocks[clock]
        var plan = TimeTests.plan(Self.headsets[index], Crystal(errorPPM: 35))
        plan.hostReboots = [HostReboot(at: .seconds(90), downFor: .seconds(30), clock: hostClock)]
        let rehearsal = try Rehearsal(plan)
        let report = try rehearsal.run()
        #expect(report.violations == [], "\(name)")
        let streams = try rehearsal.store.reader(of: RecordingID(rawValue: 1)).contents.streams
        for stream in streams {
            #expect(Double(stream.rowCount) > 190 * stream.description.samplingFrequency, "\(name) \(stream.description.name)")
        }
        guard plan.clocksBecomeRight else { return }
        // The outage in UTC, by the rows on both sides of it.
        for stream in streams where stream.description.samplingFrequency > 10 {
            let border = stream.gaps.filter { $0.channel == 0 }.map(\.firstN).max { outage(stream, $0) < outage(stream, $1) }
            let seconds = border.map { outage(stream, $0) } ?? 0
            #expect((29.0...36).contains(seconds), "\(name) \(stream.description.name): \(seconds) s")
            // The ledger says the same, to a second: how many are missing follows the clocks where nothing counts them.
            let listed = try rehearsal.store.gaps(of: RecordingID(rawValue: 1)).first {
                $0.stream == stream.description.name && $0.firstN == border && $0.channel == 0
            }
            // What was read from memory afterwards was missing, too.
            let missing = try #require(listed?.missing) + (listed?.recovered ?? 0)
            let due = (seconds * stream.description.samplingFrequency).rounded() - 1
            #expect(
                abs(Double(missing) - due) <= stream.description.samplingFrequency,
                "\(name) \(stream.description.name): \(missing), \(due) by the times")
        }
    }

    /// Seconds from the row before a gap to the row behind it.
    private func outage(_ stream: StreamContents, _ firstN: Int64) -> Double {
        let count = stream.gaps.first { $0.firstN == firstN && $0.channel == 0 }?.count ?? 0
        guard let before = stream.unixNanoseconds(ofSample: firstN - 1),
            let behind = stream.unixNanoseconds(ofSample: firstN + count)
        else { return 0 }
        return Double(behind - before) / 1e9
    }

    @Test("One boot whose clock is set late, and again, is right in the end", arguments: clocks.indices)
    func steppingClock(_ clock: Int) throws {
        var plan = TimeTests.plan(Self.headsets[1], Crystal(errorPPM: 35))
        plan.clock = Self.clocks[clock].clock
        #expect(try Rehearsal(plan).run().violations == [], "\(Self.clocks[clock].name)")
    }

    @Test("What a clock says when nothing can be stored any more is stored nowhere, and asked of nobody")
    func setWhileTheDiskIsFull() throws {
        var plan = TimeTests.plan(Self.headsets[2], Crystal(errorPPM: 35))
        plan.clock = HostClock(error: .zero - Self.hour, synchronisesAfter: .seconds(30))
        plan.hostReboots = [HostReboot(at: .seconds(60), downFor: .seconds(30))]
        let full = MonotonicTime(nanoseconds: 66_000_000_000)
        plan.script = [ScriptedFault(at: full, .diskFull, for: .seconds(60))]
        let rehearsal = try Rehearsal(plan)
        let report = try rehearsal.run()
        #expect(report.violations == [])
        #expect(!rehearsal.checker.clocksAreRight(report))
        // The rows of the first boot stay an hour early.
        let stream = try rehearsal.store.reader(of: RecordingID(rawValue: 1)).contents.streams[0]
        let (first, last) = try (#require(stream.segments.first), #require(stream.segments.last))
        #expect(last.referenceUnixNanoseconds - first.referenceUnixNanoseconds > Self.hour.nanoseconds)
        plan.script = []
        let undisturbed = try Rehearsal(plan)
        #expect(undisturbed.checker.clocksAreRight(try undisturbed.run()))
    }
}
