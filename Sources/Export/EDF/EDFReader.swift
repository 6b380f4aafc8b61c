import Glibc

/// Reads an EDF+ or BDF+ file back: what this package's own writer writes, checked strictly.
struct EDFReader {
    let path: String
    let header: EDFHeader
    /// The header as it stands in the file.
    let headerBytes: [UInt8]

    /// One data record.
    struct Record {
        /// Microseconds from the header's start time.
        var onsetMicroseconds: Int64
        var annotations: [EDFAnnotation]
        var bytes: UnsafeRawBufferPointer
    }

    /// Opens a file and reads its header.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where it is not a file of the family or its size is not what it says.
    init(path: String) throws {
        self.path = path
        let file = try ReadFile(path: path)
        var bytes = try file.read(atMost: 256)
        let parsed = try EDFHeader(parsing: bytes) { count in
            let rest = try file.read(atMost: count)
            bytes += rest
            return rest
        }
        guard let parsed else { throw ExportError.verificationFailed(path: path, detail: "the header cannot be read") }
        header = parsed
        headerBytes = bytes
        let expected = Int64(header.byteCount) + header.recordCount * Int64(header.recordByteCount)
        guard file.byteCount == expected else {
            throw ExportError.verificationFailed(
                path: path, detail: "it is \(file.byteCount) bytes long where its header says \(expected)")
        }
    }

    /// Calls `body` with each data record.
    func forEachRecord(_ body: (Record) throws -> Void) throws {
        let file = try ReadFile(path: path)
        _ = try file.read(atMost: header.byteCount)
        let size = header.recordByteCount
        let perBlock = max(1, (1 << 19) / size)
        let annotationSize = (header.signals.last?.samplesPerRecord ?? 0) * header.variant.bytesPerSample
        var left = header.recordCount
        while left > 0 {
            let count = Int(min(Int64(perBlock), left))
            let block = try file.read(atMost: count * size)
            guard block.count == count * size else { throw failure("a data record is cut short") }
            try block.withUnsafeBytes { bytes in
                for record in 0..<count {
                    let slice = UnsafeRawBufferPointer(rebasing: bytes[(record * size)..<((record + 1) * size)])
                    guard let lists = EDFAnnotation.parse(Array(slice[(size - annotationSize)...])), let first = lists.first,
                        first.text.isEmpty
                    else { throw failure("the annotations of a data record cannot be read") }
                    try body(
                        Record(onsetMicroseconds: first.onsetMicroseconds, annotations: Array(lists.dropFirst()), bytes: slice))
                }
            }
            left -= Int64(count)
        }
    }

    /// The checksum of everything after the header.
    func digest(progress: (Double) -> Void = { _ in }) throws -> SampleDigest {
        var digest = SampleDigest()
        var recordCount: Int64 = 0
        let width = header.variant.bytesPerSample
        let signals = header.signals.dropLast().map(\.samplesPerRecord)
        try forEachRecord { record in
            digest.add(EDFAnnotation(onsetMicroseconds: record.onsetMicroseconds, durationMicroseconds: nil, text: ""))
            for annotation in record.annotations { digest.add(annotation) }
            guard var source = record.bytes.baseAddress else { return }
            for count in signals {
                var state: UInt64 = 0
                for _ in 0..<count {
                    state = SampleDigest.next(state, Self.load(source, width: width))
                    source += width
                }
                digest.add(state)
            }
            recordCount += 1
            if recordCount % 256 == 0 { progress(Double(recordCount) / Double(header.recordCount)) }
        }
        return digest
    }

    /// The digital values of a signal, all in memory: for tests and small files.
    func digitalValues(ofSignal index: Int) throws -> [Int32] {
        let width = header.variant.bytesPerSample
        let offset = header.signals[..<index].reduce(0) { $0 + $1.samplesPerRecord } * width
        var values: [Int32] = []
        try forEachRecord { record in
            guard let base = record.bytes.baseAddress else { return }
            for sample in 0..<header.signals[index].samplesPerRecord {
                values.append(Self.load(base + offset + sample * width, width: width))
            }
        }
        return values
    }

    /// All annotations but time keeping, in the order of the file: for tests and small files.
    func annotations() throws -> [EDFAnnotation] {
        var result: [EDFAnnotation] = []
        try forEachRecord { result += $0.annotations }
        return result
    }

    @inline(__always)
    private static func load(_ source: UnsafeRawPointer, width: Int) -> Int32 {
        if width == 2 { return Int32(Int16(truncatingIfNeeded: source.loadUnaligned(as: UInt16.self).littleEndian)) }
        let low = Int32(source.load(as: UInt8.self)) | Int32(source.load(fromByteOffset: 1, as: UInt8.self)) << 8
        return low | Int32(source.load(fromByteOffset: 2, as: Int8.self)) << 16
    }

    private func failure(_ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}

extension EDFHeader {
    /// Reads a header from the first 256 bytes and, by `rest`, the bytes after them; nil where a field is not what it must be.
    init?(parsing first: [UInt8], rest: (Int) throws -> [UInt8]) rethrows {
        guard first.count == 256 else { return nil }
        guard let variant = [EDFVariant.edf, .bdf].first(where: { first.starts(with: $0.version) }) else { return nil }
        func text(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> String {
            String(decoding: bytes[offset..<(offset + width)], as: UTF8.self).trimmingTrailingSpaces
        }
        let reserved = text(first, 192, 44)
        guard let count = Int(text(first, 252, 4)), count > 0, count < 4096,
            let recordCount = Int64(text(first, 236, 8)), recordCount >= 0,
            let duration = Double(text(first, 244, 8)), duration > 0, duration < 1e8,
            Int(text(first, 184, 8)) == 256 * (count + 1),
            reserved == variant.reserved(isContinuous: true) || reserved == variant.reserved(isContinuous: false)
        else { return nil }
        let bytes = try rest(256 * count)
        guard bytes.count == 256 * count else { return nil }
        var signals: [EDFSignal] = []
        for index in 0..<count {
            // Each field of all signals, then the next field of all signals; widths from the specification.
            func field(_ before: Int, _ width: Int) -> String { text(bytes, before * count + index * width, width) }
            guard let digitalMinimum = Int32(field(120, 8)), let digitalMaximum = Int32(field(128, 8)),
                let samples = Int(field(216, 8)), samples > 0, samples < 1 << 24
            else { return nil }
            signals.append(
                EDFSignal(
                    label: field(0, 16), transducer: field(16, 80), dimension: field(96, 8), physicalMinimum: field(104, 8),
                    physicalMaximum: field(112, 8), digitalMinimum: digitalMinimum, digitalMaximum: digitalMaximum,
                    prefiltering: field(136, 80), samplesPerRecord: samples))
        }
        self.init(
            variant: variant, isContinuous: reserved.hasSuffix("C"), patient: text(first, 8, 80),
            recording: text(first, 88, 80),
            startDate: text(first, 168, 8), startTime: text(first, 176, 8), recordCount: recordCount,
            recordDurationMicroseconds: Int64((duration * 1e6).rounded()), signals: signals)
    }
}
