import Bluetooth
import BluetoothManagement

/// The adapter in use, as the management channel reports it.
struct AdapterStatus: Hashable {
    var state = AdapterState.unknown
    /// Nil where there is none.
    var index: ControllerIndex?
    /// 0 for any.
    var address: UInt64 = 0
    /// What is switched on.
    var settings: ControllerSettings = []
    /// What could be switched on.
    var supportedSettings: ControllerSettings = []
    /// Whether its radio was blocked (rfkill) since the last look, be it for a moment.
    var wasBlocked = false

    /// True where it is known how it stands with the adapter, and no other process has it.
    var isOurs: Bool { state != .unknown && state != .inUse }
}

/// Which adapters there are, and in which state the one in use is, from what the management channel reports. Pure.
struct AdapterTable: Hashable {
    /// One adapter.
    private struct Adapter: Hashable {
        var index: ControllerIndex
        var information: ControllerInformation
    }

    /// `hci0`, an address, or nil for the first that is on.
    private let wanted: String?
    /// What an adapter must have switched on to be of use.
    private let transport: ControllerSettings
    private var adapters: [Adapter] = []
    /// Adapters whose information was asked for and is not there yet.
    private var asked: [ControllerIndex] = []
    /// Known adapters whose information was asked for once more and is not there yet.
    private var askedAgain: [ControllerIndex] = []
    private var isListed = false
    /// The adapter that was chosen: it stays in use while it is on, whichever else is switched on.
    private var inUse: ControllerIndex?

    init(wanted: String?, transport: ControllerSettings) {
        self.wanted = wanted
        self.transport = transport
    }

    /// What to ask first, and now and then: the kernel drops its news without a trace where the channel is full.
    static let question = ManagementCommand.readControllerIndexList

    /// What follows from an event.
    struct Outcome: Hashable {
        /// What to ask next.
        var questions: [ManagementCommand] = []
        /// What is news to others: the event itself, or what it says without their having heard of it.
        var news: [ManagementEvent]
    }

    /// Takes what the kernel reports.
    mutating func handle(_ event: ManagementEvent) -> Outcome {
        defer { inUse = chosen?.index }
        switch event {
        case .reply(let reply): return handle(reply)
        case .indexAdded(let index): return Outcome(questions: ask([index]), news: [event])
        case .indexRemoved(let index): forget(index)
        case .newSettings(let settings, let index): set(settings, of: index)
        default: break
        }
        return Outcome(news: [event])
    }

    private mutating func forget(_ index: ControllerIndex) {
        adapters.removeAll { $0.index == index }
        asked.removeAll { $0 == index }
        askedAgain.removeAll { $0 == index }
    }

    private mutating func set(_ settings: ControllerSettings, of index: ControllerIndex) {
        guard let row = adapters.firstIndex(where: { $0.index == index }) else { return }
        adapters[row].information.currentSettings = settings
    }

    private mutating func handle(_ reply: ManagementReply) -> Outcome {
        switch reply.result {
        case .success(.controllerIndexes(let indexes)): return list(indexes, reply)
        case .success(.controllerInformation(let information)):
            let former = adapters.first { $0.index == reply.index }?.information
            let isKnown = askedAgain.contains(reply.index) && former?.address == information.address
            forget(reply.index)
            adapters.append(Adapter(index: reply.index, information: information))
            adapters.sort { $0.index < $1.index }
            // To others the first answer on an adapter says that it is new.
            if isKnown { return Outcome(news: []) }
        case .success(.settings(let settings)): set(settings, of: reply.index)
        case .failure where reply.opcode == .readControllerInformation:
            asked.removeAll { $0 == reply.index }
            askedAgain.removeAll { $0 == reply.index }
        default: break
        }
        return Outcome(news: [.reply(reply)])
    }

    /// Takes the list of all adapters. What is not on it any more has gone without the kernel's word.
    private mutating func list(_ indexes: [ControllerIndex], _ reply: ManagementReply) -> Outcome {
        isListed = true
        let gone = adapters.map(\.index).filter { !indexes.contains($0) }
        for index in gone { forget(index) }
        let known = indexes.filter { index in adapters.contains { $0.index == index } }
        // The answer about one that was pulled out meanwhile may be lost as its removal was.
        asked.removeAll { !indexes.contains($0) }
        askedAgain = known
        let again = known.map { ManagementCommand.readControllerInformation($0) }
        return Outcome(
            questions: ask(indexes.filter { !known.contains($0) }) + again,
            news: [.reply(reply)] + gone.map { ManagementEvent.indexRemoved($0) })
    }

    private mutating func ask(_ indexes: [ControllerIndex]) -> [ManagementCommand] {
        asked += indexes
        return indexes.map { .readControllerInformation($0) }
    }

    // MARK: The adapter in use

    /// The adapter in use. One that cannot speak what is asked of it (Bluetooth Classic, Low Energy), or may not, is
    /// unsupported.
    ///
    /// - Parameters:
    ///   - isBlocked: answers whether the radio of an adapter such as `hci0` is blocked.
    ///   - wasBlocked: answers whether it was since the last time, be it for a moment.
    ///   - mayUse: answers whether no other process has the adapter; taken for true until the next call.
    func status(
        isBlocked: (String) -> Bool, wasBlocked: (String) -> Bool, mayUse: (String) -> Bool
    ) -> AdapterStatus {
        let information = chosen?.information
        let settings = information?.currentSettings ?? []
        return AdapterStatus(
            state: state(settings, isBlocked, mayUse), index: chosen?.index, address: information?.address.address ?? 0,
            settings: settings, supportedSettings: information?.supportedSettings ?? [],
            wasBlocked: (chosen?.index.description).map(wasBlocked) ?? false)
    }

    private func state(
        _ settings: ControllerSettings, _ isBlocked: (String) -> Bool, _ mayUse: (String) -> Bool
    ) -> AdapterState {
        // One that is on is in use, whatever others that appear turn out to be.
        guard isListed, asked.isEmpty || settings.contains(.powered) else { return .unknown }
        guard let chosen else { return .absent }
        guard mayUse(chosen.index.description) else { return .inUse }
        guard settings.contains(.powered) else { return isBlocked(chosen.index.description) ? .blocked : .poweredOff }
        return settings.contains(transport) ? .poweredOn : .unsupported
    }

    private var chosen: Adapter? {
        guard let wanted else {
            let current = adapters.first { $0.index == inUse }
            let isOn = { (adapter: Adapter) in adapter.information.currentSettings.contains(.powered) }
            return current.flatMap { isOn($0) ? $0 : nil } ?? adapters.first(where: isOn) ?? current ?? adapters.first
        }
        return adapters.first {
            $0.index.description == wanted || $0.information.address.addressDescription == wanted.uppercased()
        }
    }
}
