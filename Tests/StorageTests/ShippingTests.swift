import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// What is sent to a centre: everything, once, the newest first. In which order, ``ShippingPlanTests`` says.
@Suite("Shipping")
struct ShippingTests {
    private let directory: TemporaryDirectory
    private let store: AcquisitionStore
    private let recording: RecordingID

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("eegsync.sqlite"), hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    private func shipment(_ states: [String: ShippedState] = [:], rowLimit: Int = 10_000) throws -> RecordingShipment {
        try store.shipment(of: recording, states: states, blocksFrom: [:], series: nil, rowLimit: rowLimit)
    }

    @Test("has rows in order, those that came late behind them, and what is confirmed then")
    func pieces() throws {
        let eeg = try #require(try shipment().streams.first)
        #expect(eeg.pieces.map(\.firstN) == [0, 768, 668])
        #expect(eeg.pieces.map(\.rowCount) == [512, 1792, 100])
        #expect(eeg.pieces[1].channels[1][232..<244].allSatisfy { $0 == nil })
        #expect(eeg.pieces[2].channels[0].first == 768)
        #expect(eeg.after == ShippedState(doneN: 2559, late: ShippedState.LateEnd(number: 0, rowCount: 100)))
        #expect(Set(eeg.confirmed.map(\.chain)) == ["live", "late"])
        let again = try shipment([eeg.uuid: eeg.after])
        #expect(again.streams[0].pieces.isEmpty && again.streams[0].after == eeg.after)
    }

    @Test("After each long break the newest minute goes first, and nothing is confirmed that has something missing before it")
    func breaks() throws {
        let minute: Int64 = 60 * 52
        var state = ShippedState()
        var sent: [Int64: Int] = [:]
        var uuid = ""
        func ship(headLimit: Int = ShippedState.headLimit) throws -> [Int64] {
            let shipment = try store.shipment(
                of: recording, states: [uuid: state], blocksFrom: [:], series: nil, rowLimit: 4000, headLimit: headLimit)
            let accelerometer = try #require(shipment.streams.last)
            (uuid, state) = (accelerometer.uuid, accelerometer.after)
            let rows = accelerometer.pieces.flatMap { $0.firstN..<($0.firstN + Int64($0.rowCount)) }
            for n in rows { sent[n, default: 0] += 1 }
            // Its first block ends there.
            let hasBlock = (state.doneN ?? 0) >= 4095
            #expect(accelerometer.confirmed.isEmpty != hasBlock)
            return rows
        }
        func record(_ range: Range<Int64>, batch number: UInt64) throws {
            var batch = WriteBatch(number: number)
            batch.samples = [Fixture.rows(Fixture.accelerometer, range, channels: 3)]
            try store.commit(batch)
        }
        try record(520..<15_000, batch: 4)
        let first = Array((15_000 - minute)..<15_000)
        #expect(try ship() == first)
        try record(15_000..<24_000, batch: 5)
        let second = Array((24_000 - minute)..<24_000)
        #expect(try ship() == second)
        try record(24_000..<33_000, batch: 6)
        // A centre that takes no more of them: behind the last one, with a part of what is older.
        #expect(try ship(headLimit: 2) == Array(24_000..<28_000) + Array(0..<4000))
        #expect(state == ShippedState(doneN: 3999, heads: [11_880...14_999, 20_880...27_999]))
        let third = Array((33_000 - minute)..<33_000)
        #expect(try ship() == third)
        for _ in 0..<10 where state.hasBacklog { _ = try ship() }
        #expect(state == ShippedState(doneN: 32_999))
        #expect(sent.count == 33_000 && sent.values.allSatisfy { $0 == 1 })
    }

    @Test("A value that comes late is a patch, and rows that follow late ones go on with their block")
    func late() throws {
        let eeg = try #require(try shipment().streams.first)
        var batch = WriteBatch(number: 4)
        batch.samples = [Fixture.rows(Fixture.eeg, 600..<668, channels: 4)]
        batch.changes = [
            .ledger(.recover(stream: Fixture.eeg, firstN: 512, channel: 0, count: 68)),
            .fill(ChannelFill(stream: Fixture.eeg, channel: 2, firstN: 1000, values: [7, 8, 9])),
            .ledger(.recover(stream: Fixture.eeg, firstN: 1000, channel: 2, count: 3)),
        ]
        try store.commit(batch)
        let next = try #require(try shipment([eeg.uuid: eeg.after]).streams.first)
        #expect(next.pieces.map(\.firstN) == [600] && next.pieces[0].rowCount == 68)
        #expect(next.patches == [SamplePatch(channel: 2, firstN: 1000, values: [7, 8, 9])])
        #expect(next.after.doneN == 2559)
    }

    @Test("The document is JSON whose numbers have all their digits")
    func document() throws {
        let text = try shipment().document.json
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(Set(json.keys).isSuperset(of: ["recording", "headset", "annotation", "link", "stream"]))
        let streams = try #require(json["stream"] as? [[String: Any]])
        var periods: [Double] = []
        for stream in streams {
            let segments = stream["segment"] as? [[String: Any]]
            for segment in segments ?? [] { periods.append(segment["period_ns"] as? Double ?? 0) }
        }
        let expected: [Double] = [1e9 / 256, 1e9 / 52]
        // The parser of this test rounds.
        #expect(zip(periods, expected).allSatisfy { abs($0 - $1) < 1e-6 } && periods.count == 2)
        #expect(text.contains("\"period_ns\":19230769.230769232,"))
        #expect(ShippingDocument.quoted("a\"b\\c\n\0é") == "\"a\\\"b\\\\c\\u000a\u{FFFD}é\"")
    }

    @Test("Of a document that was sent, only what has changed is sent again")
    func changes() throws {
        let first = try shipment().document
        #expect(first.changes(since: first.sent, repeatsHead: true) == nil)
        var batch = WriteBatch(number: 4)
        batch.samples = [Fixture.rows(Fixture.eeg, 600..<668, channels: 4)]
        batch.changes = [.ledger(.recover(stream: Fixture.eeg, firstN: 512, channel: 0, count: 68))]
        try store.commit(batch)
        let second = try shipment().document
        let changes = try #require(second.changes(since: first.sent, repeatsHead: true))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(changes.utf8)) as? [String: Any])
        let streams = try #require(json["stream"] as? [[String: Any]])
        #expect(streams.count == 1 && json["annotation"] == nil && json["recording"] != nil)
        #expect((streams[0]["gap"] as? [Any])?.count == 1 && streams[0]["segment"] == nil && streams[0]["block"] != nil)
        #expect(changes.count < second.json.count)
        // A centre that knows the recording gets no more than which one it is, unless something else is said of it.
        let brief = try #require(second.changes(since: first.sent, repeatsHead: false))
        let head = "{\"recording\":{\"uuid\":\"\(second.uuid)\"},\"stream\":["
        #expect(brief.hasPrefix(head) && changes.hasSuffix(brief.dropFirst(head.count)))
        var renamed = second
        renamed.head += ",\"recording_property\":[]"
        #expect(renamed.changes(since: first.sent, repeatsHead: false)?.hasPrefix("{" + renamed.head) == true)
        // What is gone is named by its key; the whole has it no more.
        var third = second
        let gaps = try #require(third.streams[0].tables.firstIndex { $0.name == "gap" })
        let gone = third.streams[0].tables[gaps].lines.removeFirst()
        let removal = try #require(third.changes(since: second.sent, repeatsHead: true))
        #expect(removal.contains("\"removed\":{\"gap\":[\(gone.key)]}") && !third.json.contains(gone.json))
        #expect(gone.key == "{\"channel\":0,\"first_n\":512}")
        // Blocks before the last one are not sent again, and are not gone.
        let eeg = try #require(try shipment().streams.first)
        var from: [String: Int64] = [:]
        for block in eeg.lastBlocks { from[block.chain] = block.number }
        let last = try store.shipment(of: recording, states: [:], blocksFrom: [eeg.uuid: from], series: nil, rowLimit: 10_000)
            .document
        #expect(last.streams[0].blocks.lines.count < second.streams[0].blocks.lines.count)
        #expect(last.changes(since: second.sent, repeatsHead: true) == nil)
        // A stream that begins later comes whole.
        var fewer = first
        fewer.streams.removeLast()
        #expect(first.changes(since: fewer.sent, repeatsHead: true)?.contains("\"channel\":[{") == true)
    }

    @Test("What the centre has of a database that has become another one is noticed")
    func divergence() throws {
        let eeg = try #require(try shipment().streams.first)
        let uuid = eeg.uuid
        let end = try #require(eeg.lastBlocks.first { $0.chain == "live" })
        let digest = try store.database.read { db in
            try String.fetchOne(
                db, sql: "SELECT lower(hex(digest)) FROM block WHERE stream_id = 1 AND chain = 'live' AND number = ?",
                arguments: [end.number])
        }
        let own = try #require(digest)
        #expect(try store.divergence(of: uuid, from: [(end: end, digest: own)], eeg.after) == nil)
        #expect(try store.divergence(of: uuid, from: [(end: end, digest: "00")], eeg.after)?.contains("another one") == true)
        #expect(try store.divergence(of: uuid, from: [], ShippedState(doneN: 2560))?.contains("more") == true)
        #expect(try store.divergence(of: uuid, from: [], nil)?.contains("has not come from eegsync") == true)
        let negative = BlockEnd(chain: "live", number: 0, rowCount: .min)
        #expect(
            try store.divergence(of: uuid, from: [(end: negative, digest: own)], eeg.after)?.contains("has not come") == true)
        let more = BlockEnd(chain: "live", number: end.number, rowCount: end.rowCount + 1)
        #expect(try store.divergence(of: uuid, from: [(end: more, digest: own)], eeg.after)?.contains("more") == true)
    }

    @Test("A block that has grown since it was sent is compared by its first rows")
    func grown() throws {
        let eeg = try #require(try shipment().streams.first)
        let ends = eeg.lastBlocks
        let digests = try ends.map { end in
            try store.database.read { db in
                try String.fetchOne(
                    db, sql: "SELECT lower(hex(digest)) FROM block WHERE stream_id = 1 AND chain = ? AND number = ?",
                    arguments: [end.chain, end.number])
            }
        }
        var batch = WriteBatch(number: 4)
        batch.samples = [Fixture.rows(Fixture.eeg, 2560..<3000, channels: 4)]
        try store.commit(batch)
        let live = try #require(ends.first { $0.chain == "live" })
        let now = try #require(try shipment().streams.first?.lastBlocks.first { $0.chain == "live" })
        #expect(now.number == live.number && now.rowCount == live.rowCount + 440)
        let heads = zip(ends, digests).compactMap { end, digest in digest.map { (end: end, digest: $0) } }
        #expect(heads.count == 2)
        #expect(try store.divergence(of: eeg.uuid, from: heads, eeg.after) == nil)
        // As of an older card that has recorded something else since.
        let other = heads.map { (end: $0.end, digest: String($0.digest.reversed())) }
        #expect(try store.divergence(of: eeg.uuid, from: other, eeg.after)?.contains("another one") == true)
    }

    @Test("Of a recording that is being deleted nothing is sent: what is gone here stays at the centre")
    func deletion() throws {
        let eeg = try #require(try shipment().streams.first)
        try store.control.stopRecording(recording, at: Fixture.start)
        _ = try store.control.noteDeletion(of: recording, .delete, by: "anna", at: Fixture.start)
        try store.database.writer.write { db in try db.execute(sql: "DELETE FROM sample WHERE n > 100") }
        #expect(throws: StorageError.notFound(what: "recording 1 any more: it was deleted")) { try shipment() }
        #expect(try store.divergence(of: eeg.uuid, from: [], eeg.after) == nil)
        let confirmed = try store.confirmed(eeg.after, of: eeg.uuid)
        #expect(confirmed?.stream == nil)
    }

    @Test("Blocks of weeks go in parts, before the samples that they are of")
    func manyBlocks() throws {
        let fixture = try EvidenceFixture()
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        var blocksFrom: [String: [String: Int64]] = [:]
        var (seen, parts) = (Set<String>(), 0)
        while true {
            let shipment = try store.shipment(
                of: RecordingID(rawValue: 1), states: [:], blocksFrom: blocksFrom, series: nil, rowLimit: 100_000,
                blockLimit: 5)
            for stream in shipment.document.streams {
                seen.formUnion(stream.blocks.lines.map { stream.uuid + $0.key })
            }
            for stream in shipment.streams {
                for block in stream.lastBlocks { blocksFrom[stream.uuid, default: [:]][block.chain] = block.number }
            }
            parts += 1
            if shipment.document.hasAllBlocks {
                #expect(shipment.isComplete && shipment.streams.allSatisfy { !$0.pieces.isEmpty })
                break
            }
            #expect(!shipment.isComplete)
            #expect(shipment.streams.allSatisfy { $0.pieces.isEmpty && $0.patches.isEmpty && $0.after == $0.before })
            try #require(parts < 20)
        }
        let count = try store.database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM block WHERE stream_id IN (1, 2)")
        }
        #expect(seen.count == count && parts > 1)
    }

    @Test("The number of changes says whether anything need be read")
    func changeNumber() throws {
        let fixture = try EvidenceFixture()
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let number = try store.changeNumber()
        #expect(try store.changeNumber() == number)
        try fixture.write("UPDATE recording SET label = 'another' WHERE id = 1")
        #expect(try store.changeNumber() != number)
    }

    @Test("What was confirmed counts for prune, also where it becomes less")
    func confirmation() throws {
        let eeg = try #require(try shipment().streams.first)
        for end in [eeg.confirmed, eeg.confirmed.map { BlockEnd(chain: $0.chain, number: $0.number, rowCount: 1) }] {
            try store.control.confirm(end, of: eeg.stream, at: "study", now: Fixture.start)
            let rows = try store.database.read { db in
                try Int64.fetchAll(db, sql: "SELECT row_count FROM confirmation ORDER BY chain DESC")
            }
            #expect(rows == end.map(\.rowCount))
        }
    }

    @Test("A copied card sends only what was recorded since")
    func copied() throws {
        let boards = ["1", "2"].map { MachineIdentity(boardSerialNumber: $0, machineID: nil) }
        #expect(try store.shippableRecordings() == [recording])
        try store.control.note(try #require(boards[0]), at: Fixture.start)
        #expect(try store.shippableRecordings() == [recording])
        try store.control.stopRecording(recording, at: Fixture.start)
        var batch = WriteBatch(number: 4)
        batch.changes = [.recording(.stopped(recording, at: Fixture.start))]
        try store.commit(batch)
        let second = try store.reopened(hostBoot: Fixture.secondBoot)
        #expect(try second.control.note(try #require(boards[1]), at: Fixture.start))
        let next = try second.control.startRecording(headset: "muse-1", model: "buffered-eeg", at: Fixture.start)
        // What goes on comes first.
        #expect(try second.shippableRecordings() == [next, recording])
        try second.control.decideOrigin(.copied)
        #expect(try second.shippableRecordings() == [next])
    }
}
