/// A recording as a centre has it.
package struct CentreRecording: Hashable, Sendable {
    /// A stream of it.
    package struct Stream: Hashable, Sendable {
        package var centreNumber: Int64
        package var uuid: String
        package var name: String
        package var channelCount: Int
        /// Rows and values that are there, and those of which the machine has said that it has them.
        package var rows: Int64
        package var saidRows: Int64
        package var values: Int64
        package var saidValues: Int64
        /// True where older rows are still to come.
        package var hasBacklog: Bool
    }

    package var centreNumber: Int64
    package var uuid: String
    /// Its number on the machine.
    package var machineNumber: Int64
    package var headset: String
    /// False while it goes on.
    package var isStopped: Bool
    package var streams: [Stream]
    /// The machine's role.
    let role: String
    let headsetKey: String

    var key: String { "\(centreNumber)" }

    /// Looks a recording up.
    ///
    /// - Parameter name: its UUID, or its number at the centre.
    /// - Throws: ``CentreError/absent(what:)``.
    init(_ name: String, through connection: CentreConnection) throws(CentreError) {
        let isNumber = Int64(name) != nil
        guard isNumber || Self.isUUID(name) else { throw .absent(what: "recording '\(name)'") }
        let rows = try connection.execute(
            """
            SELECT r.id, r.uuid, r.machine_recording_id, h.name, r.stopped_boottime_ns IS NOT NULL, r.role, r.headset_id
            FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
            WHERE \(isNumber ? "r.id = $1::bigint" : "r.uuid = $1::uuid")
            """, [name])
        guard let row = rows.first, let number = row[0].flatMap({ Int64($0) }), let uuid = row[1],
            let machineNumber = row[2].flatMap({ Int64($0) }), let headset = row[3], let role = row[5], let headsetKey = row[6]
        else { throw .absent(what: "recording \(name)") }
        (centreNumber, self.uuid, self.machineNumber, self.headset) = (number, uuid, machineNumber, headset)
        (isStopped, self.role, self.headsetKey) = (row[4] == "t", role, headsetKey)
        streams = []
        for row in try connection.execute(Self.streamsQuery, ["\(number)"]) {
            let numbers = row.map { $0.flatMap { Int64($0) } }
            guard let key = numbers[0], let uuid = row[1], let name = row[2], let channels = numbers[3] else { continue }
            guard (1...8).contains(channels) else { throw .contradiction(detail: "\(name) has \(channels) channels") }
            let stored = try connection.execute(Self.storedQuery, [uuid]).first?.map { $0.flatMap { Int64($0) } } ?? [nil, nil]
            streams.append(
                Stream(
                    centreNumber: key, uuid: uuid, name: name, channelCount: Int(channels), rows: stored[0] ?? 0,
                    saidRows: numbers[4] ?? 0, values: stored[1] ?? 0, saidValues: numbers[5] ?? 0, hasBacklog: row[6] == "t"))
        }
    }

    /// Each stream, and what the machine's chains of blocks say that there is of it.
    private static let streamsQuery = """
        SELECT st.id, st.uuid, st.name, st.channel_count,
            (SELECT sum(row_count) FROM block WHERE stream_id = st.id AND channel = 0),
            (SELECT sum(row_count) FROM block WHERE stream_id = st.id AND channel > 0),
            EXISTS (SELECT 1 FROM shipment WHERE stream = st.uuid AND head_first_n IS NOT NULL)
        FROM stream AS st WHERE st.recording_id = $1 ORDER BY st.id
        """
    /// What is there of a stream; by itself, as a cluster has these two tables elsewhere.
    private static let storedQuery = """
        SELECT (SELECT sum(row_count) FROM sample_block WHERE stream = $1::uuid),
            (SELECT sum(cardinality(values)) FROM sample_patch WHERE stream = $1::uuid)
        """

    /// How many rows are there.
    package var rows: Int64 {
        streams.reduce(0) { sum, stream in
            let (rows, isBeyond) = sum.addingReportingOverflow(stream.rows)
            return isBeyond ? .max : rows
        }
    }

    /// Throws where something of the recording is still to come.
    ///
    /// - Throws: ``CentreError/incomplete(detail:)``.
    func requireWhole() throws(CentreError) {
        for stream in streams {
            if stream.rows < stream.saidRows || stream.hasBacklog {
                throw .incomplete(detail: "it has \(stream.rows) of \(stream.saidRows) rows of \(stream.name)")
            }
            if stream.values < stream.saidValues {
                throw .incomplete(detail: "it has \(stream.values) of \(stream.saidValues) late values of \(stream.name)")
            }
        }
    }

    /// Hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562, 4).
    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy { Self.isHexDigit($0) } }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
