import Foundation
import Headsets
import Storage

/// The rows of one stream on their way into files of Parquet, and back for the comparison.
struct ParquetStream {
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
    let python: String
    /// Columns that say the same in each row.
    let texts: [String: String]

    /// The names of columns that are not channels.
    static let reservedNames: Set<String> = ["n", "time", "stream", "recording", "day", "headset", "subject", "task", "number"]

    /// The channels' names, none of them that of another column; readers take capitals and small letters for the same.
    var channelNames: [String] {
        var taken = Self.reservedNames
        return stream.channels.map { channel in
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
    ) throws -> (files: [File], rowCount: Int64, digest: SampleDigest) {
        let program = try ArrowProgram(python: python, arguments: ["write", directory])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let channels = zip(channelNames, stream.channels).map { name, channel in
            Facts.Channel(name: name, type: channel.type, unit: channel.unit, scale: channel.scale, offset: channel.offset)
        }
        let facts = Facts(
            prefix: prefix, values: values.rawValue, hasTimes: !stream.clock.segments.isEmpty, channels: channels, texts: texts)
        program.write(Array(try encoder.encode(facts)) + [UInt8(ascii: "\n")])
        var digest = SampleDigest()
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
        let said = String(decoding: program.readAll(), as: UTF8.self)
        try program.finish(path: directory)
        let files = said.split(separator: "\n").compactMap { line -> File? in
            let parts = line.split(separator: "\t").map(String.init)
            return parts.count == 2 ? File(name: parts[0], day: parts[1]) : nil
        }
        return (files, rowCount, digest)
    }

    /// The checksum of the rows that files hold.
    func digest(of paths: [String], progress: (Double) -> Void) throws -> SampleDigest {
        let program = try ArrowProgram(python: python, arguments: ["read"] + paths)
        var digest = SampleDigest()
        var done: Int64 = 0
        while let batch = try ParquetBatch(channelCount: stream.channels.count, from: program, path: paths.first ?? "") {
            batch.add(to: &digest)
            done += Int64(batch.n.count)
            progress(min(1, Double(done) / Double(stream.range.count)))
        }
        try program.finish(path: paths.first ?? "")
        return digest
    }
}
