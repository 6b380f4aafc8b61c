import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// Reading what is missing from the headset's memory.
struct MemoryReaderTests {
    /// A stream that lacks the samples 64 ..< 64 + `count`, the newest far ahead unless `isFresh`.
    private static func stream(missing count: Int64 = 160, isFresh: Bool = false) -> StreamUnderTest {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        let first = 64 + count
        test.advance(samples: count)
        test.live(first..<(first + (isFresh ? 16 : 800)), boot: 1)
        return test
    }

    /// Feeds one block from memory, and returns what the reader says.
    private static func deliver(_ index: Int64, _ test: inout StreamUnderTest, _ reader: inout MemoryReader)
        -> [BufferedEEGCommand]
    {
        test.take(index: index, truth: index, boot: 1, origin: .memory)
        return reader.received(test.stream, end: index + 8, at: test.now)
    }

    @Test("Nothing is asked for where nothing is missing")
    func nothing() {
        var reader = MemoryReader()
        let test = Self.stream(missing: 0)
        #expect(reader.next(test.stream, at: test.now).isEmpty)
        #expect(reader.deadline == nil)
    }

    @Test("What is missing is read from its first sample, once, and the read ends when nothing is missing any more")
    func wholeRead() {
        var test = Self.stream()
        var reader = MemoryReader()
        #expect(reader.next(test.stream, at: test.now) == [.read(stream: 0, from: 64, credit: 32)])
        #expect(reader.next(test.stream, at: test.now).isEmpty)
        var said: [BufferedEEGCommand] = []
        for index in stride(from: Int64(64), to: 224, by: 8) { said += Self.deliver(index, &test, &reader) }
        #expect(said == [.credit(stream: 0, blocks: 16), .abort(stream: 0)])
        #expect(reader.deadline == nil)
        #expect(reader.next(test.stream, at: test.now).isEmpty)
    }

    @Test("The headset never holds more than the credit's window")
    func credit() {
        var test = Self.stream(missing: 8000)
        var reader = MemoryReader()
        var credit = 0
        func add(_ commands: [BufferedEEGCommand]) {
            for command in commands {
                switch command {
                case .read(_, _, let granted): credit = Int(granted)
                case .credit(_, let blocks): credit += Int(blocks)
                default: break
                }
            }
        }
        add(reader.next(test.stream, at: test.now))
        for index in stride(from: Int64(64), to: 8064, by: 8) {
            #expect(credit > 0 && credit <= 32)
            credit -= 1
            add(Self.deliver(index, &test, &reader))
        }
        #expect(test.stream.firstRecoverable() == nil)
    }

    @Test("A gap close to the newest sample is left time to be merely reordered")
    func freshGap() throws {
        let test = Self.stream(missing: 8, isFresh: true)
        var reader = MemoryReader()
        #expect(reader.next(test.stream, at: test.now).isEmpty)
        let deadline = try #require(reader.deadline)
        #expect(deadline - test.now == .milliseconds(300))
        #expect(reader.next(test.stream, at: deadline) == [.read(stream: 0, from: 64, credit: 32)])
    }

    @Test("A read that brings nothing is asked again, three times in all, and then each 10 s")
    func fruitless() throws {
        let test = Self.stream()
        var reader = MemoryReader()
        var now = test.now
        for _ in 0..<3 {
            #expect(reader.next(test.stream, at: now) == [.read(stream: 0, from: 64, credit: 32)])
            now = try #require(reader.deadline)
        }
        #expect(reader.next(test.stream, at: now).isEmpty)
        let deadline = try #require(reader.deadline)
        #expect(deadline - now == .seconds(10))
        #expect(reader.next(test.stream, at: now + .seconds(9)).isEmpty)
        #expect(!reader.next(test.stream, at: deadline).isEmpty)
        reader.beginLink()
        #expect(!reader.next(test.stream, at: now).isEmpty)
    }

    @Test("A headset that sends only what is there already is not read for ever")
    func uselessBlocks() {
        var test = Self.stream()
        var reader = MemoryReader()
        var reads = 0
        for _ in 0..<100 {
            reads += reader.next(test.stream, at: test.now).count
            _ = Self.deliver(400, &test, &reader)
            reader.ended()
            test.now = test.now + .seconds(3)
        }
        #expect(reads < 30)
    }

    @Test("A run that lies far ahead of what is being sent is read anew from its beginning")
    func jump() {
        var test = Self.stream(missing: 8)
        test.advance(samples: 5000 - 872)
        test.live(5000..<5800, boot: 1)
        var reader = MemoryReader()
        test.stream.giveUp(from: 872, end: 4990)
        #expect(reader.next(test.stream, at: test.now) == [.read(stream: 0, from: 64, credit: 32)])
        #expect(Self.deliver(64, &test, &reader) == [.read(stream: 0, from: 4990, credit: 32)])
    }

    @Test("A headset that says that all of it was overwritten is not asked again")
    func overwritten() {
        var test = Self.stream()
        var reader = MemoryReader()
        _ = reader.next(test.stream, at: test.now)
        test.stream.giveUp(from: 64, end: 224)
        reader.overwritten()
        reader.ended()
        #expect(reader.next(test.stream, at: test.now).isEmpty)
        #expect(reader.deadline == nil)
    }
}
