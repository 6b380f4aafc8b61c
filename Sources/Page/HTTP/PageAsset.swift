package import Foundation

/// A file of the page, embedded in the program: nothing comes from elsewhere.
package struct PageAsset: Sendable {
    /// The media type.
    package let type: String
    package let bytes: Data
    /// Changes with the content (RFC 9110, section 8.8.3).
    package let validator: String

    private init(_ type: String, _ bytes: [UInt8]) {
        self.type = type
        self.bytes = Data(bytes)
        // FNV-1a, 64 bits: distinguishes versions of a file, and nothing else depends on it.
        let hash = bytes.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        validator = "\"\(String(hash, radix: 16))\""
    }

    /// All of them, by path.
    package static let all: [String: PageAsset] = [
        "/": PageAsset("text/html; charset=utf-8", PackageResources.index_html),
        "/style.css": PageAsset("text/css; charset=utf-8", PackageResources.style_css),
        "/icon.svg": PageAsset("image/svg+xml", PackageResources.icon_svg),
        "/main.js": script(PackageResources.main_js),
        "/api.js": script(PackageResources.api_js),
        "/text.js": script(PackageResources.text_js),
        "/dom.js": script(PackageResources.dom_js),
        "/now.js": script(PackageResources.now_js),
        "/head.js": script(PackageResources.head_js),
        "/signals.js": script(PackageResources.signals_js),
        "/trace.js": script(PackageResources.trace_js),
        "/rows.js": script(PackageResources.rows_js),
        "/filter.js": script(PackageResources.filter_js),
        "/spectrum.js": script(PackageResources.spectrum_js),
        "/spectrumpanel.js": script(PackageResources.spectrumpanel_js),
        "/study.js": script(PackageResources.study_js),
        "/history.js": script(PackageResources.history_js),
        "/control.js": script(PackageResources.control_js),
        "/companion.js": script(PackageResources.companion_js),
        "/phone.js": script(PackageResources.phone_js),
    ]

    /// The document of "/" for who serves a study.
    package static let study: PageAsset = {
        let document = String(decoding: PackageResources.index_html, as: UTF8.self)
        return PageAsset(
            "text/html; charset=utf-8", Array(document.replacing("<body>", with: "<body data-pages=\"study\">").utf8))
    }()

    private static func script(_ bytes: [UInt8]) -> PageAsset { PageAsset("text/javascript; charset=utf-8", bytes) }

    /// The response that sends it.
    package var response: PageResponse { PageResponse(type: type, content: .bytes(bytes), validator: validator) }
}
