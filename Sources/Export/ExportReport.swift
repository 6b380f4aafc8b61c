/// What an export wrote, and what a reader of the files should know.
public struct ExportReport: Hashable, Sendable {
    /// In the order in which they were written.
    public var files: [ExportedFile] = []
    /// What was lost or moved on the way into the format, one sentence each; empty where nothing was.
    public var notes: [String] = []

    public init() {}

    /// Adds a sentence unless it is there already.
    mutating func note(_ sentence: String) {
        if !notes.contains(sentence) { notes.append(sentence) }
    }
}

/// One exported file.
public struct ExportedFile: Hashable, Sendable {
    public var path: String
    public var byteCount: Int64
    /// UTC nanoseconds since 1970 of the file's first instant; nil where the recording has no times.
    public var startUnixNanoseconds: Int64?
    /// One entry for each stream in the file.
    public var streams: [ExportedStream]

    public init(path: String, byteCount: Int64, startUnixNanoseconds: Int64?, streams: [ExportedStream]) {
        self.path = path
        self.byteCount = byteCount
        self.startUnixNanoseconds = startUnixNanoseconds
        self.streams = streams
    }
}

/// One stream in an exported file.
public struct ExportedStream: Hashable, Sendable {
    public var name: String
    public var firstN: Int64
    public var lastN: Int64
    /// Rows of the database that the file holds.
    public var rowCount: Int64
    /// Samples of each channel that stand for missing ones: filled, or empty cells. Counts whole rows only.
    public var filledCount: Int64
    /// How far the stream's first sample is moved, in seconds, to lie on the file's sample grid; at most half a sample period.
    public var gridOffsetSeconds: Double
    /// The largest distance, in seconds, between the file's sample grid, which follows n, and the recorded times.
    public var maximumDeviationSeconds: Double
    /// Within what the recorded times are right, in seconds, but for the headset's constant delay; nil where that is not known.
    public var timeUncertaintySeconds: Double?

    public init(
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
