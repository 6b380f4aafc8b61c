/// An XDF file that is being written, and the checksum of what a reader must find in it.
final class XDFFile {
    let bytes: BinaryWriter
    /// Of headers, numbers of streams, time stamps and values.
    private(set) var digest = SampleDigest()

    /// What a missing value counts as in the checksum: no raw count is as low.
    static let missing = UInt64(bitPattern: .min)

    init(_ file: PartialFile) throws {
        bytes = BinaryWriter(file)
        try bytes.append(XDFChunk.magic)
    }

    /// A time stamp: seconds; to a quarter of a microsecond until 2106.
    @inline(__always)
    static func stamp(_ unixNanoseconds: Int64?) -> Double {
        // A double holds either part exactly, and not both in nanoseconds.
        let nanoseconds = unixNanoseconds ?? 0
        let seconds = nanoseconds.floorDivided(by: 1_000_000_000)
        return Double(seconds) + Double(nanoseconds - seconds * 1_000_000_000) / 1e9
    }

    /// Writes a header or a footer.
    func write(_ chunk: XDFChunk, _ document: [UInt8], of stream: UInt32? = nil) throws {
        try chunk.begin(document.count, of: stream, to: bytes)
        try bytes.append(document)
        digest.add(UInt64(chunk.rawValue) << 32 | UInt64(stream ?? 0))
        for byte in document { digest.add(UInt64(byte)) }
    }

    /// Says that the stream's clock needs no correction at an instant: its stamps are UTC already.
    func writeClockOffset(at stamp: Double, of stream: UInt32) throws {
        try XDFChunk.clockOffset.begin(16, of: stream, to: bytes)
        try bytes.append(stamp)
        try bytes.append(0.0)
        digest.add(UInt64(stream))
        digest.add(stamp.bitPattern)
    }

    func writeBoundary() throws {
        try XDFChunk.boundary.begin(XDFChunk.boundaryContent.count, to: bytes)
        try bytes.append(XDFChunk.boundaryContent)
    }

    /// Begins a chunk of samples; so many must follow.
    func beginSamples(_ count: Int, byteCount: Int, of stream: UInt32) throws {
        try XDFChunk.samples.begin(byteCount + 5, of: stream, to: bytes)
        try bytes.append(XDFChunk.lengthByteCount)
        try bytes.append(UInt32(count))
        digest.add(UInt64(stream))
        digest.add(UInt64(count))
    }

    /// Appends rows of samples; `fill` writes all bytes of some of them and adds to the checksum what a reader must find.
    @inline(__always)
    func append(
        rows count: Int, of byteCount: Int,
        _ fill: (UnsafeMutableRawBufferPointer, Range<Int>, inout SampleDigest) throws -> Void
    ) throws {
        var digest = digest
        try bytes.append(rows: count, of: byteCount) { memory, rows in try fill(memory, rows, &digest) }
        self.digest = digest
    }

    /// Writes a time stamp to memory.
    @inline(__always)
    static func store(_ stamp: Double, at next: inout UnsafeMutableRawPointer, digest: inout SampleDigest) {
        next.storeBytes(of: XDFChunk.stampByteCount, as: UInt8.self)
        next.storeBytes(of: stamp.bitPattern.littleEndian, toByteOffset: 1, as: UInt64.self)
        next += XDFSampleFormat.stampByteCount
        digest.add(stamp.bitPattern)
    }

    /// What a value counts as in the checksum.
    @inline(__always)
    static func word(_ raw: Int32?) -> UInt64 { raw.map { UInt64(bitPattern: Int64($0)) } ?? missing }

    /// Writes the one chunk of the stream of marks.
    func write(_ marks: [(stamp: Double, text: [UInt8])], of stream: UInt32) throws {
        try beginSamples(marks.count, byteCount: marks.reduce(0) { $0 + 14 + $1.text.count }, of: stream)
        for mark in marks {
            try append(rows: 1, of: XDFSampleFormat.stampByteCount) { memory, _, digest in
                guard var next = memory.baseAddress else { return }
                Self.store(mark.stamp, at: &next, digest: &digest)
            }
            try bytes.append(XDFChunk.lengthByteCount)
            try bytes.append(UInt32(mark.text.count))
            try bytes.append(mark.text)
            for byte in mark.text { digest.add(UInt64(byte)) }
        }
    }

    /// Writes the last clock offset of a stream and its footer.
    func finish(_ layout: XDFStreamWriter.Layout, first: Double, last: Double) throws {
        if last != first { try writeClockOffset(at: last, of: layout.id) }
        let offsets = (last == first ? [first] : [first, last]).map {
            XMLElement("offset", [XMLElement("time", String($0)), XMLElement("value", "0")])
        }
        let footer = XMLElement(
            "info",
            [
                XMLElement("first_timestamp", String(first)), XMLElement("last_timestamp", String(last)),
                XMLElement("sample_count", String(layout.sampleCount)), XMLElement("clock_offsets", offsets),
            ])
        try write(.streamFooter, footer.document, of: layout.id)
    }
}
