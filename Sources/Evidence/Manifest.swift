import Foundation

/// What a recording was at an instant, signed, so that a copy can be compared with it: a text of two lines of JSON, the
/// statement and the signature of the first line's bytes.
package struct Manifest: Hashable, Sendable {
    /// The first line.
    package struct Statement: Codable, Hashable, Sendable {
        /// The format's name and version.
        package var format = Manifest.format
        /// When it was made, ISO 8601 in UTC.
        package var made: String
        /// The version of eegsync that made it.
        package var version: String
        package var recording: Int64
        package var headset: String
        package var model: String
        /// By UUID.
        package var streams: [Stream]

        package init(
            made: String, version: String, recording: Int64, headset: String, model: String, streams: [Stream]
        ) {
            (self.made, self.version, self.recording) = (made, version, recording)
            (self.headset, self.model, self.streams) = (headset, model, streams)
        }
    }

    /// One stream.
    package struct Stream: Codable, Hashable, Sendable {
        package var uuid: String
        package var name: String
        package var bank: Int
        /// First and last n that a row or a gap covers; nil where there is none.
        package var firstN: Int64?
        package var lastN: Int64?
        package var rows: Int64
        package var missing: Int64
        /// By chain, where it ended.
        package var chains: [String: End]
        /// By table, the sum of the digests of the rows that say what the stream's samples mean, in hexadecimal.
        package var facts: [String: String]

        package init(
            uuid: String, name: String, bank: Int, firstN: Int64?, lastN: Int64?, rows: Int64, missing: Int64,
            chains: [String: End], facts: [String: String]
        ) {
            (self.uuid, self.name, self.bank, self.firstN, self.lastN) = (uuid, name, bank, firstN, lastN)
            (self.rows, self.missing, self.chains, self.facts) = (rows, missing, chains, facts)
        }
    }

    /// The last block of a chain.
    package struct End: Codable, Hashable, Sendable {
        package var block: Int
        package var rows: Int
        /// In hexadecimal.
        package var digest: String

        package init(block: Int, rows: Int, digest: String) {
            (self.block, self.rows, self.digest) = (block, rows, digest)
        }
    }

    /// The second line.
    private struct Signature: Codable {
        var publicKey: String
        var signature: String
    }

    package static let format = "eegsync manifest 1"

    package let statement: Statement
    /// The key that it is signed with, in Base64.
    package let publicKey: String
    /// Both lines.
    package let text: String

    /// Signs a statement.
    package init(_ statement: Statement, with key: SigningKey) throws {
        let line = try Self.encoder.encode(statement)
        publicKey = key.publicKey
        let signature = Signature(publicKey: publicKey, signature: try key.signature(of: line))
        self.statement = statement
        text =
            String(decoding: line, as: UTF8.self) + "\n" + String(decoding: try Self.encoder.encode(signature), as: UTF8.self)
            + "\n"
    }

    /// Why a text is no manifest.
    package enum Failure: Error, Hashable, Sendable {
        /// These are not the two lines, or of a later version.
        case noManifest
        /// The signature is not one of the first line.
        case wrongSignature
    }

    /// Reads a manifest, and checks that its signature is one of what it says.
    package init(text: String) throws(Failure) {
        let lines = text.split(separator: "\n")
        guard lines.count == 2, let statement = try? JSONDecoder().decode(Statement.self, from: Data(lines[0].utf8)),
            statement.format == Self.format,
            let signature = try? JSONDecoder().decode(Signature.self, from: Data(lines[1].utf8))
        else { throw .noManifest }
        guard
            SigningKey.isValid(
                signature: signature.signature, of: Data(lines[0].utf8), publicKey: signature.publicKey)
        else { throw .wrongSignature }
        self.statement = statement
        publicKey = signature.publicKey
        self.text = text
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
