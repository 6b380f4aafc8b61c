/// What the operator wishes of the acquisition, as it stands in the database.
public struct OperatorWishes: Hashable, Sendable {
    /// A number that changes with the wishes.
    public var version: Int64
    /// Nil where the version was known.
    public var contents: Contents?

    /// The wishes.
    public struct Contents: Hashable, Sendable {
        /// Recordings that have not ended.
        public var recordings: [OpenRecording]
        /// Captures that nobody has taken away.
        public var captures: [CaptureRequest]
        /// Measurements of impedances that nobody has taken away.
        public var measurements: [ImpedanceRequest]
        /// The latest decision about the address of each headset.
        public var adoptions: [AdoptionWish] = []
        /// True where nothing is to be recorded for a while.
        public var isPaused = false
    }
}

extension Store {
    /// Reads what the operator wishes.
    ///
    /// - Parameter known: a version of which nothing is to be read again.
    public func wishes(unlessVersion known: Int64?) throws(StorageError) -> OperatorWishes {
        let version = try dataVersion()
        guard version != known else { return OperatorWishes(version: version) }
        return OperatorWishes(
            version: version,
            contents: OperatorWishes.Contents(
                recordings: try openRecordings(), captures: try openCaptures(),
                measurements: try openImpedanceMeasurements(), adoptions: try adoptions(), isPaused: try pause() != nil))
    }
}
