import Testing

@testable import Tap

/// What is sent to whom, and who is dropped.
@Suite struct TapQueueTests {
    private static func reader(_ number: UInt64) -> TapQueue.ReaderID { TapQueue.ReaderID(rawValue: number) }

    /// A queue with greeted readers.
    private static func queue(readers: Int, capacity: Int) -> TapQueue {
        var queue = TapQueue(capacity: capacity)
        for number in 0..<readers {
            queue.join(reader(UInt64(number)))
            queue.greet(reader(UInt64(number)), with: [0])
        }
        return queue
    }

    /// Takes everything that waits for a reader, at most `step` bytes at once.
    private static func drain(_ queue: inout TapQueue, _ id: TapQueue.ReaderID, step: Int = .max) -> [UInt8] {
        var taken: [UInt8] = []
        while let (bytes, offset) = queue.next(for: id) {
            let count = min(step, bytes.count - offset)
            taken += bytes[offset..<offset + count]
            queue.sent(count, to: id)
        }
        return taken
    }

    @Test func aSlowReaderIsDroppedAndCountedWhileTheOthersGetEverything() {
        var queue = Self.queue(readers: 50, capacity: 100)
        var got = [[UInt8]](repeating: [], count: 50)
        var dropped: [TapQueue.ReaderID] = []
        for round in 0..<40 {
            dropped += queue.append([UInt8](repeating: UInt8(round), count: 10))
            // The last one never reads; the others read in pieces of any length.
            for number in 0..<49 { got[number] += Self.drain(&queue, Self.reader(UInt64(number)), step: 1 + number % 13) }
        }
        #expect(dropped == [Self.reader(49)])
        #expect(queue.droppedCount == 1)
        #expect(queue.readerIDs.count == 49)
        let everything: [UInt8] = [0] + (0..<40).flatMap { [UInt8](repeating: UInt8($0), count: 10) }
        #expect(got[..<49].allSatisfy { $0 == everything })
        #expect(queue.keptByteCount == 0, "what all have is let go")
    }

    /// What fifty readers cost in memory is what one costs: each is handed the same bytes, at the same address.
    @Test func fiftyReadersShareOneBuffer() {
        var queue = Self.queue(readers: 50, capacity: 1 << 20)
        let chunk = [UInt8](repeating: 7, count: 100_000)
        let address = chunk.withUnsafeBufferPointer(\.baseAddress)
        _ = queue.append(chunk)
        for number in 0..<50 {
            queue.sent(1, to: Self.reader(UInt64(number)))
            let next = queue.next(for: Self.reader(UInt64(number)))
            #expect(next?.bytes.withUnsafeBufferPointer(\.baseAddress) == address && next?.offset == 0)
        }
        #expect(queue.keptByteCount == 100_000)
    }

    @Test func aReaderThatIsBehindWithinTheBoundMissesNothing() {
        var queue = Self.queue(readers: 2, capacity: 100)
        for round in 0..<10 {
            #expect(queue.append([UInt8](repeating: UInt8(round), count: 10)) == [])
            _ = Self.drain(&queue, Self.reader(0))
        }
        #expect(Self.drain(&queue, Self.reader(1)).count == 101)
        #expect(queue.append([1]) == [])
        #expect(queue.droppedCount == 0)
    }

    @Test func aChunkThatIsLargerThanTheBoundIsSentAllTheSame() {
        var queue = Self.queue(readers: 1, capacity: 100)
        _ = Self.drain(&queue, Self.reader(0))
        #expect(queue.append([UInt8](repeating: 1, count: 1_000)) == [])
        #expect(Self.drain(&queue, Self.reader(0)).count == 1_000)
    }

    @Test func aReaderGetsItsGreetingFirstAndNothingFromBefore() {
        var queue = Self.queue(readers: 1, capacity: 100)
        _ = queue.append([1])
        queue.join(Self.reader(9))
        _ = queue.append([2])
        #expect(queue.next(for: Self.reader(9)) == nil, "it waits for its greeting")
        queue.greet(Self.reader(9), with: [7, 7])
        _ = queue.append([3])
        #expect(Self.drain(&queue, Self.reader(9), step: 1) == [7, 7, 3])
        #expect(Self.drain(&queue, Self.reader(0)) == [0, 1, 2, 3])
    }

    @Test func whereNobodyReadsNothingIsKept() {
        var queue = Self.queue(readers: 1, capacity: 100)
        _ = queue.append([1])
        queue.leave(Self.reader(0))
        #expect(queue.isEmpty && queue.keptByteCount == 0)
        #expect(queue.append([2]) == [])
        #expect(queue.keptByteCount == 0)
    }

    @Test func whoLeavesIsForgotten() {
        var queue = Self.queue(readers: 2, capacity: 100)
        _ = queue.append([1])
        queue.leave(Self.reader(0))
        queue.sent(5, to: Self.reader(0))
        #expect(queue.next(for: Self.reader(0)) == nil)
        queue.drop([Self.reader(1), Self.reader(0)])
        #expect(queue.droppedCount == 1)
    }
}
