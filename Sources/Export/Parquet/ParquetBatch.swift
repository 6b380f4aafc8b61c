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
        values = [[Int32]](repeating: [], count: rows.channelCount)
        present = [[UInt8]](repeating: [], count: rows.channelCount)
        for run in runs {
            for row in run.rows {
                let sample = run.n + Int64(row - run.rows.lowerBound)
                n.append(sample)
                time.append((clock.unixNanoseconds(ofSample: sample) ?? 0).floorDivided(by: 1000))
            }
        }
        for channel in 0..<rows.channelCount {
            values[channel].reserveCapacity(count)
            present[channel].reserveCapacity(count)
            for run in runs {
                for row in run.rows {
                    let isThere = rows.present[row] & (1 << UInt64(channel)) != 0
                    values[channel].append(isThere ? rows.values[row * rows.channelCount + channel] : 0)
                    present[channel].append(isThere ? 1 : 0)
                }
            }
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
            return bytes.withUnsafeBytes { bytes in
                (0..<count).map {
                    Number(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * size, as: Number.self))
                }
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
            for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        }
        append([UInt32(n.count)])
        append(n)
        append(time)
        for channel in values { append(channel) }
        for channel in present { append(channel) }
        return bytes
    }

    /// Adds the rows, one after the other, to a checksum.
    func add(to digest: inout SampleDigest) {
        for row in n.indices {
            digest.add(UInt64(bitPattern: n[row]))
            digest.add(UInt64(bitPattern: time[row]))
            for channel in values.indices {
                digest.add(present[channel][row] == 0 ? XDFFile.missing : UInt64(bitPattern: Int64(values[channel][row])))
            }
        }
    }
}
