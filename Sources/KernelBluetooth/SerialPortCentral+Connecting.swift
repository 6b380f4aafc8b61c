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

    // MARK: Requests

    func connect(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        guard state == .poweredOn else {
            return tell(.didFailToConnect(peripheral, error: .adapterUnavailable(state), attempt: attempt))
        }
        guard peripheral.addressType == .classic else {
            return tell(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        guard let place = links.firstIndex(where: { $0.identifier == peripheral }) else {
            links.append(SerialPortLink(peripheral, attempt: attempt, at: now))
            return page()
        }
        links[place].attempt = attempt
        if links[place].isConnected { tell(.didConnect(peripheral, attempt: attempt)) }
    }

    func cancel(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        if let place = links.firstIndex(where: { $0.identifier == peripheral }) {
            closeSocket(place)
            // Closing its socket cancels a page.
            if links.remove(at: place).hasAnsweredPage { adapter.disconnect(peripheral) }
        }
        tell(.didDisconnect(peripheral, error: nil, attempt: attempt))
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
            guard let place = links.firstIndex(where: { $0.identifier == identifier }),
                let limit = links[place].limit ?? pageLimit(of: links[place]), limit <= now
            else { continue }
            if case .searching = links[place].phase, !links[place].pairing.hasFailed, openKnownChannel(place) { continue }
            if links[place].hasAnsweredPage { adapter.disconnect(identifier) }
            if links[place].pairing.hasFailed {
                notAuthenticated(place)
            } else {
                wait(place, Self.awayPause)
            }
        }
    }

    // MARK: Steps

    /// Pages the peripheral that has waited longest, where nothing else is under way: an adapter pages one at a time.
    func page() {
        guard state == .poweredOn, !links.contains(where: \.isUnderWay), let place = nextToPage else { return }
        links[place].lastPage = now
        links[place].pairing.begin()
        switch sockets.openServiceDiscovery(links[place].identifier.address, adapter.status.address) {
        case .failure(let error): refused(place, error)
        case .success(let socket):
            links[place].phase = .paging(socket: socket)
            readiness.watch(socket, for: .connecting)
        }
    }

    /// The link that may be paged and was paged longest ago. A loop, because the optimiser of Swift 6.3.1 crashes on the same
    /// with `filter` and `min` ("Found ownership error" in CopyPropagation).
    private var nextToPage: Int? {
        var next: Int?
        for place in links.indices {
            guard let time = links[place].pageTime, time <= now else { continue }
            if let chosen = next, links[chosen].lastPage <= links[place].lastPage { continue }
            next = place
        }
        return next
    }

    /// The step that a link waits for has come to an end.
    func proceed(_ place: Int) {
        switch links[place].phase {
        case .waiting, .connected: break
        case .paging(let socket): paged(place, socket)
        case .searching(let search, let socket, _): searched(place, search, socket)
        case .opening(let socket, _):
            if let error = sockets.connectionError(socket) { return refused(place, error) }
            links[place].phase = .connected(socket: socket)
            links[place].endingTries = 0
            readiness.watch(socket, for: .end)
            acceptedPairing(with: links[place].identifier)
            tell(.didConnect(links[place].identifier, attempt: links[place].attempt))
        }
    }

    private func paged(_ place: Int, _ socket: Int32) {
        if let error = sockets.connectionError(socket) {
            // A headset may have no Service Discovery Protocol at all.
            if error.code == ECONNREFUSED, !isOfPairing(error, of: links[place]), openKnownChannel(place) { return }
            return refused(place, error)
        }
        var search = SerialPortSearch()
        let packet = search.begin()
        guard send(socket, packet, packet.count, Self.neverWait) == packet.count else {
            return refused(place, SocketError(code: errno))
        }
        links[place].phase = .searching(search, socket: socket, until: now + Self.searchLimit)
        readiness.watch(socket, for: .reading)
    }

    private func searched(_ place: Int, _ search: SerialPortSearch, _ socket: Int32) {
        var search = search
        var packet = [UInt8](repeating: 0, count: 65_535)
        let count = recv(socket, &packet, packet.count, Self.neverWait)
        guard count > 0 else {
            let error = SocketError(code: count == 0 ? ECONNRESET : errno)
            if error.code == EAGAIN || error.code == EINTR { return }
            return refused(place, error)
        }
        do {
            switch try search.received(packet[..<count]) {
            case .send(let next):
                guard send(socket, next, next.count, Self.neverWait) == next.count else {
                    return refused(place, SocketError(code: errno))
                }
                links[place].phase = .searching(search, socket: socket, until: now + Self.searchLimit)
            case .found(let channel): open(place, channel)
            }
        } catch {
            if !openKnownChannel(place) { fail(place, .connectionFailed(reason: "\(error)")) }
        }
    }

    /// Opens the serial port where the model is known to have it: the headset did not tell. Returns false where nobody knows.
    private func openKnownChannel(_ place: Int) -> Bool {
        guard let channel = channels.number(for: links[place].identifier) else { return false }
        open(place, channel)
        return true
    }

    private func open(_ place: Int, _ channel: UInt8) {
        // The link itself stays up for 2 s after its last channel (HCI_DISCONN_TIMEOUT in the kernel).
        closeSocket(place)
        switch sockets.openSerialPort(links[place].identifier.address, channel, adapter.status.address) {
        case .failure(let error): refused(place, error)
        case .success(let socket):
            links[place].phase = .opening(socket: socket, until: now + Self.openingLimit)
            readiness.watch(socket, for: .connecting)
        }
    }

    // MARK: Ends

    /// The peripheral or the kernel did not let a step succeed.
    private func refused(_ place: Int, _ error: SocketError) {
        if isOfPairing(error, of: links[place]) { return notAuthenticated(place) }
        switch error.connecting {
        case .away:
            links[place].endingTries = 0
            wait(place, Self.awayPause)
        case .ending:
            links[place].endingTries += 1
            if links[place].endingTries > Self.endingTriesMaximum { return fail(place, .channelBusy) }
            wait(place, Self.endingPause)
        case .final(let error): fail(place, error)
        }
    }

    func wait(_ place: Int, _ pause: Duration) {
        closeSocket(place)
        links[place].phase = .waiting(until: now + pause)
    }

    func fail(_ place: Int, _ error: CentralError) {
        end(links[place].identifier, error)
    }

    /// Ends a link, or the attempt at one, for a reason that is not ours.
    func end(_ identifier: PeripheralIdentifier, _ error: CentralError) {
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        closeSocket(place)
        let link = links.remove(at: place)
        let cause = state == .poweredOn ? error : .adapterUnavailable(state)
        if link.isConnected {
            tell(.didDisconnect(identifier, error: cause, attempt: link.attempt))
        } else {
            tell(.didFailToConnect(identifier, error: cause, attempt: link.attempt))
        }
    }

    private func closeSocket(_ place: Int) {
        guard let socket = links[place].socket else { return }
        readiness.unwatch(socket)
        Glibc.close(socket)
    }
}
