import Foundation
import Glibc

/// The program's code in memory: a page that was used once counts as the process's until the kernel wants it back, and two
/// thirds of what the start uses nobody needs while it records.
enum ProgramText {
    /// When the start is over.
    private static let first = Duration.seconds(20)
    /// How often what something rare has used is let go, too.
    private static let interval = Duration.seconds(3600)

    /// Lets it go now and then, until the task is cancelled.
    static func releaseNowAndThen() async {
        var pause = first
        while (try? await Task.sleep(for: pause)) != nil {
            release()
            pause = interval
        }
    }

    /// Unmaps the pages of the code that are in memory. What is needed is mapped again where it is used, from the kernel's
    /// cache: some 350 faults for all that a recording needs.
    ///
    /// - Returns: how many bytes of address space that was; 0 where the system does not say where the code is.
    @discardableResult static func release() -> Int {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8),
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        else { return 0 }
        return ranges(in: maps, of: program).reduce(0) { sum, range in
            // Code is mapped privately and never written, so that the file has all of it (madvise(2), MADV_DONTNEED).
            guard let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound),
                madvise(start, range.count, MADV_DONTNEED) == 0
            else { return sum }
            return sum + range.count
        }
    }

    /// Where code of a file is mapped that cannot be written.
    ///
    /// - Parameter maps: as proc_pid_maps(5) says.
    static func ranges(in maps: String, of program: String) -> [Range<UInt>] {
        maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, fields[1] == "r-xp",
                fields[5].drop(while: { $0 == " " }).elementsEqual(program)
            else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
        }
    }
}
