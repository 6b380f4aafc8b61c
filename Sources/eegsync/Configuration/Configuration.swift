import Bluetooth
import Headsets

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
    /// From which level on lines are logged.
    var logLevel = LogLevel.info

    /// One headset that may be recorded.
    struct Headset: Hashable, Sendable {
        /// The name that people write in commands.
        var name: String
        /// The identifier of the model's profile.
        var model: String
        /// Addresses under which the headset is known to a person; usually empty, the daemon finds and keeps them itself.
        var identifiers: [PeripheralIdentifier] = []
        /// The serial number that proves the headset's identity; nil accepts the first headset of the model and keeps to it.
        var serialNumber: String?
        /// The passkey that it asks for when it is paired, 0 ... 999,999; nil where it asks for none.
        var passkey: UInt32?
        /// Names for its EEG channels; nil for the profile's own.
        var montage: Montage?
        /// What describes the model; nil for a built-in one.
        var descriptor: HeadsetDescriptor?
        /// What the headset is told to send, one of the presets of its profile; nil for its usual one.
        var preset: String?
        /// What a person sets about the headset, of the settings of its profile.
        var settings = HeadsetSettings()
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
    }

    /// The way to the kernel's sockets.
    struct Kernel: Hashable, Sendable {
        /// The adapter's name or address; nil for the first that is switched on.
        var adapter: String?
        /// Whether an adapter that is off when it appears is switched on, for machines where nobody else does it.
        var powersOn = false
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
        /// The time between two commits, 0.05 ... 60 s. What is not committed is lost on a crash, unless the headset still
        /// has it.
        var commitInterval = Duration.seconds(1)
        /// How many rows are held in memory while the database cannot be written, 1,000 ... 10,000,000; beyond it they are
        /// dropped and ledgered. The default is 20 minutes of 250 Hz.
        var bufferRows = 300_000
        /// SQLite's `synchronous`.
        var synchronous = Synchronous.normal
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
    /// The models that are part of the program.
    static let knownModels = HeadsetCatalog.builtIn.models
}
