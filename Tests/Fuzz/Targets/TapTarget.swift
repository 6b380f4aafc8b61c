import Bluetooth
import Tap

extension FuzzTarget {
    /// A first byte of 0: what follows is a frame without its length. Else pieces, as they come from a socket; where the byte
    /// is odd, behind a greeting.
    ///
    /// What is understood is understood the same when it is said again, and nothing is kept that no frame can need.
    static func tap(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let kind = input.byte()
        guard kind > 0 else { return rule(ofFrame: Array(bytes.dropFirst())) }
        var decoder = TapDecoder()
        var given = 0
        if kind & 1 == 1 {
            let hello = TapMessage(number: 0, at: .boot, content: .hello(TapHello(program: "", droppedReaders: 0)))
            decoder.append(hello.encoded()[...])
            given += hello.encoded().count
        }
        var count = 0
        while let piece = input.piece() {
            decoder.append(piece[...])
            given += piece.count
            do throws(TapError) {
                while try decoder.next() != nil { count += 1 }
            } catch {
                return nil
            }
            if decoder.waitingCount > given { return "\(decoder.waitingCount) bytes wait of \(given)" }
        }
        return count * 24 > given ? "\(count) messages in \(given) bytes" : nil
    }

    private static func rule(ofFrame bytes: [UInt8]) -> String? {
        guard let message = try? TapMessage(frame: bytes) else { return nil }
        let frame = Array(message.encoded().dropFirst(4))
        guard let again = try? TapMessage(frame: frame) else { return "cannot be read again: \(message)" }
        // Compared as bytes: a number may be none, which is not equal to itself.
        return again.encoded() == message.encoded() ? nil : "another message: \(message)"
    }
}
