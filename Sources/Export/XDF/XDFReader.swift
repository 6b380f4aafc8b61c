/// Reads a file of ``XDFExport`` back.
struct XDFReader {
    /// What was found in a file.
    struct Found: Hashable {
        /// Of headers, numbers of streams, time stamps and values.
        var content: SampleDigest
        /// Of all bytes.
        var bytes: ByteDigest
    }

    let path: String
    /// How the values of each stream are written; nil for texts.
    let formats: [UInt32: XDFSampleFormat?]

    /// The checksums of what the file holds.
    ///
    /// - Throws: `verificationFailed` where it is no XDF file.
    func read(progress: (Double) -> Void = { _ in }) throws -> Found {
        let bytes = try BinaryReader(path: path)
        guard try bytes.bytes(XDFChunk.magic.count) == XDFChunk.magic else { throw failure("it does not begin as XDF does") }
        var digest = SampleDigest()
        while try !bytes.isAtEnd {
            let length = try length(from: bytes)
            guard let chunk = XDFChunk(rawValue: try bytes.number()), length >= 2 else { throw failure("a chunk has no kind") }
            let stream: UInt32? = chunk.hasStream ? try bytes.number() : nil
            let rest = length - (stream == nil ? 2 : 6)
            guard rest >= 0 else { throw failure("a chunk is too short") }
            switch chunk {
            case .fileHeader, .streamHeader, .streamFooter:
                digest.add(UInt64(chunk.rawValue) << 32 | UInt64(stream ?? 0))
                for byte in try bytes.bytes(rest) { digest.add(UInt64(byte)) }
            case .clockOffset:
                digest.add(UInt64(stream ?? 0))
                digest.add(try bytes.number(UInt64.self))
                guard try bytes.number(UInt64.self) == 0, rest == 16 else { throw failure("a clock offset is not 0") }
            case .boundary:
                guard try bytes.bytes(rest) == XDFChunk.boundaryContent else { throw failure("a boundary is not what it is") }
            case .samples:
                try add(samplesOf: stream ?? 0, from: bytes, to: &digest)
            }
            progress(bytes.fractionDone)
        }
        return Found(content: digest, bytes: bytes.digest)
    }

    private func add(samplesOf stream: UInt32, from bytes: BinaryReader, to digest: inout SampleDigest) throws {
        guard let format = formats[stream] else { throw failure("there is no stream \(stream)") }
        let count = try length(from: bytes)
        digest.add(UInt64(stream))
        digest.add(UInt64(count))
        if let format { return try add(count, rowsOf: format, from: bytes, to: &digest) }
        for _ in 0..<count {
            guard try bytes.number(UInt8.self) == XDFChunk.stampByteCount else { throw failure("a sample has no time") }
            digest.add(try bytes.number(UInt64.self))
            for byte in try bytes.bytes(try length(from: bytes)) { digest.add(UInt64(byte)) }
        }
    }

    private func add(
        _ count: Int, rowsOf format: XDFSampleFormat, from bytes: BinaryReader, to result: inout SampleDigest
    ) throws {
        let (isDouble, valueByteCount) = (format.isDouble, format.valueByteCount)
        var digest = result
        var left = count
        try format.values.withUnsafeBufferPointer { channels in
            while left > 0 {
                let rows = try bytes.rows(of: format.rowByteCount, atMost: left)
                guard var next = rows.baseAddress else { return }
                let end = next + rows.count
                left -= rows.count / format.rowByteCount
                while next < end {
                    guard next.load(as: UInt8.self) == XDFChunk.stampByteCount else { throw failure("a sample has no time") }
                    digest.add(UInt64(littleEndian: next.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
                    next += XDFSampleFormat.stampByteCount
                    for channel in channels {
                        digest.add(XDFFile.word(XDFSampleFormat.raw(at: next, of: channel, isDouble: isDouble)))
                        next += valueByteCount
                    }
                }
            }
        }
        result = digest
    }

    private func length(from bytes: BinaryReader) throws -> Int {
        guard try bytes.number(UInt8.self) == XDFChunk.lengthByteCount else { throw failure("a length is none") }
        return Int(try bytes.number(UInt32.self))
    }

    private func failure(_ detail: String) -> ExportError { .verificationFailed(path: path, detail: detail) }
}
