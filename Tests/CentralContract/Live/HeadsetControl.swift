import Glibc

/// What can be done to a headset of the lab, over the socket of its process: a line of words in, a line of JSON out.
struct HeadsetControl {
    /// The socket's path.
    let path: String
    /// The headset's name.
    let headset: String

    /// Sends a command: its first word, the headset's name, the other words. Returns what went wrong; nil for nothing.
    func command(_ words: [String]) -> String? {
        let line = (words.prefix(1) + [headset] + words.dropFirst()).joined(separator: " ")
        guard let answer = converse(line) else { return "\(line): \(path): \(String(cString: strerror(errno)))" }
        return answer.contains("\"ok\": true") ? nil : "\(line): \(answer)"
    }

    private func converse(_ line: String) -> String? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard connect(descriptor) else { return nil }
        let bytes = Array((line + "\n").utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return nil }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while answer.last != UInt8(ascii: "\n") {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    private func connect(_ descriptor: Int32) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            guard bytes.count < buffer.count else { return false }
            buffer.copyBytes(from: bytes)
            return true
        }
        guard fits else { return false }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
