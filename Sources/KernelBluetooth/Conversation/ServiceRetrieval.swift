import AttributeProtocol
import Bluetooth

/// Which of the devices that are connected, by whomever, are headsets: the questions that wait for their answer, and what
/// devices were found to offer. Pure.
///
/// Of a device with a known map of handles the map says it. Any other is probed: the channel of the Attribute Protocol is
/// opened beside whatever holds the link, the services are discovered, and the channel is closed again, which ends the link of
/// nobody else. Where another program has the channel, the device would be of no use.
struct ServiceRetrieval {
    /// How long a question waits for probes: less than the caller does. A discovery that takes longer serves the next question.
    private static let limit = Duration.milliseconds(400)

    /// A question for connected peripherals.
    struct Question {
        let services: [BluetoothUUID]
        let attempt: Attempt
        /// When it is answered with what is known by then.
        let limit: MonotonicTime
        /// True once the kernel has said who is connected.
        var isListed = false
    }

    private var questions: [Question] = []
    /// What connected devices were found to offer, until they are gone.
    private var maps = HandleMapTable()

    /// What a device was found to offer; nil where it was not probed.
    subscript(device: PeripheralIdentifier) -> HandleMap? { maps[device] }

    /// When a question is to be answered.
    var deadline: MonotonicTime? { questions.map(\.limit).min() }

    mutating func ask(for services: [BluetoothUUID], _ attempt: Attempt, at now: MonotonicTime) {
        questions.append(Question(services: services, attempt: attempt, limit: now + Self.limit))
    }

    /// The kernel has said who is connected. Returns true where somebody wants to know.
    mutating func wasListed() -> Bool {
        for index in questions.indices { questions[index].isListed = true }
        return !questions.isEmpty
    }

    mutating func note(_ map: HandleMap?, of device: PeripheralIdentifier) { maps[device] = map }

    /// A device is gone.
    mutating func forgetMap(of device: PeripheralIdentifier) { maps[device] = nil }

    /// All devices are gone.
    mutating func forgetMaps() { maps = HandleMapTable() }

    /// Takes the questions that are to be answered now.
    ///
    /// - Parameters:
    ///   - isProbing: true while a device is asked for its services.
    ///   - isOver: true where nothing is waited for any more.
    mutating func takeDue(at now: MonotonicTime, isProbing: Bool, isOver: Bool) -> [Question] {
        let isDue = { (question: Question) in isOver || question.limit <= now || question.isListed && !isProbing }
        defer { questions.removeAll(where: isDue) }
        return questions.filter(isDue)
    }
}
