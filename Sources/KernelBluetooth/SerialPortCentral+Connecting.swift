import Bluetooth
import Glibc

/// From a page to a serial port, and back.
///
/// The page is an L2CAP connection to the Service Discovery Protocol and not the serial port's own: closing that one while the
/// peripheral is away would leave the kernel paging (net/bluetooth/rfcomm/core.c keeps its session until that has failed).
extension SerialPortCentral {
    /// How long a page may take: the controller gives up after 5.12 s (Page Timeout, Vol 4, Part E, 6.6); the rest is for the
    /// channel.
    private static let pageLimit = Duration.seconds(8)
    /// The same while other peripherals wait for their turn: the longest interval in which a peripheral listens for pages
    /// (2.56 s, R2, Vol 2, Part B, 8.3.1), and the time to answer.
    private static let sharedPageLimit = Duration.milliseconds(2800)
    /// How long a peripheral that answered the page may take to say where its serial port is.
    private static let searchLimit = Duration.seconds(3)
    /// How long it may take to open it.
    private static let openingLimit = Duration.seconds(5)
    /// The pause before a peripheral that is away is paged again: the radio has other things to do, too.
    private static let awayPause = Duration.milliseconds(100)
    /// How long the kernel is given each time to end what is left of an earlier connection.
    private static let endingPause = Duration.milliseconds(100)
    /// After how many such pauses another program is believed to hold the serial port; the kernel needs 2 s for itself.
    private static let endingTriesMaximum = 50
    /// How long they count after a connect was cancelled: callers give one up after 4 s, and come back to it after a scan.
    private static let endingMemory = Duration.seconds(30)

    // MARK: Requests

    func connect(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        guard state == .poweredOn else {
            return emit(.didFailToConnect(peripheral, error: .adapterUnavailable(state), attempt: attempt))
        }
        guard peripheral.addressType == .classic else {
            return emit(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        guard let index = links.firstIndex(where: { $0.identifier == peripheral }) else {
            links.append(SerialPortLink(peripheral, attempt: attempt, at: now))
            return page()
        }
        links[index].attempt = attempt
        if links[index].isConnected { emit(.didConnect(peripheral, attempt: attempt)) }
    }

    func cancel(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        if let index = links.firstIndex(where: { $0.identifier == peripheral }) {
            let hasAnsweredPage = links[index].hasAnsweredPage
            closeSocket(index)
            links.remove(at: index)
            // Closing its socket cancels a page.
            if hasAnsweredPage { adapter.disconnect(peripheral) }
        }
        emit(.didDisconnect(peripheral, error: nil, attempt: attempt))
    }

    // MARK: Time

    /// When ``expire()`` or ``page()`` is due.
    var pageDeadline: MonotonicTime? {
        var deadlines = links.compactMap { $0.limit ?? pageLimit(of: $0) }
        if state == .poweredOn, !links.contains(where: \.isUnderWay) { deadlines += links.compactMap(\.pageTime) }
        return deadlines.min()
    }

    private func pageLimit(of link: SerialPortLink) -> MonotonicTime? {
        guard link.isPaging else { return nil }
        let isShared = links.contains { $0.pageTime != nil }
        let limit = link.lastPage + (isShared ? Self.sharedPageLimit : Self.pageLimit)
        return max(limit, link.pairing.limit ?? limit)
    }

    /// Ends steps that have taken too long.
    func expire() {
        for identifier in links.map(\.identifier) {
            guard let index = links.firstIndex(where: { $0.identifier == identifier }),
                let limit = links[index].limit ?? pageLimit(of: links[index]), limit <= now
            else { continue }
            if case .searching = links[index].phase, !links[index].pairing.hasFailed, openKnownChannel(index) { continue }
            if links[index].hasAnsweredPage { adapter.disconnect(identifier) }
            if links[index].pairing.hasFailed {
                notAuthenticated(index)
            } else {
                wait(index, Self.awayPause)
            }
        }
    }

    // MARK: Steps

    /// Pages the peripheral that has waited longest, where nothing else is under way: an adapter pages one at a time.
    func page() {
        guard state == .poweredOn, !links.contains(where: \.isUnderWay), let index = nextToPage else { return }
        links[index].lastPage = now
        links[index].pairing.begin()
        switch sockets.openServiceDiscovery(links[index].identifier.address, adapter.status.address) {
        case .failure(let error): refused(index, error)
        case .success(let socket):
            links[index].phase = .paging(socket: socket)
            readiness.watch(socket, for: .connecting)
        }
    }

    /// The link that may be paged and was paged longest ago. A loop, because the optimiser of Swift 6.3.1 crashes on the same
    /// with `filter` and `min` ("Found ownership error" in CopyPropagation).
    private var nextToPage: Int? {
        var next: Int?
        for index in links.indices {
            guard let time = links[index].pageTime, time <= now else { continue }
            if let chosen = next, links[chosen].lastPage <= links[index].lastPage { continue }
            next = index
        }
        return next
    }

    /// The step that a link waits for has come to an end.
    func proceed(_ index: Int) {
        switch links[index].phase {
        case .waiting, .connected: break
        case .paging(let socket): paged(index, socket)
        case .searching(let search, let socket, _): searched(index, search, socket)
        case .opening(let socket, _):
            if let error = sockets.connectionError(socket) { return refused(index, error) }
            links[index].phase = .connected(socket: socket)
            endings[links[index].identifier] = nil
            readiness.watch(socket, for: .end)
            acceptedPairing(with: links[index].identifier)
            emit(.didConnect(links[index].identifier, attempt: links[index].attempt))
        }
    }

    private func paged(_ index: Int, _ socket: Int32) {
        if let error = sockets.connectionError(socket) {
            // A headset may have no Service Discovery Protocol at all.
            if error.code == ECONNREFUSED, !isOfPairing(error, of: links[index]), openKnownChannel(index) { return }
            return refused(index, error)
        }
        var search = SerialPortSearch()
        let packet = search.begin()
        guard send(socket, packet, packet.count, BluetoothSocket.neverWait) == packet.count else {
            return refused(index, SocketError(code: errno))
        }
        links[index].phase = .searching(search, socket: socket, until: now + Self.searchLimit)
        readiness.watch(socket, for: .reading)
    }

    private func searched(_ index: Int, _ search: SerialPortSearch, _ socket: Int32) {
        var search = search
        var packet = [UInt8](repeating: 0, count: 65_535)
        let count = recv(socket, &packet, packet.count, BluetoothSocket.neverWait)
        guard count > 0 else {
            let error = SocketError(code: count == 0 ? ECONNRESET : errno)
            if error.code == EAGAIN || error.code == EINTR { return }
            return refused(index, error)
        }
        do {
            switch try search.received(packet[..<count]) {
            case .send(let next):
                guard send(socket, next, next.count, BluetoothSocket.neverWait) == next.count else {
                    return refused(index, SocketError(code: errno))
                }
                links[index].phase = .searching(search, socket: socket, until: now + Self.searchLimit)
            case .found(let channel): open(index, channel)
            }
        } catch {
            if !openKnownChannel(index) { fail(index, .connectionFailed(reason: "\(error)")) }
        }
    }

    /// Opens the serial port where the model is known to have it: the headset did not say. Returns false where nobody knows.
    private func openKnownChannel(_ index: Int) -> Bool {
        guard let channel = channels.number(for: links[index].identifier) else { return false }
        open(index, channel)
        return true
    }

    private func open(_ index: Int, _ channel: UInt8) {
        // The link itself stays up for 2 s after its last channel (HCI_DISCONN_TIMEOUT in the kernel).
        closeSocket(index)
        switch sockets.openSerialPort(links[index].identifier.address, channel, adapter.status.address) {
        case .failure(let error): refused(index, error)
        case .success(let socket):
            links[index].phase = .opening(socket: socket, until: now + Self.openingLimit)
            readiness.watch(socket, for: .connecting)
        }
    }

    // MARK: Ends

    /// The peripheral or the kernel did not let a step succeed.
    private func refused(_ index: Int, _ error: SocketError) {
        if isOfPairing(error, of: links[index]) { return notAuthenticated(index) }
        switch error.connecting {
        case .away:
            endings[links[index].identifier] = nil
            wait(index, Self.awayPause)
        case .ending:
            if noteEnding(of: links[index].identifier) > Self.endingTriesMaximum { return fail(index, .channelBusy) }
            wait(index, Self.endingPause)
        case .final(let error): fail(index, error)
        }
    }

    /// The kernel is busy with what is left of an earlier connection. Returns how often in a row it was.
    private func noteEnding(of identifier: PeripheralIdentifier) -> Int {
        endings = endings.filter { now < $0.value.latest + Self.endingMemory }
        let tries = (endings[identifier]?.tries ?? 0) + 1
        endings[identifier] = (tries: tries, latest: now)
        return tries
    }

    func wait(_ index: Int, _ pause: Duration) {
        closeSocket(index)
        links[index].phase = .waiting(until: now + pause)
    }

    func fail(_ index: Int, _ error: CentralError) {
        end(links[index].identifier, error)
    }

    /// Ends a link, or the attempt at one, for a reason that is not ours.
    func end(_ identifier: PeripheralIdentifier, _ error: CentralError) {
        guard let index = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        let (wasConnected, attempt) = (links[index].isConnected, links[index].attempt)
        closeSocket(index)
        links.remove(at: index)
        endings[identifier] = nil
        let cause = state == .poweredOn ? error : .adapterUnavailable(state)
        if wasConnected {
            emit(.didDisconnect(identifier, error: cause, attempt: attempt))
        } else {
            emit(.didFailToConnect(identifier, error: cause, attempt: attempt))
        }
    }

    /// Closes the socket that a link has, once: a moment later its number may be that of a file of another thread.
    private func closeSocket(_ index: Int) {
        guard let socket = links[index].socket else { return }
        links[index].phase = .waiting(until: now)
        readiness.unwatch(socket)
        Glibc.close(socket)
    }
}
