package import Evidence

/// Consecutive samples of a stream, as a centre keeps them.
package struct SamplePiece: Hashable, Sendable {
    /// The most samples of a piece: TOAST compresses few large values better than many small ones.
    package static let capacity = 4096

    package var firstN: Int64
    /// For each channel, as many values as there are samples; nil where the channel was lost.
    package var channels: [[Int32?]]

    package init(firstN: Int64, channels: [[Int32?]]) { (self.firstN, self.channels) = (firstN, channels) }

    /// How many samples.
    package var rowCount: Int { channels.first?.count ?? 0 }
}

/// Values of one channel that came late, of samples that are there without it.
package struct SamplePatch: Hashable, Sendable {
    /// From 1.
    package var channel: Int
    package var firstN: Int64
    package var values: [Int32?]

    package init(channel: Int, firstN: Int64, values: [Int32?]) {
        (self.channel, self.firstN, self.values) = (channel, firstN, values)
    }
}

/// What one transaction sends of a stream.
package struct StreamShipment: Hashable, Sendable {
    package var stream: StreamID
    package var uuid: String
    package var before: ShippedState
    package var after: ShippedState
    package var pieces: [SamplePiece] = []
    package var patches: [SamplePatch] = []
    /// What the centre has once it is sent, as the last whole block of each chain.
    package var confirmed: [BlockEnd] = []
    /// The last block of each chain whose digest goes with it.
    package var lastBlocks: [BlockEnd] = []
    /// False where more rows wait.
    package var isComplete = true

    /// How many rows.
    package var rowCount: Int { pieces.reduce(0) { $0 + $1.rowCount } }
}

/// A block of a chain, and how many rows it has.
package struct BlockEnd: Hashable, Sendable {
    package var chain: String
    package var number: Int64
    package var rowCount: Int64

    package init(chain: String, number: Int64, rowCount: Int64) {
        (self.chain, self.number, self.rowCount) = (chain, number, rowCount)
    }
}

/// What one transaction sends of a recording.
package struct RecordingShipment: Hashable, Sendable {
    package var recording: RecordingID
    package var uuid: String
    /// The tables but for samples.
    package var document: RecordingDocument
    package var streams: [StreamShipment]
    /// What of the tables that grow beside the samples.
    package var series: [SeriesShipment]
    /// True where nobody records into it any more.
    package var isEnded: Bool
    /// Of one that has ended, and of which the centre has everything once this is sent: its digest, see ``WholeRecording``.
    package var whole: DigestSum?

    /// False where more rows wait.
    package var isComplete: Bool {
        document.hasAllBlocks && streams.allSatisfy(\.isComplete) && series.allSatisfy(\.after.isComplete)
    }
}
