import Glibc

/// Why what is kept for pictures cannot be kept: they are incomplete then, and nothing else is wrong.
package struct PictureFileError: Error, Hashable {
    /// Why, as of errno(3).
    package var code: Int32
}

/// Buckets of one size of one stream in a file: for each channel the least and the greatest value, and how many rows there
/// are.
///
/// Nothing is flushed, as everything can be computed again. So each bucket ends with a checksum, by which one that a power cut
/// took, and a hole, is no bucket: it is never drawn.
final class BucketFile: Sendable {
    private let descriptor: Int32
    private let channels: Int
    /// Words of 32 bits of a bucket: minima, maxima, rows, checksum.
    let wordCount: Int

    /// - Throws: where the file cannot be made.
    init(path: String, channels: Int) throws(PictureFileError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw PictureFileError(code: errno) }
        self.channels = channels
        wordCount = 2 * channels + 2
    }

    deinit { close(descriptor) }

    /// An empty bucket.
    var empty: [Int32] {
        Array(repeating: SignalColumns.nothing, count: 2 * channels) + [0, 0]
    }

    /// How many whole buckets the file is long enough for.
    var bucketCount: Int64 {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? Int64(facts.st_size) / Int64(wordCount * 4) : 0
    }

    /// False where the file was removed: what is written here, nobody finds.
    var isNamed: Bool {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && facts.st_nlink > 0
    }

    /// Buckets one after the other.
    ///
    /// - Throws: where one of them is not as it was written.
    func read(_ range: Range<Int64>) throws(PictureFileError) -> [Int32] {
        var words = [Int32](repeating: 0, count: range.count * wordCount)
        let (size, offset) = (words.count * 4, range.lowerBound * Int64(wordCount * 4))
        let code = words.withUnsafeMutableBytes { bytes -> Int32 in
            var done = 0
            while done < size {
                let count = pread(descriptor, bytes.baseAddress.map { $0 + done }, size - done, off_t(offset) + off_t(done))
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { return errno }
                // What is behind the end has no checksum.
                if count == 0 { break }
                done += count
            }
            return 0
        }
        guard code == 0 else { throw PictureFileError(code: code) }
        for begin in stride(from: 0, to: words.count, by: wordCount) {
            guard words[begin + wordCount - 1] == checksum(words, begin) else { throw PictureFileError(code: EIO) }
        }
        return words
    }

    /// Writes buckets one after the other; their checksums are added.
    func write(_ words: [Int32], at first: Int64) throws(PictureFileError) {
        var words = words
        for begin in stride(from: 0, to: words.count, by: wordCount) {
            words[begin + wordCount - 1] = checksum(words, begin)
        }
        let (size, offset) = (words.count * 4, first * Int64(wordCount * 4))
        let code = words.withUnsafeBytes { bytes -> Int32 in
            var done = 0
            while done < size {
                let count = pwrite(descriptor, bytes.baseAddress.map { $0 + done }, size - done, off_t(offset) + off_t(done))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                done += count
            }
            return 0
        }
        guard code == 0 else { throw PictureFileError(code: code) }
    }

    /// FNV-1a of the words before it; of zeros alone it is not zero.
    private func checksum(_ words: [Int32], _ begin: Int) -> Int32 {
        var sum: UInt32 = 2_166_136_261
        for index in begin..<(begin + wordCount - 1) { sum = (sum ^ UInt32(bitPattern: words[index])) &* 16_777_619 }
        return Int32(bitPattern: sum)
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
