import Bluetooth
import GRDB
import Glibc
import Testing

@testable import Storage

/// How long is waited for another program that holds the lock of the database.
@Suite struct LockWaitTests {
    private static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// How long it takes to find that a batch cannot be committed while another program holds the lock.
    private static func refusal(_ options: StoreOptions, before: (AcquisitionStore) -> Void) throws -> Duration {
        let directory = try TemporaryDirectory()
        let store = try AcquisitionStore(path: directory.path("a.sqlite"), hostBoot: Fixture.boot, options: options)
        let recording = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        let other = try DatabaseQueue(path: directory.path("a.sqlite"))
        var taken = Duration.zero
        try other.inDatabase { db in
            try db.inTransaction(.immediate) {
                before(store)
                let began = ContinuousClock.now
                #expect(throws: StorageError.self) { try store.commit(Fixture.firstBatch(recording)) }
                taken = ContinuousClock.now - began
                return .rollback
            }
        }
        try store.commit(Fixture.firstBatch(recording))
        try store.close()
        return taken
    }

    @Test func aStatementWaitsForAsLongAsTheOptionsSay() throws {
        var options = StoreOptions()
        options.busyTimeoutSeconds = 0.5
        let taken = try Self.refusal(options) { _ in }
        #expect(taken >= .milliseconds(400) && taken < .seconds(3), "\(taken)")
    }

    @Test func nobodyWaitsMuchLongerThanTheEndOfTheProcessMayTake() throws {
        let taken = try Self.refusal(StoreOptions()) { $0.endWaits(by: Self.now) }
        #expect(taken >= .milliseconds(200) && taken < .seconds(3), "\(taken)")
    }
}
