/// What one format says beside the samples, in files of its own.
protocol MultiplexedHeaders: Sendable {
    /// How the name of the file of samples ends.
    static var dataEnding: String { get }

    /// How the values of a stream stand in the file.
    func format(of stream: JoinedStream) -> MultiplexedFormat

    /// The other files, each with how its name ends, but for the one that people open, which is the last and has none.
    func documents(_ facts: MultiplexedFacts) throws -> [(ending: String?, bytes: [UInt8])]

    /// Which of ``documents(_:)``'s names there will be, before they can be made.
    static var furtherEndings: [String] { get }
}
