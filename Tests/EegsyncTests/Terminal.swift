import Foundation
import Glibc

/// A terminal for a program under test.
final class Terminal {
    let slave: FileHandle
    private let master: Int32

    struct CannotOpen: Error {}

    /// TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which Swift does not import; nor does it posix_openpt(3).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw CannotOpen()
        }
        let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CannotOpen() }
        slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit { close(master) }

    /// What is shown, until it is enough; less where nothing comes for 30 s, far more than a picture takes.
    func read(until isEnough: (String) -> Bool) -> String {
        var shown = ""
        while !isEnough(shown) {
            var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 30_000) == 1 else { break }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = Glibc.read(master, &chunk, chunk.count)
            guard count > 0 else { break }
            shown += String(decoding: chunk[..<count], as: UTF8.self)
        }
        return shown
    }
}
