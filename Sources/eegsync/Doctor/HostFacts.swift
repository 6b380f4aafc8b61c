import Bluetooth
import BluetoothManagement
import Storage

/// What `eegsync doctor` looks at, as it was found: values only, so that the rules can be tested with any machine.
struct HostFacts: Hashable {
    var configuration = ConfigurationFile.absent(path: Configuration.defaultPath)
    /// Why nobody is notified of anything although the configuration wants it; nil where that is not so.
    var alertsProblem: String?
    /// The way to the headsets; nil where there is no configuration that says it.
    var choice: CentralChoice?
    var bluetooth = Bluetooth()
    /// The version of the kernel; nil where it does not say.
    var kernel: SoftwareVersion?
    var bluetoothd = Bluetoothd()
    var privilege = Privilege()
    var clock = Clock()
    var database: Database?
    var service = Service()
    var headsets: [Headset] = []
    /// Configured headsets of Low Energy some of whose notifications bear no count, by name.
    var uncountedHeadsets: [String] = []

    /// The file, and what became of it.
    enum ConfigurationFile: Hashable {
        case absent(path: String)
        /// With all complaints.
        case wrong(path: String, problems: [String])
        /// With whether passkeys stand in it that others than its owner and group can read.
        case valid(path: String, central: String, showsPasskeys: Bool = false)
    }

    /// The kernel's half of Bluetooth.
    struct Bluetooth: Hashable {
        /// Why the kernel's management channel cannot be opened; nil where it can.
        var managementError: String?
        var adapters: [Adapter] = []
    }

    /// One adapter.
    struct Adapter: Hashable {
        /// Such as `hci0`.
        var name: String
        var address: String?
        /// The version of Bluetooth, by number; nil where the kernel does not say.
        var bluetoothVersion: UInt8?
        var isPowered: Bool?
        var hasLowEnergy: Bool?
        var block = RadioBlock.none
        /// The eegsync that has it; nil where none does.
        var holder: Int32?
        /// What the kernel uses for a device that nobody has said anything about.
        var defaultParameters: ConnectionParameters?
    }

    /// Whether the radio may be used (rfkill).
    enum RadioBlock: Hashable {
        case none
        /// By a command or a desktop's airplane mode.
        case soft
        /// By a switch of the machine.
        case hard
    }

    /// bluetoothd, and the way to it.
    struct Bluetoothd: Hashable {
        var bus = Bus.reachable
        /// Its process; nil where it does not run.
        var pid: Int32?
        /// Such as `5.66`; nil where it is not installed, or does not say.
        var version: String?
        var isInstalled = false
    }

    /// The system bus.
    enum Bus: Hashable {
        case reachable
        /// There is none.
        case unreachable(reason: String)
        /// It is there, but bluetoothd does not answer on it.
        case silent(reason: String)
        /// It is there, but bluetoothd may not be spoken to.
        case denied(reason: String)
    }

    /// Who may load connection parameters.
    struct Privilege: Hashable {
        /// Whether the daemon has CAP_NET_ADMIN; nil where it does not run and systemd does not know it either.
        var daemonMayLoadParameters: Bool?
        /// Whether this process has it.
        var thisProcessMay = false
    }

    /// The wall clock.
    struct Clock: Hashable {
        /// Nil where the kernel does not say.
        var isSynchronised: Bool?
        /// True where the machine has a clock that runs while it is off.
        var hasBatteryClock = false
    }

    /// Where the database is, or will be.
    struct Database: Hashable {
        var path: String
        var exists = false
        var isDirectoryThere = true
        /// Whether this user may write it.
        var isWritable = true
        /// True where the group of its directory may write it.
        var isWrittenByGroup = false
        /// What is wrong with a file that is there; nil for nothing.
        var openingError: String?
        /// Why there is none at the path although a process records; nil where that is not so.
        var lost: StorageSituation?
        var bytes: Int64 = 0
        /// Nil while the write-ahead log is within its bound.
        var grownLog: GrownLog?
        var freeBytes: Int64?
        /// What of the disk is kept free.
        var reservedBytes: Int64 = 0
        var medium = Medium()
        /// What is written to its disk; nil where that is not known.
        var wear: DiskWear?
        /// That it came from another machine, and nobody has said how; nil where that is not so.
        var machine: MachineSituation?
        /// Whether what is wanted is stored; nil where nothing streams.
        var storing: Storing?
        /// Rows a second while every configured headset streams, and bytes of a row; both nominal.
        var rowsPerSecond = 0.0
        var bytesPerRow = RowSize.standardBytes
    }

    /// Whether the daemon stores what it should.
    enum Storing: Hashable {
        case isStored(newestRowSeconds: Double)
        case not(StorageSituation)
    }

    /// What the database lies on.
    struct Medium: Hashable {
        /// The kernel's name of the disk, such as `mmcblk0`; nil where there is none.
        var disk: String?
        /// What the medium calls itself.
        var model: String?
        var kind = Kind.disk
        /// Such as `ext4`.
        var fileSystem: String?
        var isReadOnly = false

        enum Kind: String, Hashable {
            case disk, sdCard, eMMC
        }
    }

    /// The unit of the service manager.
    struct Service: Hashable {
        var hasSystemd = false
        /// systemd's LoadState, ActiveState, UnitFileState; nil where it was not asked.
        var load: String?
        var active: String?
        var enabled: String?
        /// Zero for no watchdog.
        var watchdogSeconds = 0.0
        /// Whether systemd knows how much memory the running unit takes, without which MemoryMax= has no effect; nil where it
        /// does not run.
        var isMemoryCounted: Bool?
        /// The pid of whatever acquires into the database; nil for none.
        var daemonPid: Int32?
    }

    /// A headset that is known by address.
    struct Headset: Hashable {
        var name: String
        /// True where it is connected to this machine just now.
        var isConnected = false
        /// True where the daemon says that it holds it.
        var isHeldByDaemon = false
        /// What breaks which rule, and what a person can do, where the daemon has let it go for that; nil where it has not.
        var quarantine: Quarantine?
        /// What is wrong with the times of a headset that streams; nil where it does not.
        var timeWarnings: [TimeSituation.Warning]?
    }

    /// Why a headset was let go until a person looks.
    struct Quarantine: Hashable {
        /// Completes "left ...".
        var sentence: String
        var remedy: String
    }
}
