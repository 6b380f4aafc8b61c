import Dispatch
import GRDB
import Synchronization

/// Looks at all ranges of rows, on as many threads as there are connections.
struct RowPasses {
    let ranges: RowRanges
    /// Called with how many rows were looked at, and about how many there are; from any thread.
    let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void

    /// - Parameters:
    ///   - db: what is read where there are no connections.
    ///   - beside: work for a further thread.
    /// - Returns: what was counted, by stream.
    func run(in db: Database, or connections: AuditConnections?, beside: @Sendable () throws -> Void) throws -> [Int64: RowSums]
    {
        let results = Mutex<[Int: RowSums]>([:])
        let failure = Mutex<(any Error)?>(nil)
        let next = Mutex(0)
        let done = Mutex<Int64>(0)
        let (ranges, total) = (ranges.ranges, ranges.rowCount)
        @Sendable func look(_ db: Database) throws {
            while let index = next.withLock({ next -> Int? in
                defer { next += 1 }
                return next < ranges.count && failure.withLock { $0 == nil } ? next : nil
            }) {
                var pass = RowPass(ranges[index])
                try pass.run(in: db) { count in
                    let now = done.withLock { done in
                        done += count
                        return done
                    }
                    progress(now, total)
                }
                results.withLock { $0[index] = pass.sums }
            }
        }
        @Sendable func noting(_ body: () throws -> Void) {
            do { try body() } catch { failure.withLock { $0 = $0 ?? error } }
        }
        if let connections, connections.count > 0 {
            DispatchQueue.concurrentPerform(iterations: connections.count + 1) { index in
                noting { index == 0 ? try beside() : try connections.read(with: index - 1, look) }
            }
        } else {
            noting(beside)
            noting { try look(db) }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { results in
            results.sorted { $0.key < $1.key }.reduce(into: [:]) { sums, result in
                sums[ranges[result.key].stream.id, default: RowSums()] += result.value
            }
        }
    }
}
