import ArgumentParser
import Bluetooth
import Headsets
import Storage

/// `eegsync headsets adopt`: a person says at which address a headset is that proves nothing about itself.
struct AdoptAddress: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Say at which address a headset is that cannot prove it.",
        discussion: """
            For a headset without a serial number that has another address than before, or of which several are in sight. The \
            daemon takes it at once, into the running recording. `eegsync status` names the addresses that it hears.

            EXAMPLE
              eegsync headsets adopt left C0:EE:60:00:02:01
            """)

    @Argument(help: "The headset's name.")
    var headset: String

    @Argument(help: "The address; with /public or /random where eegsync has not heard it.")
    var address: String

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = try options.databasePath()
        let store = try options.openForControl()
        guard let activity = try store.headsets(at: HostClock.now).first(where: { $0.name == headset }) else {
            throw StorageError.notFound(what: "headset \(headset)")
        }
        let catalog = HeadsetLibrary(configurationPath: options.configurationPath).catalog
        let profile = try? catalog.profile(model: activity.model)
        let configured = try? options.configurationIfPresent()?.headsets.first { $0.name == headset }
        if profile?.provesIdentity == true, let serialNumber = configured?.serialNumber ?? activity.serialNumber {
            throw Failure(
                problem: "\(headset) proves by its serial number \(serialNumber.printable) which headset it is.",
                consequence: "nothing was changed.",
                remedy: "switch it on and bring it within reach: eegsync finds it at whatever address by itself.", code: .usage)
        }
        let identifier = try Self.identifier(
            address, isClassic: profile?.usesSerialPort ?? false, candidates: activity.address.candidates)
        try store.adopt(identifier, headset: headset, at: HostClock.now)
        try AdoptionFacts(headset: headset, address: "\(identifier)", daemonPid: DaemonPresence.pid(database: path))
            .print(asJSON: output.json)
    }

    /// What an address means: the candidate that has it, or else what is written.
    static func identifier(
        _ written: String, isClassic: Bool, candidates: [AddressCandidate]
    ) throws(Failure) -> PeripheralIdentifier {
        let meant =
            isClassic
            ? [PeripheralIdentifier(written, defaultType: .classic)].compactMap(\.self)
            : PeripheralIdentifier.ofEitherType(written)
        guard let first = meant.first, (first.addressType == .classic) == isClassic else {
            throw Failure(
                problem: "'\(written)' is no address of such a headset.", consequence: "nothing was changed.",
                remedy: "write one such as C0:EE:60:00:02:01; `eegsync status` and `eegsync scan` name those in sight.",
                code: .usage)
        }
        let heard = meant.filter { identifier in candidates.contains { $0.identifier == identifier } }
        if let heard = heard.first { return heard }
        guard meant.count == 1 else {
            throw Failure(
                problem: "eegsync has not heard a headset at \(written), and so does not know the type of the address.",
                consequence: "nothing was changed.",
                remedy: "write it with /random or /public; `eegsync scan` shows it.", code: .noInput)
        }
        return first
    }
}

/// What a decision about an address led to.
struct AdoptionFacts: Facts {
    var headset: String
    /// With its type.
    var address: String
    /// The acquiring process; nil where none runs.
    var daemonPid: Int32?

    func lines(style: TerminalStyle) -> [String] {
        let sentence = "\(headset.printable) is at \(address) from now on; what was recorded stays as it is."
        if daemonPid != nil { return [sentence, "`eegsync status` shows whether it is found there."] }
        return [sentence, style.apply(.caution, to: "eegsync run does not run on this database.")]
    }
}
