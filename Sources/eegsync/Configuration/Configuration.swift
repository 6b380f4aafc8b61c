import Bluetooth
import Headsets
import Reconnection

/// What a person configures: the database, the headsets, the central, limits and the log level.
///
/// Two equal configurations run the same daemon; a reload with an equal one changes nothing.
struct Configuration: Hashable, Sendable {
    /// Where the file is looked for when nobody says otherwise.
    static let defaultPath = "/etc/eegsync/eegsync.yaml"

    /// Path of the SQLite database; absolute.
    var databasePath: String
    /// The headsets that may be recorded, in the order of the file; names are unique.
    var headsets: [Headset]
    /// The central that reaches them.
    var central = Central.automatic(BlueZ(), Kernel())
    /// Bounds of the daemon.
    var limits = Limits()
    /// What is done about an address that nothing proves to be a headset's, where the headset does not say otherwise.
    var adoption = Adoption()
    /// From which level on lines are logged.
    var logLevel = LogLevel.info
    /// Who is notified of what; nil where nobody is.
    var alerts: Alerts?
    /// What is wrong with the alerts, which are not used then; nil where nothing is. Recordings go on: only what concerns
    /// alerts refuses the file for it.
    var alertsError: ConfigurationError?
    /// Which recordings go by themselves; nil where none do.
    var retention: Retention?
    /// Where what is recorded is sent; nil where `eegsync ship` is to be given an address.
    var ship: Ship?
    /// How the page is served.
    var serve = Serve()
    /// Streams of Lab Streaming Layer from which `eegsync lsl` takes markers, as names or predicates of liblsl.
    var lslMarkers: [String] = []
    /// Where `eegsync markers` takes markers; nil where the command line says so.
    var markers: Markers?

    /// One headset that may be recorded.
    struct Headset: Hashable, Sendable {
        /// The name that people write in commands.
        var name: String
        /// The identifier of the model's profile.
        var model: String
        /// Addresses under which the headset is known to a person; usually empty, the daemon finds and keeps them itself.
        var identifiers: [PeripheralIdentifier] = []
        /// The serial number that proves the headset's identity; nil accepts the only one of the model in sight and keeps
        /// to it.
        var serialNumber: String?
        /// What is done about an address that nothing proves to be its own; nil for what the configuration says of all.
        var adoption: Adoption.Policy?
        /// Services by which it advertises in pairing mode, beyond those that eegsync knows of its model.
        var pairingServices: [BluetoothUUID] = []
        /// The passkey that it asks for when it is paired, 0 ... 999,999; nil where it asks for none.
        var passkey: UInt32?
        /// Where it stands instead; nil for nowhere. See ``PasskeyFile``.
        var passkeyFile: String?
        /// Names for its EEG channels; nil for the profile's own.
        var montage: Montage?
        /// What describes the model; nil for a built-in one.
        var descriptor: HeadsetDescriptor?
        /// What the headset is set to send, one of the presets of its profile; nil for its usual one.
        var preset: String?
        /// What a person sets about the headset, of the settings of its profile.
        var settings = HeadsetSettings()
        /// Where the reference electrode is, in a person's words.
        var reference: String?
        /// Where the ground electrode is, in a person's words.
        var ground: String?
    }

    /// What stands behind the `Central` protocol.
    enum Central: Hashable, Sendable {
        /// Whatever this machine has: bluetoothd where it runs when eegsync starts, the kernel's own sockets elsewhere.
        case automatic(BlueZ, Kernel)
        /// bluetoothd, over D-Bus.
        case bluez(BlueZ)
        /// The kernel's own sockets, without bluetoothd.
        case kernel(Kernel)
        /// A simulated radio.
        case simulation(Simulation)

        /// Whether links go through this machine's radio.
        var usesRadio: Bool {
            if case .simulation = self { false } else { true }
        }

        /// The adapter that a person has named; nil for none.
        var adapterName: String? {
            switch self {
            case .automatic(let bluez, _), .bluez(let bluez): bluez.adapter
            case .kernel(let kernel): kernel.adapter
            case .simulation: nil
            }
        }

        /// The word that the configuration has for it.
        var kind: String {
            switch self {
            case .automatic: "auto"
            case .bluez: "bluez"
            case .kernel: "kernel"
            case .simulation: "simulation"
            }
        }
    }

    /// The way to bluetoothd.
    struct BlueZ: Hashable, Sendable {
        /// The adapter's name or address; nil for the first that is switched on.
        var adapter: String?
        /// Addresses of headsets on which AcquireNotify does not work.
        var startNotify: [PeripheralIdentifier] = []
        /// Whether a radio that hangs is switched off and on again.
        var recoversAdapter = false
        /// Whether headsets that have lost their keys are paired anew.
        var repairing = Repairing.always
    }

    /// The way to the kernel's sockets.
    struct Kernel: Hashable, Sendable {
        /// The adapter's name or address; nil for the first that is switched on.
        var adapter: String?
        /// Whether an adapter that is off when it appears is switched on, for machines where nobody else does it.
        var powersOn = false
        /// Whether headsets that have lost their keys are paired anew.
        var repairing = Repairing.always
    }

    /// What becomes of a headset that was paired and has lost its keys, or says so.
    enum Repairing: String, Hashable, Sendable, CaseIterable {
        /// It is paired anew. A headset that was reset is recorded again within seconds, at three in the morning, too; pairings
        /// without a passkey never proved who is at the other end, and the serial number is compared all the same.
        case always
        /// It waits for a person, who removes the old pairing or allows a new one: whoever answers under its address and has no
        /// keys gets none, and so neither commands nor a stream in the recording.
        case never
    }

    /// A simulated radio with headsets on it.
    struct Simulation: Hashable, Sendable {
        /// The number that the whole simulation follows from.
        var seed: UInt64 = 1
        /// The headsets within reach, in the order of the file; names are unique.
        var headsets: [SimulatedHeadset]
    }

    /// One headset of the simulated radio.
    struct SimulatedHeadset: Hashable, Sendable {
        /// The local name that it advertises.
        var name: String
        /// The identifier of its model's profile.
        var model: String
        /// The serial number that it answers with; nil for one made from the seed.
        var serialNumber: String?
    }

    /// Bounds of the daemon.
    struct Limits: Hashable, Sendable {
        /// The time between two commits, 0.05 ... 60 s. What is not committed yet is put into the spool each second, so that a
        /// crash costs a second at most, of headsets that do not have it still.
        var commitInterval = Duration.seconds(10)
        /// How often the spool is filled.
        static let spoolInterval = Duration.seconds(1)
        /// True where commits are rarer than the spool would be filled.
        var usesSpool: Bool { commitInterval > Self.spoolInterval }
        /// How many rows are held in memory while the database cannot be written, 1,000 ... 10,000,000; beyond it they are
        /// dropped and ledgered. The default is 20 minutes of 250 Hz.
        var bufferRows = 300_000
        /// SQLite's `synchronous`.
        var synchronous = Synchronous.normal
        /// How long the history of connections is kept, 1 ... 36,500 days; nil (0 in the file) for ever.
        var historyAge: Duration? = .seconds(90 * 86_400)
    }

    /// SQLite's `synchronous` in WAL mode.
    enum Synchronous: String, Hashable, Sendable, CaseIterable {
        /// A power cut may take the commits since the last checkpoint; a crash of the process takes none.
        case normal
        /// A power cut takes nothing that was committed.
        case full
    }

    /// Levels of log lines, least severe first.
    enum LogLevel: String, Hashable, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }
}

extension Configuration {
    /// What a headset may newly be called, in words. A number and `latest` are a recording where a command takes either, a '-'
    /// begins an option, and the name is a part of the names of files. Who has called one so already goes on: a daemon that
    /// does not start after an upgrade would be the worse evil.
    static let headsetNameRule =
        "1 ... 64 letters, digits, '-', '_' or '.'; no number, not 'latest', '.' or '..', and no '-' at the beginning"

    /// True for what ``headsetNameRule`` says.
    static func isHeadsetName(_ name: String) -> Bool {
        isPlainName(name) && !name.hasPrefix("-") && !["latest", ".", ".."].contains(name)
            && !name.unicodeScalars.allSatisfy { ("0"..."9").contains($0) }
    }

    /// True for 1 ... 64 letters, digits, '-', '_' or '.'.
    static func isPlainName(_ name: String) -> Bool {
        (1...64).contains(name.unicodeScalars.count)
            && name.unicodeScalars.allSatisfy {
                switch $0 {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: false
                }
            }
    }

    /// The models that are part of the program.
    static let knownModels = HeadsetCatalog.builtIn.models
}
