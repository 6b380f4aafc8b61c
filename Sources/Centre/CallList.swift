/// Calls of a centre's functions of which none needs another one's answer: they go as one statement, where they are small.
struct CallList {
    /// Of a statement: the server keeps each form of it for as long as the session lasts.
    private static let callLimit = 8

    private var calls: [(function: String, arguments: [String?])] = []

    /// - Parameter function: one that gives no answer.
    mutating func append(_ function: String, _ arguments: some Sequence<String?>) {
        calls.append((function, Array(arguments)))
    }

    /// Runs them, in their order.
    func run(_ connection: CentreConnection) throws(CentreError) {
        for statement in statements(byteLimit: connection.pacing.pieceSize) {
            try connection.execute(statement.sql, statement.parameters, isRepeated: true)
        }
    }

    /// `SELECT a($1, $2), b($3)`, and what the parameters are.
    ///
    /// - Parameter byteLimit: parameters of a statement, but for a call that has more by itself.
    func statements(byteLimit: Int) -> [(sql: String, parameters: [String?])] {
        var statements: [(sql: String, parameters: [String?])] = []
        var (count, bytes) = (0, 0)
        for call in calls {
            let size = call.arguments.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            if statements.isEmpty || count == Self.callLimit || bytes + size > byteLimit {
                statements.append(("SELECT ", []))
                (count, bytes) = (0, 0)
            }
            let last = statements.count - 1
            let first = statements[last].parameters.count + 1
            let numbers = call.arguments.indices.map { "$\(first + $0)" }.joined(separator: ", ")
            statements[last].sql += "\(count == 0 ? "" : ", ")\(call.function)(\(numbers))"
            statements[last].parameters += call.arguments
            count += 1
            bytes += size
        }
        return statements
    }
}
