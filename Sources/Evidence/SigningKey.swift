import Crypto
package import Foundation

/// A key of Ed25519 (RFC 8032) with which a machine signs manifests.
package struct SigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// A new key, from the system's randomness.
    package init() {
        key = Curve25519.Signing.PrivateKey()
    }

    /// A key that was stored: 32 bytes; nil for anything else.
    package init?(rawRepresentation: Data) {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: rawRepresentation) else { return nil }
        self.key = key
    }

    /// What to store; secret.
    package var rawRepresentation: Data { key.rawRepresentation }

    /// What anybody may know, 32 bytes in Base64.
    package var publicKey: String { key.publicKey.rawRepresentation.base64EncodedString() }

    /// Signs bytes: 64 bytes in Base64.
    package func signature(of bytes: Data) throws -> String {
        try key.signature(for: bytes).base64EncodedString()
    }

    /// Whether a signature of these bytes was made with the key whose public half this is. False for whatever is none.
    package static func isValid(signature: String, of bytes: Data, publicKey: String) -> Bool {
        guard let raw = Data(base64Encoded: publicKey), let signature = Data(base64Encoded: signature),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: raw)
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}
