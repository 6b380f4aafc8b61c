import CLinux
import Glibc

/// File descriptors that are watched together behind one (epoll(7)).
final class DescriptorSet {
    /// How many are reported at once; the others are reported at the next question.
    private static let capacity = 64

    /// Readable while one of the set is.
    let descriptor: Int32
    private var members = [Int32](repeating: -1, count: DescriptorSet.capacity)

    init() {
        descriptor = clinux_epoll()
        precondition(descriptor >= 0, "no file descriptor is left for the sockets of headsets")
    }

    deinit { close(descriptor) }

    /// Adds a descriptor.
    func insert(_ member: Int32) {
        _ = clinux_epoll_insert(descriptor, member)
    }

    /// Takes a descriptor out; to be called before it is closed. Nothing happens where it is not in the set.
    func remove(_ member: Int32) {
        _ = clinux_epoll_remove(descriptor, member)
    }

    /// The descriptors that can be read now, or have ended.
    func ready() -> ArraySlice<Int32> {
        let count = clinux_epoll_ready(descriptor, &members, Int32(Self.capacity))
        return count > 0 ? members[..<Int(count)] : []
    }
}
