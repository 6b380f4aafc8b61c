import GRDB

/// The rows of a table that belong to a recording, and how they go.
struct OwnedRows {
    let table: String
    /// The columns that find a row.
    let key: String
    /// Which rows; `?1` is the recording.
    let condition: String

    private static let ofStream = "stream_id IN (SELECT id FROM stream WHERE recording_id = ?1)"
    private static let ofRecording = "recording_id = ?1"

    /// Those that refer to others before these. What only the last transaction removes comes in ``last``.
    static let all = [
        OwnedRows(table: "arrival", key: "stream_id, n", condition: ofStream),
        OwnedRows(table: "loss_detection", key: "stream_id, first_n", condition: ofStream),
        OwnedRows(table: "signal_check", key: "stream_id, channel, first_n", condition: ofStream),
        OwnedRows(table: "gap", key: "id", condition: ofStream),
        OwnedRows(table: "merge_conflict", key: "id", condition: ofStream),
        OwnedRows(table: "block", key: "id", condition: ofStream),
        OwnedRows(table: "undigested_rows", key: "stream_id", condition: ofStream),
        OwnedRows(table: "confirmation", key: "stream_id, chain, destination", condition: ofStream),
        OwnedRows(table: "whole_confirmation", key: "recording_id, destination", condition: ofRecording),
        OwnedRows(
            table: "replaced_segment", key: "refit_id, first_n",
            condition:
                "refit_id IN (SELECT f.id FROM refit AS f JOIN stream AS s ON s.id = f.stream_id WHERE s.recording_id = ?1)"
        ),
        OwnedRows(table: "refit", key: "id", condition: ofStream),
        OwnedRows(table: "segment", key: "stream_id, first_n", condition: ofStream),
        // One that replaces another has the higher key.
        OwnedRows(table: "annotation", key: "id", condition: ofRecording + " ORDER BY id DESC"),
        OwnedRows(table: "impedance", key: "id", condition: ofRecording),
        OwnedRows(table: "streaming_return", key: "id", condition: ofRecording),
        OwnedRows(
            table: "headset_message", key: "link_id, number",
            condition: "link_id IN (SELECT id FROM link WHERE recording_id = ?1)"),
        OwnedRows(table: "recording_edit", key: "id", condition: ofRecording),
    ]

    /// What goes at last, in one transaction with the recording itself.
    static let last = [
        ("epoch", ofStream), ("channel_correction", ofStream), ("channel_declaration", ofStream), ("channel", ofStream),
        ("link", ofRecording), ("recording_detail", ofRecording), ("recording_property", ofRecording),
        ("merged_recording", ofRecording), ("recording_end", ofRecording),
        ("stream", ofRecording), ("recording", "id = ?1"),
    ]

    /// Tables whose rows stay and forget which recording they were of: an address is the headset's, and of each start of a
    /// schedule it is decided once.
    static let released = ["adoption", "schedule_start"]

    /// Removes rows, at most so many. Returns how many it removed.
    func remove(of recording: RecordingID, limit: Int, in db: Database) throws -> Int {
        try db.execute(
            sql: "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT ?2)",
            arguments: [recording.rawValue, limit])
        return db.changesCount
    }
}
