import Foundation
import Glibc

/// Buckets of one size of one stream in a file: for each channel the least and the greatest value, and how many rows there
/// are. A bucket that was never written has none: such files have holes where gaps are, which take no room.
final class BucketFile: Sendable {
    private let descriptor: Int32
    private let channels: Int
    /// Words of 32 bits of a bucket: minima, maxima, rows.
    let wordCount: Int

    /// - Throws: `POSIXError` where the file cannot be made.
    init(path: String, channels: Int) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.channels = channels
        wordCount = 2 * channels + 1
    }

    deinit { close(descriptor) }

    /// An empty bucket.
    var empty: [Int32] {
        Array(repeating: SignalColumns.nothing, count: 2 * channels) + [0]
    }

    /// Buckets one after the other.
    func read(_ range: Range<Int64>) throws -> [Int32] {
        var words = [Int32](repeating: 0, count: range.count * wordCount)
        let (size, offset) = (words.count * 4, range.lowerBound * Int64(wordCount * 4))
        var done = 0
        try words.withUnsafeMutableBytes { bytes in
            while done < size {
                let count = pread(descriptor, bytes.baseAddress.map { $0 + done }, size - done, off_t(offset) + off_t(done))
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                // Behind the end nothing was written.
                if count == 0 { break }
                done += count
            }
        }
        return words
    }

    /// Writes buckets one after the other.
    func write(_ words: [Int32], at first: Int64) throws {
        let (size, offset) = (words.count * 4, first * Int64(wordCount * 4))
        var done = 0
        try words.withUnsafeBytes { bytes in
            while done < size {
                let count = pwrite(descriptor, bytes.baseAddress.map { $0 + done }, size - done, off_t(offset) + off_t(done))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                done += count
            }
        }
    }

    /// Has what was written outlive a power cut.
    func synchronize() { fdatasync(descriptor) }

    /// Removes everything.
    func clear() { ftruncate(descriptor, 0) }

    /// The one bucket that holds several.
    func merged(_ words: [Int32]) -> [Int32] {
        var sum = empty
        for begin in stride(from: 0, to: words.count, by: wordCount) where words[begin + 2 * channels] > 0 {
            for channel in 0..<channels where words[begin + channel] != SignalColumns.nothing {
                let (low, high) = (words[begin + channel], words[begin + channels + channel])
                let isFirst = sum[channel] == SignalColumns.nothing
                sum[channel] = isFirst ? low : min(sum[channel], low)
                sum[channels + channel] = isFirst ? high : max(sum[channels + channel], high)
            }
            sum[2 * channels] &+= words[begin + 2 * channels]
        }
        return sum
    }
}
