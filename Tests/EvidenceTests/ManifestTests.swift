import Evidence
import Foundation
import Testing

@Suite("A manifest")
struct ManifestTests {
    private let key = SigningKey()
    private let statement = Manifest.Statement(
        made: "2026-03-01T10:00:00Z", version: "1", recording: 3, headset: "left", model: "muse",
        streams: [
            Manifest.Stream(
                uuid: "u", name: "eeg", bank: 0, firstN: 0, lastN: 9, rows: 8, missing: 2,
                chains: ["live": Manifest.End(block: 1, rows: 8, digest: "ab")], facts: ["gap": "cd"])
        ])

    @Test("is read back as it was signed")
    func roundTrip() throws {
        let manifest = try Manifest(statement, with: key)
        #expect(manifest.text.split(separator: "\n").count == 2)
        #expect(try Manifest(text: manifest.text) == manifest)
        #expect(manifest.publicKey == key.publicKey)
    }

    @Test("that was changed by a letter, or signed by another key in its name, is refused")
    func forged() throws {
        let text = try Manifest(statement, with: key).text
        #expect(throws: Manifest.Failure.wrongSignature) { try Manifest(text: text.replacing("left", with: "lift")) }
        #expect(throws: Manifest.Failure.wrongSignature) {
            try Manifest(text: text.replacing(key.publicKey, with: SigningKey().publicKey))
        }
        for other in ["", "{}\n{}\n", text + text, text.replacing("manifest 1", with: "manifest 2")] {
            #expect(throws: Manifest.Failure.noManifest) { try Manifest(text: other) }
        }
    }

    /// RFC 8032, 7.1, test 2.
    @Test("is signed with Ed25519")
    func vector() throws {
        let secret = Data([
            0x4C, 0xCD, 0x08, 0x9B, 0x28, 0xFF, 0x96, 0xDA, 0x9D, 0xB6, 0xC3, 0x46, 0xEC, 0x11, 0x4E, 0x0F, 0x5B, 0x8A, 0x31,
            0x9F, 0x35, 0xAB, 0xA6, 0x24, 0xDA, 0x8C, 0xF6, 0xED, 0x4F, 0xB8, 0xA6, 0xFB,
        ])
        let key = try #require(SigningKey(rawRepresentation: secret))
        let bytes = try #require(Data(base64Encoded: key.publicKey))
        #expect(Array(bytes.prefix(4)) == [0x3D, 0x40, 0x17, 0xC3])
        #expect(SigningKey(rawRepresentation: Data([1])) == nil)
    }
}
