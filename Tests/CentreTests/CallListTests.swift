import Testing

@testable import Centre

@Suite("Calls of a centre's functions as few statements")
struct CallListTests {
    private func list(_ sizes: [Int]) -> CallList {
        var calls = CallList()
        for (index, size) in sizes.enumerated() { calls.append("call_\(index)", [String(repeating: "x", count: size), nil]) }
        return calls
    }

    @Test("Parameters are numbered through, and stand in the order of the calls")
    func numbered() {
        var calls = CallList()
        calls.append("ship_rows", ["a", nil, "c"])
        calls.append("ship_heads_to", ["d", "e"])
        let statements = calls.statements(byteLimit: 100)
        #expect(statements.map(\.sql) == ["SELECT ship_rows($1, $2, $3), ship_heads_to($4, $5)"])
        #expect(statements.map(\.parameters) == [["a", nil, "c", "d", "e"]])
    }

    @Test("Nothing is no statement, and each call is in one, once")
    func all() {
        #expect(CallList().statements(byteLimit: 100).isEmpty)
        for count in 1...40 {
            let statements = list(Array(repeating: 1, count: count)).statements(byteLimit: 1000)
            #expect(statements.count == (count + 7) / 8)
            let named = statements.flatMap { $0.sql.split(separator: " ").filter { $0.hasPrefix("call_") } }
            #expect(named.map { $0.prefix { $0 != "(" } } == (0..<count).map { "call_\($0)" })
            #expect(statements.reduce(0) { $0 + $1.parameters.count } == 2 * count)
        }
    }

    @Test("What is longer than a rate allows at once goes by itself")
    func long() {
        let statements = list([10, 200, 30, 60, 20]).statements(byteLimit: 100)
        #expect(
            statements.map(\.sql) == [
                "SELECT call_0($1, $2)", "SELECT call_1($1, $2)", "SELECT call_2($1, $2), call_3($3, $4)",
                "SELECT call_4($1, $2)",
            ])
    }
}
