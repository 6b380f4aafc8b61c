import Bluetooth
import Storage

/// What a headset says on a link beside samples and statuses: everything is counted, and the first of each kind are kept.
struct LinkMessages {
    /// So many different texts of a kind are kept.
    static let textMaximum = 16
    /// So many notifications with bytes that are undecodable are kept.
    static let sampleMaximum = 8
    /// So many bytes of each.
    static let sampleLength = 64
    /// So many characters of a text.
    static let textLength = 512

    private struct Entry {
        let kind: HeadsetMessageRecord.Kind
        var text: String?
        var bytes: [UInt8]?
        var count = 0
        var byteCount = 0
        let first: MonotonicTime
        var last: MonotonicTime
        /// True where the database has another count.
        var isUnwritten = true
        /// True where the database has no row.
        var isNew = true
    }

    private var entries: [Entry] = []

    /// True where something is to be written that nobody has read of yet.
    var hasNew: Bool { entries.contains(where: \.isNew) }
    /// True where counts have grown.
    var hasUnwritten: Bool { entries.contains(where: \.isUnwritten) }

    /// Notes a text.
    mutating func note(_ kind: HeadsetMessageRecord.Kind, _ text: String, at now: MonotonicTime) {
        let kept = String(text.prefix(Self.textLength))
        if let index = entries.firstIndex(where: { $0.kind == kind && $0.text == kept }) {
            return count(index, bytes: 0, at: now)
        }
        let isKept = entries.count { $0.kind == kind && $0.text != nil } < Self.textMaximum
        let further = entries.firstIndex { $0.kind == kind && $0.text == nil }
        if !isKept, let further { return count(further, bytes: 0, at: now) }
        entries.append(Entry(kind: kind, text: isKept ? kept : nil, first: now, last: now))
        count(entries.count - 1, bytes: 0, at: now)
    }

    /// Notes that some bytes of a notification were undecodable.
    mutating func noteUndecodable(_ byteCount: Int, of notification: [UInt8], at now: MonotonicTime) {
        let isKept = entries.count { $0.kind == .undecodable && $0.bytes != nil } < Self.sampleMaximum
        let further = entries.firstIndex { $0.kind == .undecodable && $0.bytes == nil }
        if !isKept, let further { return count(further, bytes: byteCount, at: now) }
        let bytes = isKept ? Array(notification.prefix(Self.sampleLength)) : nil
        entries.append(Entry(kind: .undecodable, bytes: bytes, first: now, last: now))
        count(entries.count - 1, bytes: byteCount, at: now)
    }

    private mutating func count(_ index: Int, bytes: Int, at now: MonotonicTime) {
        entries[index].count += 1
        entries[index].byteCount += bytes
        entries[index].last = now
        entries[index].isUnwritten = true
    }

    /// Takes what is to be written.
    mutating func take(of headset: HeadsetID, linkBegan: MonotonicTime) -> [HeadsetMessageRecord] {
        entries.indices.compactMap { number in
            guard entries[number].isUnwritten else { return nil }
            (entries[number].isUnwritten, entries[number].isNew) = (false, false)
            let entry = entries[number]
            return HeadsetMessageRecord(
                headset: headset, linkBegan: linkBegan, number: number, kind: entry.kind, text: entry.text,
                bytes: entry.bytes, count: entry.count, byteCount: entry.byteCount, first: entry.first, last: entry.last)
        }
    }
}
