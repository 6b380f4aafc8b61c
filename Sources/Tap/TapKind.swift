/// What a frame holds: the byte behind its length. Numbers are never used anew; a reader leaves out those it does not know.
enum TapKind: UInt8, CaseIterable {
    case hello = 1
    case headset = 2
    case stream = 3
    case state = 4
    case clock = 5
    case samples = 6
    case fill = 7
    case gap = 8
    case mark = 9
    case check = 10
    case battery = 11
    case impedance = 12
    case segment = 13
    case recording = 14
    case committed = 15
    case refused = 16

    init(_ content: TapContent) {
        self =
            switch content {
            case .hello: .hello
            case .headset: .headset
            case .stream: .stream
            case .state: .state
            case .clock: .clock
            case .samples: .samples
            case .fill: .fill
            case .gap: .gap
            case .mark: .mark
            case .check: .check
            case .battery: .battery
            case .impedance: .impedance
            case .segment: .segment
            case .recording: .recording
            case .committed: .committed
            case .refused: .refused
            }
    }
}

extension TapMessage {
    /// The bytes of a frame behind its length that every frame has: kind, 3 zero bytes, number, time.
    static let headerSize = 20
    /// The most bytes of a frame behind its length. The widest rows that gather between two iterations, 600,000 of 8 channels,
    /// are split below it.
    static let sizeMaximum = 1 << 20
}
