import Storage

/// Reads the small tables of one recording from a centre.
struct FetchedTables {
    let connection: CentreConnection
    let recording: CentreRecording
    private let numbers: FetchedNumbers

    init(_ recording: CentreRecording, through connection: CentreConnection) throws(CentreError) {
        (self.recording, self.connection) = (recording, connection)
        let boots = try connection.execute("SELECT id, uuid FROM host_boot WHERE role = $1 ORDER BY id", [recording.role])
        let links = try connection.execute("SELECT uuid FROM link WHERE recording_id = $1 ORDER BY id", [recording.key])
        numbers = FetchedNumbers(
            hostBoots: FetchedNumbers.inOrder(boots),
            streams: FetchedNumbers.inOrder(recording.streams.map { ["\($0.centreNumber)"] }),
            annotations: FetchedNumbers.inOrder(
                try connection.execute("SELECT uuid FROM annotation WHERE recording_id = $1 ORDER BY id", [recording.key])),
            hostBootUUIDs: FetchedNumbers.inOrder(boots.map { Array($0.dropFirst()) }),
            streamUUIDs: FetchedNumbers.inOrder(recording.streams.map { [$0.uuid] }),
            links: FetchedNumbers.inOrder(links))
    }

    /// All of them, those that others refer to first.
    func read() throws(CentreError) -> [FetchedTable] {
        var tables = try hostTables()
        tables += [try recordingTable(), try streamTable()]
        for (name, columns, order) in Self.ofStream {
            tables.append(
                try table(
                    name, [.stream("stream_id")] + columns,
                    "FROM \(name) AS t JOIN stream AS st ON st.id = t.stream_id WHERE st.recording_id = $1 "
                        + "ORDER BY t.stream_id, \(order)", recording.key))
            // Epochs before segments, causes before gaps.
            if name == "segment" { tables.append(try causes()) }
        }
        tables += try linkTables()
        for (name, columns) in Self.ofRecording {
            tables.append(
                try table(
                    name, [.constant("recording_id", .integer(recording.machineNumber))] + columns,
                    "FROM \(name) AS t WHERE t.recording_id = $1", recording.key))
        }
        tables.append(try annotations())
        return tables
    }

    /// Tables whose rows belong to a stream.
    private static let ofStream: [(name: String, columns: [FetchedColumn], order: String)] = [
        (
            "channel",
            [
                .integer("number"), .text("name"), .text("type"), .text("unit"), .real("scale"), .real("\"offset\""),
                .integer("raw_minimum"), .integer("raw_maximum"),
            ], "t.number"
        ),
        (
            "epoch",
            [
                .integer("number"), .integer("boot_identifier"), .integer("first_n"), .integer("first_index"),
                .hostBoot("host_boot_id"), .integer("boottime_ns"),
            ], "t.number"
        ),
        (
            "segment",
            [
                .integer("first_n"), .integer("last_n"), .integer("epoch"), .hostBoot("host_boot_id"), .integer("reference_n"),
                .integer("reference_boottime_ns"), .real("period_ns"), .real("residual_ns"), .integer("observation_count"),
                .real("uncertainty_ns"),
            ], "t.first_n"
        ),
        (
            "gap",
            [
                .integer("first_n"), .integer("channel"), .integer("count"), .text("cause"), .integer("recovered"),
                .hostBoot("host_boot_id"), .integer("boottime_ns"), .text("certainty"), .integer("uncertainty"),
            ], "t.first_n, t.channel"
        ),
        ("loss_detection", [.integer("first_n"), .text("means")], "t.first_n"),
        (
            "block",
            [
                .text("chain"), .integer("number"), .integer("channel"), .integer("first_n"), .integer("last_n"),
                .integer("row_count"), .bytes("digest"),
            ], "t.chain DESC, t.number"
        ),
    ]

    private static let ofRecording: [(name: String, columns: [FetchedColumn])] = [
        (
            "recording_detail",
            [
                .text("session"), .text("run"), .text("operator"), .text("notes"), .text("time_zone"), .text("subject_name"),
                .text("subject_sex"), .text("subject_birthdate"), .text("subject_handedness"),
            ]
        ),
        ("recording_property", [.text("key"), .text("value")]),
    ]

    /// Host boots, clocks and the headset.
    private func hostTables() throws(CentreError) -> [FetchedTable] {
        [
            try table("host_boot", [.hostBoot("id"), .text("uuid")], "FROM host_boot AS t WHERE t.role = $1", recording.role),
            // Their own keys are unique to one database, and a machine may have got another one.
            try table(
                "clock_offset",
                [
                    .hostBoot("host_boot_id"), .integer("boottime_ns"), .integer("offset_ns"), .integer("step_ns"),
                    .integer("is_synchronised"),
                ],
                "FROM clock_offset AS t JOIN host_boot AS b ON b.id = t.host_boot_id WHERE b.role = $1 "
                    + "ORDER BY t.host_boot_id, t.id", recording.role),
            try table(
                "headset",
                [.constant("id", .integer(1)), .text("uuid"), .text("name"), .text("model"), .text("serial_number")],
                "FROM headset AS t WHERE t.id = $1", recording.headsetKey),
        ]
    }

    private func recordingTable() throws(CentreError) -> FetchedTable {
        try table(
            "recording",
            [
                .integer("id", of: "machine_recording_id"), .text("uuid"), .constant("headset_id", .integer(1)),
                // Nobody records into a copy.
                .constant("desired_state", .text("stopped")), .text("label"), .text("subject"), .text("task"),
                .hostBoot("requested_host_boot_id"), .integer("requested_boottime_ns"), .hostBoot("started_host_boot_id"),
                .integer("started_boottime_ns"), .hostBoot("stop_requested_host_boot_id"),
                .integer("stop_requested_boottime_ns"), .hostBoot("stopped_host_boot_id"), .integer("stopped_boottime_ns"),
            ], "FROM recording AS t WHERE t.id = $1", recording.key)
    }

    private func streamTable() throws(CentreError) -> FetchedTable {
        try table(
            "stream",
            [
                .stream("id"), .text("uuid"), .constant("recording_id", .integer(recording.machineNumber)),
                .integer("position"), .text("name"), .integer("bank"), .real("sampling_frequency"),
                .integer("samples_per_count"), .integer("counter_modulus"), .integer("channel_count"), .text("view_name"),
            ], "FROM stream AS t WHERE t.recording_id = $1 ORDER BY t.id", recording.key)
    }

    /// The causes of its gaps, with their meanings, which before the step `p0017_guarded` all studies shared.
    private func causes() throws(CentreError) -> FetchedTable {
        try table(
            "gap_cause", [.text("cause"), .text("meaning")],
            """
            FROM (
                SELECT DISTINCT ON (g.cause) g.cause, coalesce(
                    to_jsonb(g) ->> 'meaning', (SELECT min(w.meaning) FROM gap_cause AS w WHERE w.cause = g.cause)) AS meaning
                FROM gap AS g JOIN stream AS st ON st.id = g.stream_id WHERE st.recording_id = $1
                ORDER BY g.cause, g.boottime_ns DESC) AS t WHERE t.meaning IS NOT NULL
            """, recording.key)
    }

    /// Links, and what they were made with: links that were made with the same share a row.
    private func linkTables() throws(CentreError) -> [FetchedTable] {
        var provenance = FetchedTable(name: "provenance", columns: ["id", "facts"], rows: [])
        var link = try table(
            "link",
            [
                .constant("id", .null), .text("uuid"), .constant("recording_id", .integer(recording.machineNumber)),
                .constant("headset_id", .integer(1)), .hostBoot("host_boot_id"), .integer("began_boottime_ns"),
                .integer("ended_boottime_ns"), .text("provenance_id", of: "facts"),
            ], "FROM link AS t WHERE t.recording_id = $1 ORDER BY t.id", recording.key)
        var keys: [String: Int64] = [:]
        for index in link.rows.indices {
            guard case .text(let text)? = link.rows[index].last, let facts = LinkFacts(json: text)?.json else {
                throw .contradiction(detail: "what a link was made with cannot be read")
            }
            let key = keys[facts] ?? Int64(keys.count + 1)
            if keys.updateValue(key, forKey: facts) == nil { provenance.rows.append([.integer(key), .text(facts)]) }
            link.rows[index][link.columns.count - 1] = .integer(key)
            link.rows[index][0] = .integer(Int64(index + 1))
        }
        return [provenance, link]
    }

    private func annotations() throws(CentreError) -> FetchedTable {
        var annotation = try table(
            "annotation",
            [
                .constant("id", .null), .text("uuid"), .constant("recording_id", .integer(recording.machineNumber)),
                .hostBoot("host_boot_id"), .integer("boottime_ns"), .real("duration_seconds"), .text("description"),
                .text("source"), .stream("stream_id"), .integer("n"), .integer("device_ticks"), .integer("code"),
                .annotation("replaces"), .hostBoot("withdrawn_host_boot_id"), .integer("withdrawn_boottime_ns"),
            ], "FROM annotation AS t WHERE t.recording_id = $1 ORDER BY t.id", recording.key)
        for index in annotation.rows.indices { annotation.rows[index][0] = .integer(Int64(index + 1)) }
        return annotation
    }

    /// A value as a machine's database has it.
    func value(of column: FetchedColumn, _ text: String?) throws(CentreError) -> FetchedValue {
        try column.value(text, numbers)
    }

    private func table(
        _ name: String, _ columns: [FetchedColumn], _ source: String, _ key: String
    ) throws(CentreError) -> FetchedTable {
        let asked = columns.map(\.sql).joined(separator: ", ")
        var table = FetchedTable(name: name, columns: columns.map(\.name), rows: [])
        for row in try connection.execute("SELECT \(asked) \(source)", [key]) {
            var values: [FetchedValue] = []
            for (column, text) in zip(columns, row) { values.append(try value(of: column, text)) }
            table.rows.append(values)
        }
        return table
    }
}
