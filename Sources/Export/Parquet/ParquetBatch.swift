/// Some rows, column by column, as the program that writes Parquet takes and gives them.
struct ParquetBatch {
    /// Ascending.
    private(set) var n: [Int64] = []
    /// Microseconds of UTC since 1970; 0 where the stream has no times.
    private(set) var time: [Int64] = []
    /// Of each channel the count of each row; 0 where it is missing.
    private(set) var values: [[Int32]]
    /// Of each channel 1 for each row that has its value, else 0.
    private(set) var present: [[UInt8]]

    /// The rows of a window.
    init(_ runs: [JoinedRows.Run], of rows: JoinedRows, clock: inout SampleClock) {
        let count = runs.reduce(0) { $0 + $1.rows.count }
        n.reserveCapacity(count)
        time.reserveCapacity(count)
        for run in runs {
            for row in run.rows {
                let sample = run.n + Int64(row - run.rows.lowerBound)
                n.append(sample)
                time.append((clock.unixNanoseconds(ofSample: sample) ?? 0).floorDivided(by: 1000))
            }
        }
        let indices = runs.flatMap(\.rows)
        let (rowValues, rowPresent, channelCount) = (rows.values, rows.present, rows.channelCount)
        values = (0..<channelCount).map { channel in
            indices.map { rowPresent[$0] & (1 << UInt64(channel)) != 0 ? rowValues[$0 * channelCount + channel] : 0 }
        }
        present = (0..<channelCount).map { channel in
            indices.map { UInt8(truncatingIfNeeded: rowPresent[$0] >> UInt64(channel) & 1) }
        }
    }

    /// The next rows that the program gives; nil behind the last.
    ///
    /// - Throws: `verificationFailed` where it ends without saying that these were all.
    init?(channelCount: Int, from program: ArrowProgram, path: String) throws {
        func numbers<Number: FixedWidthInteger>(_ count: Int, _: Number.Type) throws -> [Number] {
            let size = MemoryLayout<Number>.size
            let bytes = program.read(count * size)
            guard bytes.count == count * size else {
                throw ExportError.verificationFailed(path: path, detail: "it cannot be read to its end")
            }
            return [Number](unsafeUninitializedCapacity: count) { numbers, done in
                bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(numbers).copyMemory(from: $0) }
                for index in numbers.indices { numbers[index] = Number(littleEndian: numbers[index]) }
                done = count
            }
        }
        let count = Int(try numbers(1, UInt32.self)[0])
        guard count > 0 else { return nil }
        n = try numbers(count, Int64.self)
        time = try numbers(count, Int64.self)
        values = try (0..<channelCount).map { _ in try numbers(count, Int32.self) }
        present = try (0..<channelCount).map { _ in try numbers(count, UInt8.self) }
    }

    /// As the program takes them.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + n.count * (16 + values.count * 5))
        func append<Number: FixedWidthInteger>(_ numbers: [Number]) {
            // A copy only where the machine has the other order.
            let ordered = Number(1).littleEndian == 1 ? numbers : numbers.map(\.littleEndian)
            ordered.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        append([UInt32(n.count)])
        append(n)
        append(time)
        for channel in values { append(channel) }
        for channel in present { append(channel) }
        return bytes
    }

    /// Adds the rows, column by column, to a checksum.
    func add(to digest: inout Digest) {
        for number in n { digest.n.add(UInt64(bitPattern: number)) }
        for number in time { digest.time.add(UInt64(bitPattern: number)) }
        for channel in values.indices {
            var column = digest.channels[channel]
            for (value, isThere) in zip(values[channel], present[channel]) {
                column.add(isThere == 0 ? XDFFile.missing : UInt64(bitPattern: Int64(value)))
            }
            digest.channels[channel] = column
        }
    }

    /// The checksum of rows; the same however they are cut into batches.
    struct Digest: Hashable {
        fileprivate var n = SampleDigest()
        fileprivate var time = SampleDigest()
        fileprivate var channels: [SampleDigest]

        init(channelCount: Int) { channels = [SampleDigest](repeating: SampleDigest(), count: channelCount) }
    }
}
