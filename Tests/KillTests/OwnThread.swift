import CLinux
import Foundation

/// A thread for a test that waits for other processes most of the time: other tests need the shared ones.
enum OwnThread {
    /// Runs something there.
    static func run(_ body: @escaping @Sendable () throws -> Void) async throws {
        let result = await withCheckedContinuation { continuation in
            Thread { @Sendable in continuation.resume(returning: Result { try body() }) }.start()
        }
        try result.get()
    }

    /// Lets time pass without waiting for anything.
    static func spin(nanoseconds: Int64) {
        let end = clinux_boottime_nanoseconds() + nanoseconds
        while clinux_boottime_nanoseconds() < end {}
    }
}
