import Foundation
import Headsets
import YAMLReading

/// The file that a configuration stands in.
enum ConfigurationFile {
    /// Reads and parses a file, whose models may be described by files beside it.
    ///
    /// - Throws: ``ConfigurationError``.
    static func load(path: String) throws(ConfigurationError) -> Configuration {
        let library = HeadsetLibrary(configurationPath: path)
        do throws(ConfigurationError) {
            return try load(path: path, models: library.models, described: library.entries.compactMap(\.descriptor))
        } catch .wrong(let file, .invalid(var problems)) where !library.wrongFiles.isEmpty {
            // The unknown model may be one whose descriptor is wrong.
            let check = "; `eegsync headsets check` shows what is wrong in \(library.wrongFiles.joined(separator: ", "))"
            for index in problems.indices where problems[index].key.hasSuffix(".model") { problems[index].hint += check }
            throw .wrong(file: file, .invalid(problems))
        } catch {
            throw error
        }
    }

    /// Reads and parses a file that may name these models.
    ///
    /// - Throws: ``ConfigurationError``.
    static func load(
        path: String, models: [String], described: [HeadsetDescriptor] = []
    ) throws(ConfigurationError) -> Configuration {
        let text: String
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let data = try handle.read(upToCount: ConfigurationParser.lengthMaximum + 1) ?? Data()
            guard data.count <= ConfigurationParser.lengthMaximum else {
                throw ConfigurationError.unreadable(file: path, reason: "it is larger than 1 MiB")
            }
            guard let decoded = String(bytes: data, encoding: .utf8) else {
                throw ConfigurationError.unreadable(file: path, reason: "it is not UTF-8 text")
            }
            text = decoded
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw .unreadable(file: path, reason: FileReason(error).words)
        }
        return try ConfigurationParser.parse(text, file: path, models: models, described: described)
    }
}

extension Configuration {
    /// Whether a database is the one that the configuration names, whatever links lead to it.
    func names(_ database: String?) -> Bool {
        guard let database else { return false }
        func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        return resolved(databasePath) == resolved(database)
    }
}
