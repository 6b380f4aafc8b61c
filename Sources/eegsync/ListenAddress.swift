import Glibc

/// Where a server listens: an address in figures and a port, such as `127.0.0.1:9580` or `[::1]:9580`.
struct ListenAddress: Hashable {
    let host: String
    /// 0 for one of the kernel's choice.
    let port: UInt16

    /// - Returns: nil for what is none. Names are none: who listens where must not depend on a resolver.
    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
            return nil
        }
        var host = String(argument[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard isBracketed == host.contains(":") else { return nil }
        (self.host, self.port) = (host, port)
        guard let addresses = Self.resolved(self) else { return nil }
        freeaddrinfo(addresses)
    }

    /// True where only programs of this machine reach it.
    var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    /// A socket that listens there.
    ///
    /// - Parameter type: that of a stream, or of datagrams.
    /// - Throws: ``Failure`` where the kernel refuses.
    func listen(type: __socket_type = SOCK_STREAM) throws(Failure) -> Int32 {
        guard let addresses = Self.resolved(self, type: type) else { throw refused(EINVAL, type) }
        defer { freeaddrinfo(addresses) }
        let address = addresses.pointee
        let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw refused(errno, type) }
        var yes: Int32 = 1
        // After a restart the port of answers that are still on their way can be taken again. Of datagrams, two programs would
        // share a port then.
        if type == SOCK_STREAM {
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0,
            type != SOCK_STREAM || Glibc.listen(descriptor, 64) == 0
        else {
            let code = errno
            close(descriptor)
            throw refused(code, type)
        }
        return descriptor
    }

    /// The port of a socket.
    static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        // It stands at the same offset in the addresses of both versions.
        return isKnown ? UInt16(bigEndian: address.sin6_port) : 0
    }

    private static func resolved(
        _ address: ListenAddress, type: __socket_type = SOCK_STREAM
    ) -> UnsafeMutablePointer<addrinfo>? {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(type.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard !address.host.isEmpty, getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else { return nil }
        return found
    }

    private func refused(_ code: Int32, _ type: __socket_type) -> Failure {
        Failure(
            problem: "nobody can listen at \(host), port \(port): \(String(cString: strerror(code))).",
            consequence: "nothing was started.",
            remedy: code == EADDRINUSE
                ? "another program listens there (ss -\(type == SOCK_STREAM ? "lt" : "lu")np says which): choose another port."
                : "name an address of this machine, such as 127.0.0.1:9580.",
            code: code == EACCES ? .noPermission : .unavailable)
    }
}
