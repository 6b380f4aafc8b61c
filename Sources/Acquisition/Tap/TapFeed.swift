import Bluetooth
import Tap

/// What an engine has to say to the readers of the tap. While there are none, nothing is kept, and nothing is counted.
struct TapFeed {
    /// True while somebody reads.
    private(set) var isWanted = false
    /// The number of the latest message.
    private(set) var number: UInt64 = 0
    private var messages: [TapMessage] = []
    /// How it stands with what people mark, which other processes write.
    var marks = MarkReading()

    /// How it stands with reading marks.
    struct MarkReading {
        /// The key of the latest annotation that is known; nil before the first answer.
        var latest: Int64?
        var isUnderWay = false
        /// True where something was written meanwhile.
        var isStale = false
    }

    /// Somebody reads from now on.
    mutating func begin() {
        isWanted = true
        marks = MarkReading()
    }

    /// Nobody reads any more.
    mutating func end() {
        isWanted = false
        messages.removeAll()
    }

    /// Says something, where somebody reads.
    mutating func say(_ content: @autoclosure () -> TapContent, at now: MonotonicTime) {
        guard isWanted else { return }
        number += 1
        messages.append(TapMessage(number: number, at: now, content: content()))
    }

    /// What was said since the last time.
    mutating func take() -> [TapMessage] {
        defer { messages.removeAll() }
        return messages
    }
}
