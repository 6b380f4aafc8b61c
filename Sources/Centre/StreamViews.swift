import Storage

/// Has a centre make the views of streams that were sent, in a transaction of its own: whoever reads one waits meanwhile.
final class StreamViews {
    private let connection: CentreConnection
    /// What the streams and channels of a recording were called when views were made of it last, and whether all are there.
    private var made: [RecordingID: (names: Int, areThere: Bool)] = [:]

    /// - Returns: nil where the centre is of a version that makes its views with what it is sent, in the same transaction.
    init?(_ connection: CentreConnection) throws(CentreError) {
        self.connection = connection
        let answer = try connection.execute("SELECT to_regprocedure('ship_views(uuid)') IS NOT NULL")
        guard answer.first?.first == "t" else { return nil }
        try connection.execute("SET eegsync.views = 'afterwards'")
    }

    /// Has those of a recording made that are not there.
    ///
    /// - Parameter isDue: whether it is tried once more where some could not be made: somebody may read a view for hours, or
    ///   make it just now.
    func make(of shipment: RecordingShipment, isDue: Bool) throws(CentreError) {
        let names = shipment.document.names
        if let last = made[shipment.recording], last.names == names, last.areThere || !isDue { return }
        let answer = try connection.execute("SELECT ship_views($1)", [shipment.uuid])
        made[shipment.recording] = (names, answer.first?.first == "t")
    }

    /// Drops what is known of a recording.
    func forget(_ recording: RecordingID) { made[recording] = nil }
}
