import GRDB
import Headsets

/// A row of table `stream` with its channels.
struct StreamRow {
    let id: StreamID
    let position: Int
    let description: StreamDescription

    /// The streams of a recording, by position and bank; of several at one position the earlier ones first.
    static func fetch(of recording: RecordingID, in db: Database) throws -> [StreamRow] {
        try SQLRequest<Row>(
            sql: "SELECT * FROM stream WHERE recording_id = ? ORDER BY position, bank, id", arguments: [recording.rawValue],
            cached: true
        ).fetchAll(db).map { row in
            let id: Int64 = row["id"]
            let channels = try channels(
                "SELECT * FROM channel WHERE stream_id = ? ORDER BY number", of: StreamID(rawValue: id), in: db)
            return StreamRow(
                id: StreamID(rawValue: id), position: row["position"],
                description: StreamDescription(
                    name: row["name"], bank: row["bank"], samplingFrequency: row["sampling_frequency"],
                    samplesPerCount: row["samples_per_count"], counterModulus: row["counter_modulus"], channels: channels))
        }
    }

    /// The channels as they were when the stream began, whatever people have corrected since.
    func declaredChannels(in db: Database) throws -> [ChannelDescription] {
        try Self.channels(
            """
            SELECT d.name, c.type, d.unit, d.scale, d."offset", c.raw_minimum, c.raw_maximum
            FROM channel AS c JOIN channel_declaration AS d ON d.stream_id = c.stream_id AND d.number = c.number
            WHERE c.stream_id = ? ORDER BY c.number
            """, of: id, in: db)
    }

    private static func channels(_ sql: String, of stream: StreamID, in db: Database) throws -> [ChannelDescription] {
        try SQLRequest<Row>(sql: sql, arguments: [stream.rawValue], cached: true).fetchAll(db).map { channel in
            ChannelDescription(
                name: channel["name"], type: channel["type"], unit: channel["unit"], scale: channel["scale"],
                offset: channel["offset"], rawMinimum: Int32(clamping: channel["raw_minimum"] as Int64),
                rawMaximum: Int32(clamping: channel["raw_maximum"] as Int64))
        }
    }
}
