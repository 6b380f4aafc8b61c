/// Something that the headset marks with a packet: what it says, and of which sample.
package struct DescribedAnnotation: Hashable, Sendable {
    /// What it says, for people.
    package var text: DescribedText
    /// The number of what happened; nil where there is none.
    package var code: DescribedField?
    /// The headset's own clock then; nil where it is not sent.
    package var ticks: DescribedField?
    /// The index in ``HeadsetDescriptor/streams`` of the stream that it is said of; nil for that of the packet's own samples.
    package var stream: Int?
    /// The counter of the sample, or of the packet that begins with it; nil for the latest sample of ``stream``.
    package var counter: DescribedField?
    /// The number of values of the counter; a value beyond says nothing.
    package var counterModulus: Int64 = 1 << 32

    /// Creates an annotation of what has no number and no clock.
    package init(_ text: DescribedText) {
        self.text = text
    }

    /// The event; nil where the frame does not hold what the annotation says.
    ///
    /// - Parameter own: the first of the packet's own samples; nil where it has none.
    func event(in bytes: [UInt8], _ frame: Range<Int>, own: HeadsetEvent.Sample?) -> HeadsetEvent? {
        guard let description = text.text(in: bytes, frame) else { return nil }
        return HeadsetEvent(
            description, of: sample(in: bytes, frame, own: own), deviceTicks: ticks?.pattern(in: bytes, frame),
            code: code.flatMap { field in field.pattern(in: bytes, frame).flatMap(field.number.wideInteger) })
    }

    private func sample(in bytes: [UInt8], _ frame: Range<Int>, own: HeadsetEvent.Sample?) -> HeadsetEvent.Sample? {
        guard let stream else { return own }
        guard let counter else { return HeadsetEvent.Sample(stream: stream) }
        guard let value = counter.pattern(in: bytes, frame), value < UInt64(max(1, counterModulus)) else { return nil }
        return HeadsetEvent.Sample(stream: stream, counter: UInt32(truncatingIfNeeded: value))
    }
}

extension DescribedNumber {
    /// What a pattern means, as an integer of 64 bits; nil for what is none.
    fileprivate func wideInteger(_ pattern: UInt64) -> Int64? {
        switch kind {
        case .unsigned: return Int64(exactly: pattern)
        case .signed:
            let unused = UInt64(64 - bits)
            return Int64(bitPattern: pattern << unused) >> Int64(unused)
        case .float: return nil
        }
    }
}
