import Foundation
import Headsets
import Storage

/// The rows of one stream on their way into files of Parquet, and back for the comparison.
struct ParquetStream {
    /// Asks the program to write rows.
    private struct Writing: Encodable {
        /// The directory.
        var write: String
        var facts: Facts
    }

    /// Asks the program for the rows of files.
    private struct Reading: Encodable {
        /// Their paths.
        var read: [String]
    }

    /// What the program must know of the rows.
    private struct Facts: Encodable {
        struct Channel: Encodable {
            var name: String
            var type: String
            var unit: String
            var scale: Double
            var offset: Double
        }

        var prefix: String
        var values: String
        var hasTimes: Bool
        var channels: [Channel]
        /// Columns that say the same in each row.
        var texts: [String: String]
    }

    /// A file in the hidden directory.
    struct File: Hashable {
        var name: String
        /// `yyyy-MM-dd` of UTC.
        var day: String
    }

    let stream: JoinedStream
    let values: TableValues
    let program: ArrowProgram
    /// Columns that say the same in each row.
    let texts: [String: String]

    /// The names of columns that are not channels.
    static let reservedNames: Set<String> = ["n", "time", "stream", "recording", "day", "headset", "subject", "task", "number"]

    /// The channels' names, none of them that of another column; readers take capitals and small letters for the same.
    static func columnNames(of channels: [ChannelDescription]) -> [String] {
        var taken = reservedNames
        return channels.map { channel in
            var name = channel.name
            var number = 2
            while !taken.insert(name.lowercased()).inserted {
                name = "\(channel.name)_\(number)"
                number += 1
            }
            return name
        }
    }

    /// Writes the rows into a directory.
    ///
    /// - Returns: the files in their order, how many rows there are, and the checksum of the rows.
    func write(
        to directory: String, prefix: String, reader: RecordingReader, progress: (Double) -> Void
    ) throws -> (files: [File], rowCount: Int64, digest: ParquetBatch.Digest) {
        let channels = zip(Self.columnNames(of: stream.channels), stream.channels).map { name, channel in
            Facts.Channel(name: name, type: channel.type, unit: channel.unit, scale: channel.scale, offset: channel.offset)
        }
        let facts = Facts(
            prefix: prefix, values: values.rawValue, hasTimes: !stream.clock.segments.isEmpty, channels: channels, texts: texts)
        try program.request(Writing(write: directory, facts: facts))
        var digest = ParquetBatch.Digest(channelCount: stream.channels.count)
        var rowCount: Int64 = 0
        var clock = SampleClock(stream.clock)
        let rows = JoinedRows(stream, reader: reader)
        while let runs = try rows.readWindow() {
            let batch = ParquetBatch(runs, of: rows, clock: &clock)
            if batch.n.isEmpty { continue }
            batch.add(to: &digest)
            rowCount += Int64(batch.n.count)
            program.write(batch.bytes)
            progress(rows.fractionDone)
        }
        program.write([0, 0, 0, 0])
        guard let said = program.readLine() else { throw program.failure(path: directory) }
        let files = try JSONDecoder().decode([[String]].self, from: Data(said.utf8)).map { File(name: $0[0], day: $0[1]) }
        return (files, rowCount, digest)
    }

    /// The checksum of the rows that files hold.
    func digest(of paths: [String], progress: (Double) -> Void) throws -> ParquetBatch.Digest {
        try program.request(Reading(read: paths))
        var digest = ParquetBatch.Digest(channelCount: stream.channels.count)
        var done: Int64 = 0
        while let batch = try ParquetBatch(channelCount: stream.channels.count, from: program, path: paths.first ?? "") {
            batch.add(to: &digest)
            done += Int64(batch.n.count)
            progress(min(1, Double(done) / Double(stream.range.count)))
        }
        return digest
    }
}
