import Bluetooth
import Export
import Foundation

/// Markers of another program, from an LSL stream of them into the recordings that run, by a thread of its own.
final class LSLMarkers: Sendable {
    /// How long it is waited for an answer of liblsl at once.
    private static let waitSeconds = 2.0
    /// Elements of a marker beyond the first one are joined; more channels than so many are none of a marker.
    private static let channelMaximum = 32

    private let library: LSLLibrary
    /// What liblsl finds the stream by.
    private let predicate: String
    private let mark: @Sendable (String, MonotonicTime) -> Void
    private let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - stream: its name, or a predicate of liblsl such as `type='Markers'`.
    ///   - mark: writes a mark; called on the thread.
    ///   - log: says what has become of the stream.
    init(
        _ library: LSLLibrary, stream: String, mark: @escaping @Sendable (String, MonotonicTime) -> Void,
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.library, self.mark, self.log) = (library, mark, log)
        predicate = Self.predicate(stream)
    }

    /// A name is what holds no `=`. One with an apostrophe stands in quotation marks.
    static func predicate(_ stream: String) -> String {
        if stream.contains("=") { return stream }
        return stream.contains("'") ? "name=\"\(stream)\"" : "name='\(stream)'"
    }

    /// Takes markers as long as the process runs.
    func start() {
        let thread = Thread { @Sendable [self] in
            while true {
                guard let inlet = resolved() else { continue }
                follow(inlet)
            }
        }
        thread.name = "eegsync-markers"
        thread.start()
    }

    /// The stream, once there is one that is not this program's own; nil where there was none for a while.
    private func resolved() -> (inlet: OpaquePointer, channelCount: Int)? {
        var found = [OpaquePointer?](repeating: nil, count: 16)
        let count = predicate.withCString {
            library.resolve(&found, UInt32(found.count), $0, 1, Self.waitSeconds)
        }
        let infos = found.prefix(Int(max(0, count))).compactMap(\.self)
        defer { for info in infos { library.destroyInfo(info) } }
        let foreign = infos.first { info in
            let source = library.sourceID(info).map { String(cString: $0) } ?? ""
            return !source.hasPrefix(LSLHeader.sourcePrefix)
                && (1...Self.channelMaximum).contains(Int(library.channelCount(info)))
        }
        // With recovery: where its program dies and comes back, liblsl finds it again by its source_id.
        guard let foreign, let inlet = library.createInlet(foreign, 360, 0, 1) else { return nil }
        log("takes markers from \(library.infoName(foreign).map { String(cString: $0) } ?? predicate)")
        return (inlet, Int(library.channelCount(foreign)))
    }

    private func follow(_ stream: (inlet: OpaquePointer, channelCount: Int)) {
        defer { library.destroyInlet(stream.inlet) }
        var texts = [UnsafeMutablePointer<CChar>?](repeating: nil, count: stream.channelCount)
        var error: Int32 = 0
        var time = LSLMarkerTime()
        while true {
            let stamp = library.pullText(stream.inlet, &texts, Int32(texts.count), Self.waitSeconds, &error)
            let arrival = HostClock.now
            guard stamp != 0 else {
                // A time-out is none; what cannot be recovered is resolved anew.
                if error != 0, error != -1 { return log("the stream of markers is gone; looking for it") }
                continue
            }
            let text = texts.map { text in
                defer { if let text { library.destroyText(text) } }
                return text.map { String(cString: $0) } ?? ""
            }.filter { !$0.isEmpty }.joined(separator: " ")
            let correction = library.timeCorrection(stream.inlet, time.waitSeconds, &error)
            let instant = time.instant(
                of: stamp, correction: error == 0 ? correction : nil, clock: LSLClock(library), arrival: arrival)
            mark(text, instant)
        }
    }
}
