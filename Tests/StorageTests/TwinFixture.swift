import Bluetooth
import Headsets
import Testing

@testable import Storage

/// Two machines that record one headset: `here` in the boot of the other fixtures, and `other` in another one. Index i of the
/// headset's EEG has the same values in both, those of ``Fixture/rows(_:_:channels:missing:)``.
struct TwinFixture {
    let files: MergeFixture

    /// The stream of the recording that was made here, once the other one has come in.
    static let own = "SELECT n, c1, c2, c3, c4 FROM sample WHERE stream_id = 1 ORDER BY n"
    static let gaps = "SELECT first_n, channel, count, recovered FROM gap WHERE stream_id = 1 ORDER BY 1, 2"
    static let lateBlocks = "SELECT first_n, last_n FROM block WHERE stream_id = 1 AND chain = 'late' ORDER BY number"

    init() throws { files = try MergeFixture() }

    /// Two machines: `here` lacks the indexes 200 to 299, and `other` 150 to 159 and 250 to 259; it begins at 50, with its n 0.
    static func withGaps(
        in here: [(firstN: Int64, boot: UInt32)] = [(0, 7)], isWanted: Bool = false,
        otherBoot: UInt32 = 7, change: [Int64: Int32] = [:]
    ) throws -> TwinFixture {
        let fixture = try TwinFixture()
        try fixture.record(
            "here", [0..<200, 300..<400], epochs: here,
            segments: here.count == 1 ? [(0...239, 0), (240...399, 0)] : nil, isWanted: isWanted)
        try fixture.record(
            "other", [50..<150, 160..<250, 260..<400], firstIndex: 50, epochs: [(0, otherBoot)], change: change)
        return fixture
    }

    private static func isHere(_ name: String) -> Bool { name != "other" }

    /// Makes a recording.
    ///
    /// - Parameters:
    ///   - ranges: of the headset's index, ascending; each hole between them is a gap.
    ///   - firstIndex: the index of n 0.
    ///   - epochs: where each begins, and the boot of the headset that it names.
    ///   - segments: of which n, and of which epoch; nil for one of each epoch that reaches to the next one.
    ///   - lacking: indexes of rows without channel 2.
    ///   - change: what becomes of the first value of an index.
    ///   - isWanted: whether it goes on.
    func record(
        _ name: String, _ ranges: [Range<Int64>], firstIndex: Int64 = 0, epochs: [(firstN: Int64, boot: UInt32)] = [(0, 7)],
        segments: [(ClosedRange<Int64>, Int)]? = nil, lacking: Range<Int64>? = nil, change: [Int64: Int32] = [:],
        isWanted: Bool = false
    ) throws {
        let isHere = Self.isHere(name)
        let store = try AcquisitionStore(path: files.path(name), hostBoot: isHere ? Fixture.boot : Fixture.secondBoot)
        let identity = MachineIdentity(boardSerialNumber: isHere ? "10000000d0a1b2c3" : "10000000d0a1b2c4", machineID: nil)
        _ = try store.control.note(#require(identity), at: Fixture.start)
        let recording = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .identityProof(IdentityProofRecord(headset: HeadsetID(rawValue: 1), proof: "SN1")),
            .stream(
                NewStream(id: Fixture.eeg, recording: recording, position: 0, description: Fixture.eegDescription())),
            .recording(.started(recording, at: Fixture.start)), .clockOffset(Fixture.offset),
        ]
        let end = rows(of: ranges, firstIndex: firstIndex, lacking: lacking, change: change, in: &batch)
        for (number, epoch) in epochs.enumerated() {
            batch.changes.append(
                .epoch(
                    EpochRecord(
                        stream: Fixture.eeg, number: number, bootIdentifier: epoch.boot, firstN: epoch.firstN,
                        firstIndex: firstIndex + epoch.firstN, began: Fixture.start)))
        }
        var pieces = segments ?? []
        for (number, epoch) in epochs.enumerated() where segments == nil {
            let next = number + 1 < epochs.count ? epochs[number + 1].firstN : end
            pieces.append((epoch.firstN...next - 1, number))
        }
        for (range, epoch) in pieces {
            batch.changes.append(.segment(Fixture.segment(Fixture.eeg, range, frequency: 256, epoch: epoch)))
        }
        try store.commit(batch)
        if !isWanted { try store.control.stopRecording(headset: "left", at: Fixture.start + .seconds(10)) }
        try store.close()
    }

    /// Adds rows and their gaps to a batch.
    ///
    /// - Returns: the n after the last one.
    private func rows(
        of ranges: [Range<Int64>], firstIndex: Int64, lacking: Range<Int64>?, change: [Int64: Int32], in batch: inout WriteBatch
    ) -> Int64 {
        func open(_ index: Int64, _ channel: Int, _ count: Int64) -> Change {
            .ledger(
                .open(
                    stream: Fixture.eeg, firstN: index - firstIndex, channel: channel, count: count, cause: .linkLost,
                    noticed: Fixture.start, certainty: .counted))
        }
        var end = firstIndex
        for range in ranges {
            if range.lowerBound > end { batch.changes.append(open(end, 0, range.lowerBound - end)) }
            let hole = lacking.map { $0.clamped(to: range) } ?? range.lowerBound..<range.lowerBound
            for piece in [range.lowerBound..<hole.lowerBound, hole, hole.upperBound..<range.upperBound] where !piece.isEmpty {
                var rows = Fixture.rows(Fixture.eeg, piece, channels: 4, missing: piece == hole ? 0b10 : 0)
                rows.firstN -= firstIndex
                for (index, value) in change where piece.contains(index) {
                    rows.values[Int(index - piece.lowerBound) * 4] = value
                }
                batch.samples.append(rows)
            }
            end = range.upperBound
        }
        if let lacking { batch.changes.append(open(lacking.lowerBound, 2, Int64(lacking.count))) }
        return end - firstIndex
    }

    /// What a merge of `other` into `here` says of the two.
    @discardableResult
    func merge() throws -> (report: MergeReport, twin: TwinComparison?) {
        let report = try files.merge("other", into: "here")
        return (report, report.twins.first)
    }
}
