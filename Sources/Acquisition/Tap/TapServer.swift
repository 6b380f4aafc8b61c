import CLinux
import Glibc
import Storage
import Synchronization
package import Tap

/// Why a tap cannot be offered.
package enum TapServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is longer than an address of a local socket can be.
    case pathTooLong(String)
    /// Something that is no socket is in the way.
    case inTheWay(String)
    /// The system refuses it.
    case system(path: String, call: String, code: Int32)

    package var description: String {
        switch self {
        case .pathTooLong(let path): "the path of the tap has more than 107 bytes: \(path)"
        case .inTheWay(let path): "the tap cannot be at \(path): something that is no socket is there"
        case .system(let path, let call, let code):
            "the tap cannot be at \(path): \(call): \(String(cString: strerror(code)))"
        }
    }
}

/// The tap's local socket: what the acquisition says goes to every reader that keeps up.
///
/// The thread that acquires leaves messages here and goes on: what it does for them is the same for fifty readers as for one.
/// A thread of its own encodes them once, and sends.
package final class TapServer: Sendable {
    /// What the acquisition learns of its readers.
    package enum News: Hashable, Sendable {
        /// One has come, after so many were dropped.
        case joined(TapQueue.ReaderID, droppedReaders: UInt64)
        /// The last one has gone.
        case emptied
        /// Some did not keep up.
        case dropped(Int, total: UInt64)
    }

    /// What waits for the thread that sends.
    enum Parcel {
        case messages([TapMessage])
        case greeting(TapQueue.ReaderID, [TapMessage])
    }

    private struct State {
        var parcels: [Parcel] = []
        var waitingBytes = 0
        var news: [News] = []
        var wakeAcquisition: (@Sendable () -> Void)?
    }

    /// So many bytes of messages may wait for the thread that sends: more than a minute of ten headsets, and what a headset's
    /// memory yields at once. Whoever reads is dropped then.
    private static let waitingMaximum = 16 << 20

    /// Where it listens.
    package let path: String
    private let state = Mutex(State())
    private let newsIsThere = Atomic(false)
    private let wakeUp: Int32
    private let outlet: TapOutlet

    /// Listens from now on; what connects waits until ``start(wake:)``.
    ///
    /// - Parameters:
    ///   - path: of the socket. A socket that an earlier process has left there is removed.
    ///   - capacity: how many bytes a reader may be behind.
    package init(path: String, capacity: Int = TapQueue.defaultCapacity) throws(TapServerError) {
        self.path = path
        let listener = try TapListener(path: path)
        wakeUp = clinux_eventfd()
        guard wakeUp >= 0 else { throw .system(path: path, call: "eventfd", code: -wakeUp) }
        outlet = TapOutlet(listener: listener, wakeUp: wakeUp, queue: TapQueue(capacity: capacity))
    }

    /// Serves readers.
    ///
    /// - Parameter wake: has ``hasNews`` looked at soon; called on another thread.
    package func start(wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakeAcquisition = wake }
        outlet.start(
            take: { [weak self] in self?.takeParcels() ?? ([], false) }, note: { [weak self] in self?.note($0) })
    }

    /// Lets every reader go, and listens no longer.
    package func stop() {
        outlet.stop()
        unlink(path)
    }

    // MARK: On the thread that acquires

    /// Says something to every reader. Returns at once.
    package func publish(_ messages: [TapMessage]) { add(.messages(messages), of: messages) }

    /// Says something to one reader, which then gets what is published. Returns at once.
    package func greet(_ reader: TapQueue.ReaderID, with messages: [TapMessage]) {
        add(.greeting(reader, messages), of: messages)
    }

    private func add(_ parcel: Parcel, of messages: [TapMessage]) {
        let size = messages.reduce(0) { $0 + $1.memorySize }
        let isFirst = state.withLock { state in
            // Beyond the bound only the size grows: it shows that something is missing.
            state.waitingBytes += size
            if state.waitingBytes <= Self.waitingMaximum { state.parcels.append(parcel) }
            return state.parcels.count <= 1
        }
        if isFirst { _ = clinux_eventfd_signal(wakeUp) }
    }

    /// True where readers have come, gone or been dropped: cheap enough to be asked at each turn.
    package var hasNews: Bool { newsIsThere.load(ordering: .relaxed) }

    /// What has become of readers since the last time.
    package func takeNews() -> [News] {
        state.withLock { state in
            newsIsThere.store(false, ordering: .relaxed)
            defer { state.news.removeAll() }
            return state.news
        }
    }

    // MARK: On the thread that sends

    private func takeParcels() -> (parcels: [Parcel], isOverrun: Bool) {
        state.withLock { state in
            defer {
                state.parcels.removeAll()
                state.waitingBytes = 0
            }
            return (state.parcels, state.waitingBytes > Self.waitingMaximum)
        }
    }

    private func note(_ news: News) {
        let wake = state.withLock { state in
            state.news.append(news)
            newsIsThere.store(true, ordering: .relaxed)
            return state.wakeAcquisition
        }
        wake?()
    }
}

extension TapMessage {
    /// Roughly how many bytes it takes in memory.
    fileprivate var memorySize: Int {
        let values =
            switch content {
            case .samples(let samples): samples.rows.values.count
            case .fill(let fill): fill.values.count
            default: 0
            }
        return MemoryLayout<TapMessage>.size + values * MemoryLayout<Int32>.size
    }
}
