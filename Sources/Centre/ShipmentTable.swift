import Storage

/// The table `shipment` of a centre, which says what is there of each stream. A machine's role asks for its own rows, and
/// changes them, through functions.
struct ShipmentTable {
    private let connection: CentreConnection
    /// False where the centre is of a version that knows one head of a stream.
    private let knowsHeads: Bool
    /// Whether the centre takes both of what is supposed and what is so afterwards in one call, and changes without the head of
    /// their recording; since the step `p0020_replaced`.
    let takesBoth: Bool

    init(_ connection: CentreConnection) throws(CentreError) {
        self.connection = connection
        let there = try connection.execute(
            "SELECT to_regproc('ship_state_heads') IS NOT NULL, to_regproc('ship_heads_to') IS NOT NULL")
        (knowsHeads, takesBoth) = (there.first?[0] == "t", there.first?[1] == "t")
    }

    /// How many heads of a stream the centre takes.
    var headLimit: Int { knowsHeads ? ShippedState.headLimit : 1 }

    /// SQL that gives what is there of each stream of this machine: `stream`, `done_n`, `heads`, `late_number`,
    /// `late_row_count`.
    var statesQuery: String {
        // Of a centre that knows one head the answer has the same columns.
        knowsHeads
            ? "SELECT stream, done_n, heads, late_number, late_row_count FROM ship_state_heads()"
            : """
            SELECT stream, done_n, CASE WHEN head_first_n IS NULL THEN '{}'
                ELSE int8multirange(int8range(head_first_n, head_last_n, '[]')) END AS heads, late_number, late_row_count
            FROM ship_state()
            """
    }

    /// What is there of each stream of this machine, by the stream's UUID; nil where it is nothing that a machine says.
    func states() throws(CentreError) -> [(stream: String, state: ShippedState?)] {
        try connection.execute(statesQuery).compactMap { row -> (stream: String, state: ShippedState?)? in
            guard let stream = row[0] else { return nil }
            let numbers = row.map { $0.flatMap { Int64($0) } }
            let heads = Multirange(row[2] ?? "{}")
            var state = ShippedState(doneN: numbers[1], heads: heads.ranges)
            if let number = numbers[3], let count = numbers[4] {
                state.late = ShippedState.LateEnd(number: number, rowCount: count)
            }
            let isSound = heads.isWhole && (row[3] == nil) == (row[4] == nil) && state.isPossible
            return (stream: stream, state: isSound ? state : nil)
        }
    }

    /// Holds what is there of a stream until the transaction ends. The call is `refused` where it is not what is supposed, as
    /// another process has sent meanwhile.
    func begin(_ stream: StreamShipment, in calls: inout CallList) {
        let supposed = Self.parameters(stream.uuid, stream.before)
        if takesBoth {
            calls.append("ship_heads_to", supposed + Self.parameters(stream.uuid, stream.after).dropFirst())
        } else if knowsHeads {
            calls.append("ship_begin_heads", supposed)
        } else {
            let last = stream.before.heads.last.map { "\($0.upperBound)" }
            calls.append("ship_begin", supposed[..<2] + [last] + supposed[3...])
        }
    }

    /// Says what is there of a stream once the transaction ends.
    func end(_ stream: StreamShipment) throws(CentreError) {
        if takesBoth { return }
        try connection.execute(
            knowsHeads
                ? "SELECT ship_end_heads($1, $2, $3, $4, $5)"
                : "SELECT ship_end($1, $2, lower($3::int8multirange), upper($3::int8multirange) - 1, $4, $5)",
            Self.parameters(stream.uuid, stream.after), isRepeated: true)
    }

    private static func parameters(_ stream: String, _ state: ShippedState) -> [String?] {
        [
            stream, state.doneN.map(String.init), Multirange(state.heads).text, state.late.map { "\($0.number)" },
            state.late.map { "\($0.rowCount)" },
        ]
    }
}
