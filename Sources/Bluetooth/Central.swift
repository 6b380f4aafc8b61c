/// The central role of one Bluetooth adapter, in Core Bluetooth's words: ``CentralRequest``s in, ``CentralEvent``s out.
///
/// Behind this protocol stand bluetoothd over D-Bus, the kernel's sockets for Low Energy and those for Bluetooth Classic, a
/// central that puts two of them together, and the simulation. One contract test suite, `Tests/CentralContract`, is for all of
/// them: every sentence here and at the requests is a case there.
///
/// No request blocks or throws. Each is answered with exactly one event that carries its `attempt`, or with none where the
/// system stays silent or the link ends meanwhile: callers have deadlines. Events come out of ``process(at:)``, in order, on
/// the same executor that makes the requests; a request never delivers an event before it returns.
public protocol Central: AnyObject {
    /// The adapter's state, as last reported by ``CentralEvent/didUpdateState(_:)``.
    var state: AdapterState { get }

    /// When ``process(at:)`` wants to be called next even if nothing arrives; nil for never.
    var deadline: MonotonicTime? { get }

    /// Takes what has happened since the last call.
    func process(at now: MonotonicTime) -> [CentralEvent]

    /// Takes a request.
    func request(_ request: CentralRequest)
}
