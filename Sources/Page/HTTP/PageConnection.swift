import Foundation
package import NIOCore
import NIOHTTP1

/// One browser's connection: requests in, responses out, one after the other.
package struct PageConnection: Sendable {
    private typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// How much of a file is in memory at a time.
    private static let chunkBytes = 65_536

    private let channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    private let policy: RequestPolicy
    private let respond: PageServer.Respond

    init(_ channel: any Channel, policy: RequestPolicy, respond: @escaping PageServer.Respond) throws {
        self.channel = try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        self.policy = policy
        self.respond = respond
    }

    /// What stands between bytes and the parts of HTTP that are read and written here: limits, and SwiftNIO's parser.
    static func configure(_ channel: any Channel, bounds: ConnectionLimits.Bounds) throws {
        try channel.pipeline.syncOperations.addHandler(ConnectionLimits(bounds))
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
        try channel.pipeline.syncOperations.addHandler(MalformedRequests())
    }

    /// The same with the page's own bounds.
    package static func configure(_ channel: any Channel) throws {
        try configure(channel, bounds: ConnectionLimits.Bounds())
    }

    /// Answers until either side ends the connection. What goes wrong on it ends it, and nothing else.
    func run() async {
        do {
            try await channel.executeThenClose { inbound, outbound in
                // Bounded by ConnectionLimits.
                var reader = RequestReader(policy: policy)
                for try await part in inbound {
                    guard let exchange = reader.read(part) else { continue }
                    switch exchange.asked {
                    case .refused(let response): try await send(response, exchange, outbound)
                    case .request(let request): try await send(await respond(request), exchange, outbound)
                    }
                    guard exchange.keepsConnection else { break }
                }
            }
        } catch {
            // Nobody is left to say it to: the connection is closed.
        }
    }

    private func send(_ response: PageResponse, _ exchange: PageExchange, _ outbound: Writer) async throws {
        switch response.content {
        case .bytes(let bytes): try await outbound.write(contentsOf: exchange.parts(of: response, bytes))
        case .file(let path, _):
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            var left = Int(try file.seekToEnd())
            try file.seek(toOffset: 0)
            try await outbound.write(.head(exchange.head(of: response, byteCount: left)))
            while left > 0, let chunk = try file.read(upToCount: min(left, Self.chunkBytes)), !chunk.isEmpty {
                left -= chunk.count
                try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: chunk))))
            }
            // A file that has become shorter: what is missing cannot be sent, and the browser must notice.
            guard left == 0 else { throw CocoaError(.fileReadUnknown) }
            try await outbound.write(.end(nil))
        }
    }
}
