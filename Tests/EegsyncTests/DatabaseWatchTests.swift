import Bluetooth
import Storage
import Testing

@testable import eegsync

/// When the daemon says that the database has lost its name.
@Suite struct DatabaseWatchTests {
    private static func at(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    @Test("At the second look, then each hour, and its end")
    func once() {
        var watch = DatabaseWatch()
        #expect(watch.take(.same, at: Self.at(0)) == nil)
        #expect(watch.take(.nothing, at: Self.at(1)) == nil)
        // What cannot be seen changes nothing.
        #expect(watch.take(nil, at: Self.at(2)) == nil)
        #expect(watch.take(.nothing, at: Self.at(3)) == .lost(.nothing))
        let day = (4..<86_400).count { watch.take(.nothing, at: Self.at($0)) != nil }
        #expect(day == 23)
        #expect(watch.take(.another, at: Self.at(86_401)) == nil)
        #expect(watch.take(.another, at: Self.at(86_402)) == .lost(.another))
        #expect(watch.take(.same, at: Self.at(86_403)) == nil)
        #expect(watch.take(.same, at: Self.at(86_404)) == .found)
        #expect(watch.take(.same, at: Self.at(86_405)) == nil)
    }

    @Test("Whoever replaces a file in two steps is not noticed between them")
    func swap() {
        var watch = DatabaseWatch()
        for second in 0..<20 { #expect(watch.take(second.isMultiple(of: 2) ? .same : .nothing, at: Self.at(second)) == nil) }
    }

    @Test("What is without its name until the end is not said to be found")
    func final() {
        var watch = DatabaseWatch()
        for second in 0..<2 { _ = watch.take(.another, at: Self.at(second)) }
        watch.setFinal()
        for second in 2..<10 { #expect(watch.take(.same, at: Self.at(second)) == nil) }
    }
}
