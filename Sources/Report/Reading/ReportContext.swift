/// What a report needs that does not stand in the database.
package struct ReportContext: Sendable {
    /// The program's version.
    package var version: String
    /// UTC nanoseconds since 1970.
    package var now: Int64
    package var clock: ReportClock
    /// What each state of a connection is called, by its name in the database.
    package var stateWords: [String: String]

    package init(version: String, now: Int64, clock: ReportClock, stateWords: [String: String]) {
        self.version = version
        self.now = now
        self.clock = clock
        self.stateWords = stateWords
    }
}
