package import Bluetooth

/// The client of one bearer of the Attribute Protocol, and the server that has nothing to offer: packets, procedures and the
/// time in; packets and events out. No I/O and no clock in it.
///
/// One procedure is under way at a time, and of it one request (Core Specification, Vol 3, Part F, 3.3.2). Indications are
/// confirmed as they arrive. A peer's requests are answered, its commands ignored.
package struct GATTClient: Sendable {
    /// What a client reports.
    package enum Event: Hashable, Sendable {
        /// The procedure that was started ended.
        case finished(Result<GATTOutcome, GATTFailure>)
        /// A notification or indication; `at` is the time of the packet.
        case value(AttributeHandle, [UInt8], at: MonotonicTime)
    }

    /// How long the answer to a request may take (Part F, 3.3.3).
    package static let transactionLimit = Duration.seconds(30)

    /// The largest packet that this side can receive.
    package let receiveLimit: AttributeMTU
    /// The largest packet that may be sent either way.
    package private(set) var mtu = AttributeMTU.default
    /// True after a transaction timed out: nothing is sent or taken any more. Only a new link helps.
    package private(set) var isDead = false
    /// Packets that were ignored, because nobody had asked for them or because they were none.
    package private(set) var ignoredPacketCount = 0

    private var procedure: (any GATTProcedure)?
    /// The opcode of the request that waits for its response.
    private var outstanding: AttributeOpcode?
    /// The size of packets when that request was sent.
    private var outstandingMTU = AttributeMTU.default
    private var packets: [[UInt8]] = []
    private var events: [Event] = []

    /// When ``deadlineReached(at:)`` is due; nil for never.
    package private(set) var deadline: MonotonicTime?

    /// Creates the client of a bearer that was just established.
    package init(receiveLimit: AttributeMTU = .largestUseful) {
        self.receiveLimit = receiveLimit
    }

    // MARK: Out

    /// True where a procedure can be started.
    package var isIdle: Bool { procedure == nil && !isDead }

    /// Takes the packets that are to be sent, each in a frame of its own, in order.
    package mutating func takePackets() -> [[UInt8]] {
        defer { packets.removeAll(keepingCapacity: true) }
        return packets
    }

    /// Takes the events that wait.
    package mutating func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    // MARK: In

    /// Starts a procedure; ended by exactly one ``Event/finished(_:)``. Returns false, and does nothing, where the client is
    /// not idle.
    @discardableResult
    package mutating func start(_ request: GATTRequest, at now: MonotonicTime) -> Bool {
        guard isIdle else { return false }
        var started = request.procedure(receiveLimit: receiveLimit)
        let step = started.begin(mtu: mtu)
        procedure = started
        perform(step, at: now)
        return true
    }

    /// Writes a value without response, at once: commands wait for nothing (Part F, 3.3.2). Returns false where the value is
    /// longer than one packet holds, or the bearer is dead.
    @discardableResult
    package mutating func writeCommand(_ value: [UInt8], to handle: AttributeHandle) -> Bool {
        guard !isDead, value.count <= mtu.writeLimit else { return false }
        send(.writeCommand(handle, value))
        return true
    }

    /// Takes one packet, as it came in one frame.
    package mutating func received(_ packet: [UInt8], at now: MonotonicTime) {
        guard !isDead, let first = packet.first else { return ignore() }
        guard let opcode = AttributeOpcode(rawValue: first) else { return answer(packet) }
        switch opcode.kind {
        case .notification, .indication: receivedValue(packet, opcode, at: now)
        case .response: receivedResponse(packet, opcode, at: now)
        case .request: answer(packet)
        case .command, .confirmation: ignore()
        }
    }

    /// Ends the bearer where a response is overdue.
    package mutating func deadlineReached(at now: MonotonicTime) {
        guard let deadline, deadline <= now else { return }
        isDead = true
        packets.removeAll()
        finish(.failure(.timedOut))
    }

    // MARK: Packets

    private mutating func send(_ pdu: AttributePDU) {
        packets.append(pdu.encoded())
    }

    private mutating func ignore() {
        ignoredPacketCount += 1
    }

    private mutating func answer(_ packet: [UInt8]) {
        guard let answer = EmptyServer.answer(to: packet, receiveLimit: receiveLimit) else { return ignore() }
        send(answer)
        // Both directions have the same size, whoever asked (Part F, 3.2.8 and 3.4.2.2).
        if case .exchangeMTURequest(let theirs)? = try? AttributePDU(decoding: packet) {
            mtu = receiveLimit.agreed(with: AttributeMTU(theirs))
        }
    }

    private mutating func receivedValue(_ packet: [UInt8], _ opcode: AttributeOpcode, at now: MonotonicTime) {
        // The server sends no other indication before this one is confirmed (3.3.2), so even a senseless one is.
        if opcode == .handleValueIndication { send(.handleValueConfirmation) }
        switch try? AttributePDU(decoding: packet) {
        case .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
            events.append(.value(handle, value, at: now))
        case .multipleHandleValueNotification(let entries):
            for entry in entries { events.append(.value(entry.handle, entry.value, at: now)) }
        default: ignore()
        }
    }

    private mutating func receivedResponse(_ packet: [UInt8], _ opcode: AttributeOpcode, at now: MonotonicTime) {
        guard let outstanding, var current = procedure else { return ignore() }
        let pdu = try? AttributePDU(decoding: packet)
        // Where the peer has asked for larger packets meanwhile, the answer may still have been cut to the smaller size.
        let size = mtu.agreed(with: outstandingMTU)
        let step: GATTStep
        if case .errorResponse(let request, let handle, let error)? = pdu {
            // An error that answers something else belongs to nothing that was asked.
            guard request == outstanding.rawValue else { return ignore() }
            step = current.refused(error, handle, mtu: size)
        } else {
            guard opcode == outstanding.response else { return ignore() }
            step = pdu.map { current.answered($0, mtu: size) } ?? .failed(.senselessResponse)
        }
        procedure = current
        self.outstanding = nil
        deadline = nil
        perform(step, at: now)
    }

    // MARK: Procedure

    private mutating func perform(_ step: GATTStep, at now: MonotonicTime) {
        switch step {
        case .request(let pdu):
            outstanding = pdu.opcode
            outstandingMTU = mtu
            deadline = now + Self.transactionLimit
            send(pdu)
        case .done(let outcome):
            if case .mtu(let agreed) = outcome { mtu = agreed }
            finish(.success(outcome))
        case .failed(let failure): finish(.failure(failure))
        }
    }

    private mutating func finish(_ result: Result<GATTOutcome, GATTFailure>) {
        procedure = nil
        outstanding = nil
        deadline = nil
        events.append(.finished(result))
    }
}
