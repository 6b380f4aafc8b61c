import ArgumentParser
import CLinux
import Glibc

/// What commands print for people and programs.
enum StandardOutput {
    /// Writes what is still held back of it.
    ///
    /// Where nobody reads it any more, or it was closed from the beginning, nobody misses anything.
    ///
    /// - Throws: ``Failure`` where not everything could be written, such as on a full disk.
    static func finish() throws(Failure) {
        let result = clinux_flush_output()
        if result != 0, !isUnread(result) { throw failure(result) }
    }

    /// Writes what a command has printed by now that goes on until somebody ends it.
    ///
    /// - Throws: as ``finish()``; success where nobody reads it any more: such a command does nothing else.
    static func flush() throws {
        let result = clinux_flush_output()
        if result != 0 { throw isUnread(result) ? ExitCode.success : failure(result) as any Error }
    }

    private static func isUnread(_ result: Int32) -> Bool { [-EBADF, -EPIPE].contains(result) }

    private static func failure(_ result: Int32) -> Failure {
        Failure(
            problem: "standard output could not be written: \(String(cString: strerror(-result))).",
            consequence: "what the command prints is lost, or is there in part; what it did otherwise stays done.",
            remedy: "make room where the output goes, then run the command again.", code: .ioError)
    }
}
