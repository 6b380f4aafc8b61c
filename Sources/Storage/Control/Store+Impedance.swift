public import Bluetooth
import GRDB

/// Impedances: asked for by a command, measured while the acquisition has a link.
extension Store {
    /// Wants the impedances of a headset's electrodes measured, until it is stopped or the time is over.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where the database has no such headset.
    public func startImpedanceMeasurement(
        headset: String, at now: MonotonicTime, until end: MonotonicTime
    ) throws(StorageError) -> ImpedanceMeasurementID {
        ImpedanceMeasurementID(rawValue: try start(.impedanceMeasurement, headset: headset, at: now, until: end))
    }

    /// Lets a measurement go on until `end`.
    public func extend(_ measurement: ImpedanceMeasurementID, until end: MonotonicTime) throws(StorageError) {
        try extend(.impedanceMeasurement, measurement.rawValue, until: end)
    }

    /// Wants a measurement ended.
    public func stop(_ measurement: ImpedanceMeasurementID) throws(StorageError) {
        try stop(.impedanceMeasurement, measurement.rawValue)
    }

    /// Removes a request; what was measured stays.
    public func remove(_ measurement: ImpedanceMeasurementID) throws(StorageError) {
        try remove(.impedanceMeasurement, measurement.rawValue)
    }

    /// True once the acquisition has ended a measurement.
    public func isComplete(_ measurement: ImpedanceMeasurementID) throws(StorageError) -> Bool {
        try connection.read { db in try Self.isComplete(.impedanceMeasurement, measurement.rawValue, in: db) }
    }

    /// Measurements that the acquisition has to care for.
    public func openImpedanceMeasurements() throws(StorageError) -> [ImpedanceRequest] {
        try open(.impedanceMeasurement, as: ImpedanceMeasurementID.self)
    }

    /// What was measured of a headset in the store's boot of the host, in order.
    ///
    /// - Parameters:
    ///   - start: the first instant that counts.
    ///   - position: behind which values are wanted: what the call before gave.
    /// - Returns: the values, and the position behind them.
    public func impedances(
        of headset: String, since start: MonotonicTime, after position: Int64 = 0
    ) throws(StorageError) -> (values: [ImpedanceRecord], position: Int64) {
        let hostBoot = try requireHostBoot()
        return try connection.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT i.id, i.recording_id, i.boottime_ns, i.electrode, i.kilohms
                    FROM impedance AS i JOIN recording AS r ON r.id = i.recording_id JOIN headset AS h ON h.id = r.headset_id
                    WHERE h.name = ? AND i.id > ? AND i.host_boot_id = ? AND i.boottime_ns >= ? ORDER BY i.id
                    """, arguments: [headset, position, hostBoot, start.nanoseconds])
            let values = rows.map { row in
                ImpedanceRecord(
                    recording: RecordingID(rawValue: row["recording_id"]),
                    at: MonotonicTime(nanoseconds: row["boottime_ns"]), electrode: row["electrode"], kilohms: row["kilohms"])
            }
            return (values, rows.last?["id"] ?? position)
        }
    }
}
