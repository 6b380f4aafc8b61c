/// What is wrong with bytes that should be frames of the tap. A reader that meets one must not go on: it cannot know where the
/// next frame begins.
package enum TapError: Error, Hashable, Sendable {
    /// A frame says that it is shorter than its header or longer than a frame can be.
    case length(bytes: Int)
    /// A field of a frame ends beyond the frame, or holds a value that it cannot have.
    case malformed(kind: UInt8)
    /// The daemon speaks another version of the format.
    case version(UInt16)
}

extension TapError: CustomStringConvertible {
    /// What is wrong, for people.
    package var description: String {
        switch self {
        case .length(let bytes): "a frame of \(bytes) bytes is none of the tap"
        case .malformed(let kind): "a frame of the kind \(kind) breaks the format of the tap"
        case .version(let version):
            "the daemon's tap has version \(version), this program reads version \(TapHello.version)"
        }
    }
}
