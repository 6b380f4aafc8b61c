import Bluetooth
import Foundation

/// The phones that a person has paired for commands: a file with an address a line.
struct CompanionPhones {
    /// Where the unit keeps it.
    static let defaultPath = "/var/lib/eegsync-companion/phones"

    let path: String

    /// True for a phone of the file; false for all where it cannot be read.
    func contains(_ phone: PeripheralIdentifier) -> Bool { all.contains(phone) }

    /// The phones of the file, in its order.
    var all: [PeripheralIdentifier] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(whereSeparator: \.isNewline).compactMap { PeripheralIdentifier(String($0)) }
    }

    /// Adds a phone; nothing changes where it is there.
    ///
    /// - Throws: ``Failure``.
    func add(_ phone: PeripheralIdentifier) throws {
        let phones = all
        guard !phones.contains(phone) else { return }
        try write(phones + [phone])
    }

    /// Takes all phones out.
    ///
    /// - Throws: ``Failure``.
    func removeAll() throws { try write([]) }

    private func write(_ phones: [PeripheralIdentifier]) throws {
        do {
            let text = phones.map { "\($0)\n" }.joined()
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            // The service, which has a user of its own, reads it.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        } catch {
            throw Failure(
                problem: "\(path) cannot be written: \(error.localizedDescription)",
                consequence: "no phone was allowed anything.",
                remedy: "run it as root (sudo), after: systemctl start eegsync-companion; or name another file with --phones.",
                code: .cannotCreate)
        }
    }
}
