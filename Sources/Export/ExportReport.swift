/// What an export wrote, and what a reader of the files should know.
package struct ExportReport: Hashable, Sendable {
    /// In the order in which they were written.
    package var files: [ExportedFile] = []
    /// What was lost or moved on the way into the format, one sentence each; empty where nothing was.
    package var notes: [String] = []

    package init() {}

    /// Adds a sentence unless it is there already.
    mutating func note(_ sentence: String) {
        if !notes.contains(sentence) { notes.append(sentence) }
    }
}

/// One exported file.
package struct ExportedFile: Hashable, Sendable {
    package var path: String
    package var byteCount: Int64
    /// UTC nanoseconds since 1970 of the file's first instant; nil where the recording has no times.
    package var startUnixNanoseconds: Int64?
    /// One entry for each stream in the file.
    package var streams: [ExportedStream]

    package init(path: String, byteCount: Int64, startUnixNanoseconds: Int64?, streams: [ExportedStream]) {
        self.path = path
        self.byteCount = byteCount
        self.startUnixNanoseconds = startUnixNanoseconds
        self.streams = streams
    }

    /// A path with a suffix before its extension.
    package static func path(_ path: String, suffix: String) -> String { PartialFile.path(path, suffix: suffix) }
}

/// One stream in an exported file.
package struct ExportedStream: Hashable, Sendable {
    package var name: String
    package var firstN: Int64
    package var lastN: Int64
    /// Rows of the database that the file holds.
    package var rowCount: Int64
    /// Samples of each channel that stand for missing ones: filled, or empty cells. Counts whole rows only.
    package var filledCount: Int64
    /// How far the stream's first sample is moved, in seconds, to lie on the file's sample grid; at most half a sample period.
    package var gridOffsetSeconds: Double
    /// The largest distance, in seconds, between the file's sample grid, which follows n, and the recorded times.
    package var maximumDeviationSeconds: Double
    /// Within what the recorded times are right, in seconds, but for the headset's constant delay; nil where that is not known.
    package var timeUncertaintySeconds: Double?

    package init(
        name: String, firstN: Int64, lastN: Int64, rowCount: Int64, filledCount: Int64, gridOffsetSeconds: Double,
        maximumDeviationSeconds: Double, timeUncertaintySeconds: Double?
    ) {
        self.name = name
        self.firstN = firstN
        self.lastN = lastN
        self.rowCount = rowCount
        self.filledCount = filledCount
        self.gridOffsetSeconds = gridOffsetSeconds
        self.maximumDeviationSeconds = maximumDeviationSeconds
        self.timeUncertaintySeconds = timeUncertaintySeconds
    }
}
