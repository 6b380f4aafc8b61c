import Bluetooth

/// What a phone may ask for: an opcode and a text.
enum PhoneCommand: Hashable {
    /// 1: record the headset of the name.
    case record(String)
    /// 2: stop to record the headset of the name.
    case stop(String)
    /// 3: mark the running recordings.
    case mark(String)

    /// The longest text of a mark, in bytes of UTF-8.
    static let markLengthMaximum = 200

    /// Reads a command. A phone is a stranger's program: nothing but names of headsets, and printable text, gets through.
    ///
    /// - Throws: what the phone is answered.
    init(decoding bytes: [UInt8]) throws(ATTError) {
        guard let opcode = bytes.first else { throw .invalidAttributeValueLength }
        guard let text = String(validating: bytes.dropFirst(), as: UTF8.self) else { throw .valueNotAllowed }
        switch opcode {
        case 1, 2:
            guard Configuration.isPlainName(text), !text.hasPrefix("-") else { throw .valueNotAllowed }
            self = opcode == 1 ? .record(text) : .stop(text)
        case 3:
            guard !text.isEmpty, text.utf8.count <= Self.markLengthMaximum, text == text.printable else {
                throw .valueNotAllowed
            }
            self = .mark(text)
        default: throw .requestNotSupported
        }
    }

    /// Its number.
    var opcode: UInt8 {
        switch self {
        case .record: 1
        case .stop: 2
        case .mark: 3
        }
    }

    /// What `eegsync` is run with.
    ///
    /// - Parameter time: when the phone has written it: a mark is of that instant, however long it waits for its turn, but of
    ///   the end of a start that it waits for.
    func arguments(at time: MonotonicTime) -> [String] {
        switch self {
        case .record(let name): ["record", "start", name]
        case .stop(let name): ["record", "stop", name]
        // Whatever it begins with, it is no option.
        case .mark(let text): ["mark", "--boottime", String(time.nanoseconds), "--", text]
        }
    }

    /// For the log.
    var words: String {
        switch self {
        case .record(let name): "record start \(name)"
        case .stop(let name): "record stop \(name)"
        case .mark(let text): "mark \(text)"
        }
    }
}
