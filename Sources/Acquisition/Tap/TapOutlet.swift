import Bluetooth
import CLinux
import Glibc
import Tap

/// The tap's sockets, on a thread of their own: accepts readers, encodes each message once, and sends without ever waiting.
actor TapOutlet {
    /// So many may read at once.
    private static let readerMaximum = 64
    /// So many may come within a second: each has the thread that acquires say how things stand.
    private static let admissionMaximum = 200
    /// What is read at once of what a reader sends, which is of no interest.
    private static let readSize = 4096

    private struct Connection {
        var socket: Int32
        /// True where the kernel takes nothing more until the reader has read.
        var isFull = false
    }

    private let thread = PollThread(name: "eegsync-tap")
    private let listener: TapListener
    private let wakeUp: Int32
    private let watched: Int32
    private var queue: TapQueue
    private var connections: [TapQueue.ReaderID: Connection] = [:]
    private var latestReader: UInt64 = 0
    /// Who has come since when.
    private var admissions = (since: MonotonicTime.boot, count: 0)
    private var takeParcels: @Sendable () -> (parcels: [TapServer.Parcel], isOverrun: Bool) = { ([], false) }
    private var note: @Sendable (TapServer.News) -> Void = { _ in }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(listener: TapListener, wakeUp: Int32, queue: TapQueue) {
        self.listener = listener
        self.wakeUp = wakeUp
        self.queue = queue
        watched = clinux_epoll()
    }

    deinit {
        for connection in connections.values { close(connection.socket) }
        if watched >= 0 { close(watched) }
        close(wakeUp)
    }

    /// Serves from now on.
    ///
    /// - Parameters:
    ///   - take: what is to be sent since the last time; whether something of it is missing.
    ///   - note: gets what becomes of readers.
    nonisolated func start(
        take: @escaping @Sendable () -> (parcels: [TapServer.Parcel], isOverrun: Bool),
        note: @escaping @Sendable (TapServer.News) -> Void
    ) {
        _ = clinux_epoll_insert(watched, listener.descriptor)
        thread.watch(wakeUp)
        thread.watch(watched)
        thread.setTurn { [weak self] now in
            self?.assumeIsolated { outlet in
                (outlet.takeParcels, outlet.note) = (take, note)
                outlet.serve(at: now)
            }
            return nil
        }
    }

    /// Sends what readers take at once, and serves no longer.
    nonisolated func stop() {
        thread.setTurn { [weak self] now in
            self?.assumeIsolated { $0.end(at: now) }
            return nil
        }
    }

    private func end(at now: MonotonicTime) {
        serve(at: now)
        thread.setTurn(nil)
        thread.unwatch(wakeUp)
        thread.unwatch(watched)
        for reader in queue.readerIDs { remove(reader) }
        takeParcels = { ([], false) }
        note = { _ in }
    }

    // MARK: One turn

    private func serve(at now: MonotonicTime) {
        _ = clinux_eventfd_clear(wakeUp)
        let hadReaders = !queue.isEmpty
        if now - admissions.since >= .seconds(1) { admissions = (now, 0) }
        takeWhatIsReady()
        let (parcels, isOverrun) = takeParcels()
        for parcel in parcels { add(parcel) }
        // What is missing would be missed by everybody.
        if isOverrun { drop(queue.readerIDs, counts: true) }
        for reader in queue.readerIDs where connections[reader]?.isFull == false { send(to: reader) }
        if hadReaders, queue.isEmpty { note(.emptied) }
    }

    private func takeWhatIsReady() {
        var ready = [Int32](repeating: -1, count: 64)
        let count = clinux_epoll_ready(watched, &ready, Int32(ready.count))
        guard count > 0 else { return }
        for descriptor in ready.prefix(Int(count)) {
            if descriptor == listener.descriptor {
                while let socket = listener.accept() { admit(socket) }
            } else if let reader = connections.first(where: { $0.value.socket == descriptor })?.key {
                listen(to: reader)
            }
        }
    }

    private func admit(_ socket: Int32) {
        guard connections.count < Self.readerMaximum, admissions.count < Self.admissionMaximum,
            clinux_epoll_insert(watched, socket) == 0
        else {
            close(socket)
            return
        }
        admissions.count += 1
        latestReader += 1
        let reader = TapQueue.ReaderID(rawValue: latestReader)
        connections[reader] = Connection(socket: socket)
        queue.join(reader)
        note(.joined(reader, droppedReaders: queue.droppedCount))
    }

    /// A reader has gone, or has room again. What it sends is of no interest.
    private func listen(to reader: TapQueue.ReaderID) {
        guard let connection = connections[reader] else { return }
        var bytes = [UInt8](repeating: 0, count: Self.readSize)
        let count = recv(connection.socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return remove(reader) }
        if connection.isFull { send(to: reader) }
    }

    private func add(_ parcel: TapServer.Parcel) {
        switch parcel {
        case .messages(let messages): drop(queue.append(Self.encoded(messages)), counts: false)
        case .greeting(let reader, let messages): queue.greet(reader, with: Self.encoded(messages))
        }
    }

    private static func encoded(_ messages: [TapMessage]) -> [UInt8] {
        var bytes: [UInt8] = []
        for message in messages { message.append(to: &bytes) }
        return bytes
    }

    /// Sends what a reader's socket takes now.
    private func send(to reader: TapQueue.ReaderID) {
        guard let socket = connections[reader]?.socket else { return }
        while let (bytes, offset) = queue.next(for: reader) {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                return Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count > 0 {
                queue.sent(count, to: reader)
                continue
            }
            if count < 0, errno == EINTR { continue }
            guard count < 0, errno == EAGAIN else { return remove(reader) }
            return setFull(true, reader)
        }
        setFull(false, reader)
    }

    private func setFull(_ isFull: Bool, _ reader: TapQueue.ReaderID) {
        guard let connection = connections[reader], connection.isFull != isFull else { return }
        connections[reader]?.isFull = isFull
        _ = clinux_epoll_watch(watched, connection.socket, 1, isFull ? 1 : 0)
    }

    // MARK: The end of a reader

    /// - Parameter counts: true where the queue has not counted them.
    private func drop(_ readers: [TapQueue.ReaderID], counts: Bool) {
        guard !readers.isEmpty else { return }
        if counts { queue.drop(readers) }
        for reader in readers { remove(reader) }
        note(.dropped(readers.count, total: queue.droppedCount))
    }

    private func remove(_ reader: TapQueue.ReaderID) {
        queue.leave(reader)
        guard let connection = connections.removeValue(forKey: reader) else { return }
        _ = clinux_epoll_remove(watched, connection.socket)
        close(connection.socket)
    }
}
