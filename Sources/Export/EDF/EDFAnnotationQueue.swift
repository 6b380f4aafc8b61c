/// The annotations that wait for a data record: the one that holds their onset, or the next with room. None is dropped.
struct EDFAnnotationQueue {
    /// The recording's own, by onset.
    private let texts: [EDFAnnotation]
    private var nextText = 0
    /// Those that the gaps made, by onset.
    private var skips: [EDFAnnotation] = []
    private var nextSkip = 0
    /// Bytes of the signal of annotations, at the end of each record.
    private let byteRoom: Int

    /// - Parameter room: The samples in a record of the signal of annotations.
    init(texts: [EDFAnnotation], room: Int, variant: EDFVariant) {
        self.texts = texts
        byteRoom = room * variant.bytesPerSample
    }

    var isEmpty: Bool { nextText == texts.count && nextSkip == skips.count }

    /// How many bytes wait.
    var byteCount: Int {
        (texts[nextText...] + skips[nextSkip...]).reduce(0) { $0 + $1.bytes.count }
    }

    mutating func add(_ annotations: [EDFAnnotation]) {
        guard !annotations.isEmpty else { return }
        skips.removeFirst(nextSkip)
        nextSkip = 0
        skips += annotations
        skips.sort { $0.onsetMicroseconds < $1.onsetMicroseconds }
    }

    /// Writes the signal of annotations of one record: its time, then what has an onset before `limit`, while there is room.
    mutating func insert(
        into record: UnsafeMutableRawBufferPointer, at onset: Int64, before limit: Int64, digest: inout SampleDigest
    ) {
        let signal = UnsafeMutableRawBufferPointer(rebasing: record[(record.count - byteRoom)...])
        var used = append(EDFAnnotation.timeKeeping(onset), to: signal, at: 0)
        while let (annotation, isText) = next(before: limit) {
            let bytes = annotation.bytes
            guard used + bytes.count <= signal.count else { break }
            used = append(bytes, to: signal, at: used)
            digest.add(annotation)
            if isText { nextText += 1 } else { nextSkip += 1 }
        }
        // The rest is zeros (EDF+ specification, 2.2.2).
        UnsafeMutableRawBufferPointer(rebasing: signal[used...]).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// The earlier of the two that wait.
    private func next(before limit: Int64) -> (EDFAnnotation, isText: Bool)? {
        let text = nextText < texts.count ? texts[nextText] : nil
        let skip = nextSkip < skips.count ? skips[nextSkip] : nil
        let isText = (text?.onsetMicroseconds ?? .max) <= (skip?.onsetMicroseconds ?? .max)
        guard let first = isText ? text ?? skip : skip ?? text, first.onsetMicroseconds < limit || limit == .max else {
            return nil
        }
        return (first, isText && text != nil)
    }

    private func append(_ bytes: [UInt8], to signal: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        UnsafeMutableRawBufferPointer(rebasing: signal[offset...]).copyBytes(from: bytes)
        return offset + bytes.count
    }
}
