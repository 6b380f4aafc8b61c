/// What a centre knows of its machines and headsets: the view `fleet`.
package struct FleetReading: Hashable, Sendable {
    /// A machine with one of its headsets, or with none.
    package struct Row: Hashable, Sendable {
        package var study = ""
        /// The role with which it ships.
        package var machine = ""
        /// Nil for one that has never shipped; so is the version.
        package var machineUUID: String?
        package var version: String?
        /// How long ago it was heard of.
        package var contactSeconds: Double?
        /// Whether it has ever said how it is.
        package var hasSaid = false
        package var isAcquiring = false
        /// What it says is wrong with it.
        package var problem: String?
        package var alerts: [String] = []
        package var freeBytes: Int64?
        package var diskDays: Double?
        /// How much it may have at the centre, and how much it has, in KiB; nil of a centre without quotas.
        package var quotaKiB: Int64?
        package var usedKiB: Int64?
        package var headset: Headset?

        package init() {}
    }

    /// A headset.
    package struct Headset: Hashable, Sendable {
        package var name = ""
        package var model: String?
        /// Whether a person wants it recorded; nil where the machine has not said.
        package var isWanted: Bool?
        /// `good`, `working`, `waiting` or `idle`; nil where the machine has not said.
        package var severity: String?
        /// Completes "left ...".
        package var sentence: String?
        package var alerts: [String] = []
        package var batteryPercent: Double?
        /// How old its newest sample is.
        package var newestSeconds: Double?
        /// By how much the newest sample here is behind the newest one of the machine.
        package var delaySeconds: Double?
        /// How much of older samples is still to come.
        package var backlogSeconds: Double?
        /// Gaps, and what is missing in them, since midnight.
        package var gapsToday: Int64?
        package var missingTodaySeconds: Double?
        /// When the newest sample here was taken, by the machine's clock, in nanoseconds since 1970.
        package var newestUnixNanoseconds: Int64?
        /// Its newest recording, by its number at the centre.
        package var recording: Int64?
        /// True where its newest recording is of a study that whoever asks does not read, as the machine was in that before.
        /// Of the recording nothing is known here.
        package var isOfAnotherStudy = false

        package init() {}
    }

    package var rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    /// Asks the centre.
    ///
    /// - Parameter timeZone: in which a day begins, by its name in the tz database.
    package init(_ connection: CentreConnection, timeZone: String) throws(CentreError) {
        do throws(CentreError) {
            try connection.execute("SELECT set_config('TimeZone', $1, false)", [timeZone])
        } catch {
            // A zone that the server does not know; it has one of its own.
            guard case .refused = error else { throw error }
        }
        // To compile a query of so many parts takes longer than to answer it for a thousand machines.
        try connection.execute("SET jit = off")
        rows = try connection.execute("SELECT \(Self.columns) FROM fleet AS f ORDER BY study, machine, headset").map(Row.init)
    }

    /// Lists are sent as texts with line feeds between them: no sentence has one. The last columns are such as the view of an
    /// earlier version has not.
    private static let columns = """
        study, machine, machine_uuid, version, contact_seconds, has_said, is_acquiring, problem, \
        array_to_string(alerts, E'\\n'), free_bytes, disk_days, headset, model, is_wanted, severity, sentence, \
        array_to_string(headset_alerts, E'\\n'), battery_percent, newest_seconds, delay_seconds, backlog_seconds, gaps_today, \
        missing_today_seconds, newest_unix_ns, recording_id, to_jsonb(f) ->> 'is_of_another_study', \
        to_jsonb(f) ->> 'quota_kib', to_jsonb(f) ->> 'used_kib'
        """
}

extension FleetReading.Row {
    /// A row of the view, in the order of the columns that are asked for. A machine says what it likes: what is no number, as
    /// nobody can count with it, is as if it had not been said.
    init(_ cells: [String?]) {
        self.init()
        func list(_ text: String?) -> [String] { text.map { $0.split(separator: "\n").map(String.init) } ?? [] }
        func real(_ index: Int) -> Double? { cells[index].flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil } }
        func percentage(_ index: Int) -> Double? { real(index).flatMap { (0...100).contains($0) ? $0 : nil } }
        func integer(_ index: Int) -> Int64? { cells[index].flatMap { Int64($0) } }
        (study, machine) = (cells[0] ?? "", cells[1] ?? "")
        (machineUUID, version, contactSeconds) = (cells[2], cells[3], real(4))
        (hasSaid, isAcquiring, problem) = (cells[5] == "t", cells[6] == "t", cells[7])
        (alerts, freeBytes, diskDays) = (list(cells[8]), integer(9), real(10))
        (quotaKiB, usedKiB) = (integer(26), integer(27))
        guard let name = cells[11] else { return }
        var headset = FleetReading.Headset()
        (headset.name, headset.model, headset.isWanted) = (name, cells[12], cells[13].map { $0 == "t" })
        (headset.severity, headset.sentence, headset.alerts) = (cells[14], cells[15], list(cells[16]))
        (headset.batteryPercent, headset.newestSeconds, headset.delaySeconds) = (percentage(17), real(18), real(19))
        (headset.backlogSeconds, headset.gapsToday, headset.missingTodaySeconds) = (real(20), integer(21), real(22))
        (headset.newestUnixNanoseconds, headset.recording) = (integer(23), integer(24))
        headset.isOfAnotherStudy = cells[25] == "true"
        self.headset = headset
    }
}
