import Headsets
import Storage

/// The latest values of a stream at ascending times of another one.
final class HeldRows {
    /// The latest value of each channel; nil before its first one.
    private(set) var values: [Int32?]
    /// Rows of the database that were passed.
    private(set) var rowCount: Int64 = 0
    private let rows: JoinedRows
    private var clock: SampleClock
    /// A row counts from so many nanoseconds before its time.
    private let lead: Int64
    private var runs: ArraySlice<JoinedRows.Run> = []
    private var offset = 0
    /// The time of the row to come; nil where there is none.
    private var nextTime: Int64?

    /// - Parameter frequency: of the rows that hold the values. A stream of the same frequency was sampled together with
    ///   them, and its fitted times may differ by less than half a period.
    init(_ stream: JoinedStream, frequency: Double, reader: RecordingReader) throws {
        rows = JoinedRows(stream, reader: reader)
        clock = SampleClock(stream.clock)
        values = Array(repeating: nil, count: stream.channels.count)
        lead = stream.samplingFrequency == frequency ? Int64(0.5e9 / frequency) : 0
        try findNext()
    }

    /// Takes the rows up to a time, in UTC nanoseconds since 1970.
    func advance(to time: Int64) throws {
        while let next = nextTime, next - lead <= time {
            let row = (runs.first?.rows.lowerBound ?? 0) + offset
            let present = rows.present[row]
            for channel in values.indices where present & (1 << UInt64(channel)) != 0 {
                values[channel] = rows.values[row * values.count + channel]
            }
            rowCount += 1
            offset += 1
            try findNext()
        }
    }

    private func findNext() throws {
        nextTime = nil
        while true {
            if let run = runs.first {
                if offset < run.rows.count {
                    nextTime = clock.unixNanoseconds(ofSample: run.n + Int64(offset))
                    return
                }
                runs.removeFirst()
                offset = 0
            } else {
                guard let window = try rows.readWindow() else { return }
                runs = window[...]
            }
        }
    }
}
