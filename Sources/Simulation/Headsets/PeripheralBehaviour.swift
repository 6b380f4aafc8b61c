import Bluetooth

/// What a headset does behind its GATT database: the firmware, so to speak. Times are virtual nanoseconds.
///
/// A behaviour sends through ``SimulatedHeadset/notify(_:from:)`` and asks for its next turn by what ``tick(at:)`` returns.
protocol PeripheralBehaviour: AnyObject {
    /// The characteristics that the headset shows now; nil for those of its specification.
    var database: GATTDatabase? { get }
    /// True while the headset sends samples to whoever has subscribed.
    var isStreaming: Bool { get }
    /// The headset powers up or restarts: memory is empty.
    func boot(at time: Int64)
    /// The headset stops for good or restarts; called before ``boot(at:)`` except the first time.
    func shutDown(at time: Int64)
    /// The headset falls into low power; false where the model has none.
    func sleep(at time: Int64) -> Bool
    /// The link came, went, or its subscriptions changed.
    func linkChanged(at time: Int64)
    /// A write arrived; nil for success.
    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError?
    /// A read arrived; nil where the headset in general answers it.
    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]?
    /// The headset's timer fired: sends what is due.
    ///
    /// - Returns: when to be called next; nil for not before something else happens.
    func tick(at time: Int64) -> Int64?
}

extension PeripheralBehaviour {
    var database: GATTDatabase? { nil }
    var isStreaming: Bool { true }
    func shutDown(at time: Int64) {}
    func sleep(at time: Int64) -> Bool { false }
    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? { .writeNotPermitted }
    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]? { nil }
}
