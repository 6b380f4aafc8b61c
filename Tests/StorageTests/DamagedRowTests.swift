import Foundation
import Headsets
import Testing

@testable import Storage

/// SQLite steps through the rows of a damaged page as they stand there; whoever gets them writes to memory by their n.
@Suite("Rows that are not what their table says")
struct DamagedRowTests {
    private static let recording = RecordingID(rawValue: 1)
    private static let stream = StreamID(rawValue: 1)

    /// Reads all rows, and returns whether they ascend.
    private func read(_ path: String) throws -> Bool {
        let store = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        defer { try? store.close() }
        var (last, ascends) = (Int64(-1), true)
        try store.reader(of: Self.recording).forEachChunk(of: Self.stream, in: 0...20_000, rowsPerChunk: 500) { chunk in
            for n in chunk.n {
                ascends = ascends && n > last
                last = n
            }
        }
        return ascends
    }

    @Test("are refused where their n do not ascend")
    func order() throws {
        let fixture = try EvidenceFixture()
        let whole = Array(try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        var details: [String] = []
        // The number 1500 of a row becomes 3, wherever it stands.
        for offset in 0..<(whole.count - 1) where whole[offset] == 0x05 && whole[offset + 1] == 0xDC {
            var bytes = whole
            (bytes[offset], bytes[offset + 1]) = (0, 3)
            let path = fixture.directory.path("damaged-\(offset).sqlite")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            do {
                #expect(try read(path), "offset \(offset)")
            } catch StorageError.corrupt(_, let detail) {
                details.append(detail)
            }
        }
        #expect(details.contains { $0.contains("stream 1 has a row of n 3 where one of 1500 ... ") }, "\(details)")
    }

    @Test("are refused where a value has more than 32 bits", arguments: [5_000_000_000, 4_294_967_296, -2_147_483_649])
    func width(value: Int64) throws {
        let fixture = try EvidenceFixture()
        #expect(try read(fixture.path))
        try fixture.write("UPDATE sample SET c1 = \(value) WHERE stream_id = 1 AND n = 100")
        let refusal = #expect(throws: StorageError.self) { try read(fixture.path) }
        guard case .corrupt(_, let detail)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(detail.contains("no number of 32 bits, in the row of n 100"))
    }
}
