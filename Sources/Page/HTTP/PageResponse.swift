package import Foundation

/// What a browser is answered.
package struct PageResponse: Sendable {
    /// What follows the head.
    package enum Content: Sendable {
        case bytes(Data)
        /// A file, sent as it is, for the browser to save under a name.
        case file(path: String, name: String)
    }

    /// A status code of HTTP (RFC 9110, section 15).
    package var status: Int
    /// The media type, such as `application/json`.
    package var type: String
    package var content: Content
    /// The validator of an asset, by which a browser asks whether its copy is current; nil for what is never kept.
    package var validator: String?

    package init(status: Int = 200, type: String, content: Content, validator: String? = nil) {
        self.status = status
        self.type = type
        self.content = content
        self.validator = validator
    }

    /// A document of JSON.
    package static func json(_ document: Data, status: Int = 200) -> PageResponse {
        PageResponse(status: status, type: "application/json", content: .bytes(document))
    }

    /// Numbers to draw, as ``SignalFrame`` lays them out.
    package static func frame(_ bytes: Data) -> PageResponse {
        PageResponse(type: "application/octet-stream", content: .bytes(bytes))
    }

    /// Why there is nothing, in a sentence for a person, which the page shows.
    package static func problem(_ status: Int, _ sentence: String) -> PageResponse {
        // Strings encode whatever is in them.
        json((try? JSONEncoder().encode(["problem": sentence])) ?? Data("{}".utf8), status: status)
    }
}
