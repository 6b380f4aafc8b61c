import Bluetooth
import Headsets
import Reconnection
import Storage

/// Everything that dies with a link to a headset.
struct LinkSession {
    /// The profile, as the link's GATT database makes it.
    private(set) var profile: any HeadsetProfile
    /// From notifications to samples.
    var decoder: any HeadsetDecoder
    /// What the headset has said on this link that it sends, whatever the state was; nil where it said nothing.
    var announcedStreams: [StreamDescription]?
    /// Commands that are being sent; nil for none.
    var runner: CommandRunner?
    /// Notifications that are being asked for; nil for none.
    var subscription: Subscription?
    /// Nil while the headset does not stream.
    var streaming: StreamingSession?

    /// When the link was there; nil before the first one.
    var began: MonotonicTime?
    /// What the headset has said of what it is.
    var information = DeviceInformation()
    /// The firmware that was compared with the one of the link before.
    var announcedRevision: String?
    /// What it has said else.
    var messages = LinkMessages()
    /// The link as it was recorded last; nil where it was not yet.
    var recorded: LinkRecord?
    /// What was discovered on the link; nil where that is not known here, as on a link that was restored.
    var database: GATTDatabase?

    /// Characteristics whose notifications were asked for under one attempt.
    struct Subscription {
        var attempt: Attempt
        var waiting: [BluetoothUUID]
        var isControl: Bool
    }

    init(_ profile: any HeadsetProfile, began: MonotonicTime? = nil) {
        self.profile = profile
        self.began = began
        decoder = profile.makeDecoder()
    }

    /// False where the headset is known not to have the characteristic.
    func mayHave(_ characteristic: BluetoothUUID) -> Bool { database.map { $0[characteristic] != nil } ?? true }

    /// The link has ended, or was given up. What the decoder has learnt stays until the next one begins: notifications that
    /// are still under way are its own.
    mutating func end() {
        (runner, subscription, streaming) = (nil, nil, nil)
    }
}

/// What holds from the first sample that is expected on a link to the end of streaming.
struct StreamingSession {
    /// The link, with what the headset said of itself before.
    let link: Link
    /// What the profile says that it sends, where the recording has other streams and the headset has not yet shown which.
    var expectedStreams: [StreamDescription]?
    /// True until the first live sample.
    var awaitsFirstSample = true
    /// True where nothing has arrived for a while.
    var isSilent = false
    var impedance = ImpedanceProgress()

    init(_ link: Link) {
        self.link = link
    }
}

/// What a headset waits for.
enum HeadsetTimer: CaseIterable, Sendable {
    /// The connection machine's deadline.
    case machine
    /// A pause between two commands.
    case commands
    /// The silence of a streaming headset is noticed.
    case silence
    case keepAlive
    case statusQuery
    /// The samples of a new link have flowed for long enough to be paused.
    case impedanceSettling
    /// Nobody wants impedances any longer.
    case impedanceEnd
    /// A read of the headset's memory is asked again, or what is missing is looked at again.
    case memory
    /// It is asked how strong the link is.
    case linkQuality
    /// Counts of the connection's history are to be written.
    case history
    /// Counts of what the headset says are to be written.
    case messages

    /// Those that end with streaming.
    static let ofStreaming: [HeadsetTimer] = [
        .silence, .keepAlive, .statusQuery, .impedanceSettling, .impedanceEnd, .memory, .linkQuality,
    ]
}
