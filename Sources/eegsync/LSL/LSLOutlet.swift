import Foundation

/// One stream that liblsl offers on the network. Used by one thread; it goes when this is let go.
final class LSLOutlet {
    /// How many seconds of samples an inlet may be behind, or hundreds of samples where there is no rate: liblsl's own default.
    private static let bufferLength: Int32 = 360

    private let library: LSLLibrary
    private let outlet: OpaquePointer
    private let channelCount: Int
    private let isDouble: Bool

    /// - Parameter header: the XML of the stream.
    init(_ library: LSLLibrary, header: String, channelCount: Int, isDouble: Bool) throws(LSLError) {
        guard let info = header.withCString(library.infoFromXML) else { throw .outlet(name: header) }
        defer { library.destroyInfo(info) }
        // A header that liblsl cannot read has no channels.
        guard library.channelCount(info) == Int32(channelCount),
            let outlet = library.createOutlet(info, 0, Self.bufferLength)
        else { throw .outlet(name: library.infoName(info).map { String(cString: $0) } ?? "") }
        self.library = library
        self.outlet = outlet
        self.channelCount = channelCount
        self.isDouble = isDouble
    }

    deinit { library.destroyOutlet(outlet) }

    /// Sends samples, each with its stamp; values row after row.
    func push(_ values: [Double], stamps: [Double]) {
        guard !stamps.isEmpty, values.count == stamps.count * channelCount else { return }
        if isDouble {
            _ = library.pushDoubles(outlet, values, UInt(values.count), stamps, 1)
        } else {
            _ = library.pushFloats(outlet, values.map { Float($0) }, UInt(values.count), stamps, 1)
        }
    }

    /// Sends a text.
    func push(_ text: String, stamp: Double) {
        text.withCString { text in
            var parts: [UnsafePointer<CChar>?] = [text]
            _ = library.pushText(outlet, &parts, stamp, 1)
        }
    }
}
