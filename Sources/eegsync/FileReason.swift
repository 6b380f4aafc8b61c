import Foundation
import Glibc

/// Why a file could not be read, in words that complete "cannot be read: ...".
struct FileReason: Error, Hashable {
    var words: String

    /// A reason in words.
    init(_ words: String) {
        self.words = words
    }

    /// The system's words for an error of Foundation's file functions, such as `No such file or directory`.
    init(_ error: any Error) {
        if let reason = error as? FileReason {
            self = reason
            return
        }
        words =
            switch (error as? CocoaError)?.code {
            case .fileNoSuchFile, .fileReadNoSuchFile: String(cString: strerror(ENOENT))
            case .fileReadNoPermission, .fileWriteNoPermission: String(cString: strerror(EACCES))
            default: Self.words(of: error as NSError)
            }
    }

    private static func words(of error: NSError) -> String {
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return underlying.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(underlying.code))) : error.localizedDescription
    }
}
