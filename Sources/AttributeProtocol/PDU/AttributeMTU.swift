/// ATT_MTU: the largest packet that both ends of a bearer can receive, in bytes (Core Specification, Vol 3, Part F, 3.2.8).
package struct AttributeMTU: Hashable, Sendable {
    /// The size in bytes, 23 ... 65,535.
    package let rawValue: Int

    /// What an LE bearer begins with (Vol 3, Part G, 5.2.1), and the least there is.
    package static let `default` = AttributeMTU(23)
    /// Holds the longest value in each packet, with room for a Prepare Write's header: 512 + 5.
    package static let largestUseful = AttributeMTU(517)
    /// The longest value of an attribute, in bytes (Part F, 3.2.9).
    package static let longestValue = 512

    /// Creates a size; what is less than 23 counts as 23, since no device may offer less (Part F, 3.4.2.1).
    package init(_ bytes: some BinaryInteger) {
        rawValue = max(23, Int(clamping: bytes))
    }

    /// What both ends use after an exchange: the lesser of the two (Part F, 3.4.2.2).
    package func agreed(with other: AttributeMTU) -> AttributeMTU {
        AttributeMTU(min(rawValue, other.rawValue))
    }

    /// How much of a value a Read Response or a Read Blob Response holds: without the opcode.
    package var readLimit: Int { rawValue - 1 }
    /// How much of a value a Write Request, a Write Command, a notification or an indication holds: without opcode and handle.
    package var writeLimit: Int { rawValue - 3 }
    /// How much of a value a Prepare Write Request holds: without opcode, handle and offset.
    package var prepareLimit: Int { rawValue - 5 }
    /// How much of a value an entry of Read By Type Response holds: its length is one byte (3.4.4.2).
    package var readByTypeLimit: Int { min(rawValue - 4, 253) }
    /// How much of a value an entry of Read By Group Type Response holds: its length is one byte (3.4.4.10).
    package var readByGroupTypeLimit: Int { min(rawValue - 6, 251) }
}
