package import Bluetooth
import Foundation
import GRDB

/// A link to a headset: when it was there, and what it was made with. Inserted, or updated by (headset, begin).
package struct LinkRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var recording: RecordingID
    /// When the link was there.
    package var began: MonotonicTime
    /// When it ended; nil while it is there.
    package var ended: MonotonicTime?
    package var facts: LinkFacts

    package init(
        headset: HeadsetID, recording: RecordingID, began: MonotonicTime, ended: MonotonicTime? = nil, facts: LinkFacts
    ) {
        self.headset = headset
        self.recording = recording
        self.began = began
        self.ended = ended
        self.facts = facts
    }
}

extension LinkRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        let json = facts.json
        try transaction.execute("INSERT OR IGNORE INTO provenance (facts) VALUES (?)", [json])
        try transaction.execute(
            """
            INSERT INTO link (headset_id, recording_id, host_boot_id, began_boottime_ns, ended_boottime_ns, provenance_id)
            VALUES (?, ?, ?, ?, ?, (SELECT id FROM provenance WHERE facts = ?))
            ON CONFLICT (headset_id, host_boot_id, began_boottime_ns) DO UPDATE
            SET ended_boottime_ns = excluded.ended_boottime_ns, provenance_id = excluded.provenance_id
            """,
            [
                headset.rawValue, recording.rawValue, transaction.hostBoot, began.nanoseconds, ended?.nanoseconds, json,
            ])
    }
}

/// Something that a headset said on a link beside samples and statuses, and how often. Inserted, or counted on the row that
/// has its number.
package struct HeadsetMessageRecord: Hashable, Sendable, Codable {
    /// What it is.
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Text for people, such as the answer to a command.
        case message
        /// A command that the headset refused.
        case refused
        /// Bytes that belong to no valid message.
        case undecodable
    }

    package var headset: HeadsetID
    /// When the link began; see ``LinkRecord``.
    package var linkBegan: MonotonicTime
    /// Its number on the link, from 0.
    package var number: Int
    package var kind: Kind
    /// Nil where it stands for all further ones of the kind, and for bytes.
    package var text: String?
    /// The first bytes of a notification that held some that are undecodable; nil for what is none, and for further ones.
    package var bytes: [UInt8]?
    /// How often, at least 1.
    package var count: Int
    /// How many bytes were undecodable, in all.
    package var byteCount: Int
    package var first: MonotonicTime
    package var last: MonotonicTime

    package init(
        headset: HeadsetID, linkBegan: MonotonicTime, number: Int, kind: Kind, text: String?, bytes: [UInt8]?, count: Int,
        byteCount: Int, first: MonotonicTime, last: MonotonicTime
    ) {
        self.headset = headset
        self.linkBegan = linkBegan
        self.number = number
        self.kind = kind
        self.text = text
        self.bytes = bytes
        self.count = count
        self.byteCount = byteCount
        self.first = first
        self.last = last
    }
}

extension HeadsetMessageRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO headset_message (link_id, number, kind, text, bytes, count, byte_count, host_boot_id,
                first_boottime_ns, last_boottime_ns)
            SELECT id, ?4, ?5, ?6, ?7, ?8, ?9, ?2, ?10, ?11 FROM link
            WHERE headset_id = ?1 AND host_boot_id = ?2 AND began_boottime_ns = ?3
            ON CONFLICT (link_id, number) DO UPDATE SET count = excluded.count, byte_count = excluded.byte_count,
                last_boottime_ns = excluded.last_boottime_ns
            """,
            [
                headset.rawValue, transaction.hostBoot, linkBegan.nanoseconds, number, kind.rawValue, text,
                bytes.map { DatabaseValue(value: Data($0)) }, count, byteCount, first.nanoseconds, last.nanoseconds,
            ])
    }
}
