import Foundation
import HeadsetDescriptors
import Headsets
import ShippedHeadsets
import YAMLReading

/// All models that this machine knows: built in, described by files of its owner, and described by files that come with
/// eegsync.
struct HeadsetLibrary {
    /// Where a model comes from.
    enum Origin: Hashable {
        /// Part of the program.
        case builtIn
        /// A descriptor of this file.
        case file(String)
        /// A descriptor that comes with the program.
        case shipped(String)
    }

    /// One model.
    struct Entry {
        var profile: any HeadsetProfile
        var origin: Origin
        /// What describes it, and its text; nil for a built-in model.
        var descriptor: HeadsetDescriptor?
        var text: String?
    }

    /// A descriptor that is not used.
    struct Refused {
        /// Its file.
        var origin: Origin
        var reason: DescriptorFailure
        /// Its text; nil where the file cannot be read.
        var text: String?
    }

    /// Why a descriptor is not used.
    enum DescriptorFailure {
        /// It is wrong, or has facts to be filled in.
        case descriptor(YAMLDocumentError)
        /// The file cannot be read.
        case unreadable(String)
        /// A directory that comes first describes the model already.
        case shadowed(model: String, by: Origin)
    }

    /// Where descriptors of the machine's owner are.
    static let systemDirectory = "/etc/eegsync/headsets"
    /// More than anybody has.
    private static let filesMaximum = 200

    /// In the order in which they are shown, and in which a scan asks them: built in, the owner's, shipped.
    private(set) var entries: [Entry]
    private(set) var refused: [Refused] = []

    /// The built-in and shipped models, and those described in these directories; the first that describes a model counts.
    init(directories: [String]) {
        entries = HeadsetCatalog.builtIn.profiles.map { Entry(profile: $0, origin: .builtIn) }
        for directory in directories {
            for path in Self.files(in: directory) {
                do throws(FileReason) {
                    take(try DescriptorFile.text(path: path), .file(path))
                } catch {
                    refused.append(Refused(origin: .file(path), reason: .unreadable(error.words)))
                }
            }
        }
        for shipped in ShippedDescriptor.all { take(shipped.text, .shipped(shipped.file)) }
    }

    /// The models that a configuration can name: of the directory `headsets` beside it, of ``systemDirectory``, and the
    /// program's.
    init(configurationPath: String) {
        let beside = URL(fileURLWithPath: configurationPath).deletingLastPathComponent().appendingPathComponent("headsets").path
        self.init(directories: beside == Self.systemDirectory ? [beside] : [beside, Self.systemDirectory])
    }

    private mutating func take(_ text: String, _ origin: Origin) {
        do throws(YAMLDocumentError) {
            let descriptor = try DescriptorReader.read(text, takenModels: HeadsetCatalog.builtIn.models)
            if let other = entries.first(where: { $0.profile.model == descriptor.model }) {
                let reason = DescriptorFailure.shadowed(model: descriptor.model, by: other.origin)
                refused.append(Refused(origin: origin, reason: reason, text: text))
            } else {
                entries.append(Entry(profile: DescribedProfile(descriptor), origin: origin, descriptor: descriptor, text: text))
            }
        } catch {
            refused.append(Refused(origin: origin, reason: .descriptor(error), text: text))
        }
    }

    private static func files(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted().prefix(filesMaximum).map {
            "\(directory)/\($0)"
        }
    }

    /// All profiles.
    var catalog: HeadsetCatalog { HeadsetCatalog(profiles: entries.map(\.profile)) }

    /// The identifiers of all models.
    var models: [String] { entries.map(\.profile.model) }

    /// Descriptors of the owner's that are wrong, for a message about a model that is unknown.
    var wrongFiles: [String] {
        refused.compactMap { refused in
            guard case .file(let path) = refused.origin else { return nil }
            if case .shadowed = refused.reason { return nil }
            return path
        }
    }
}

extension HeadsetLibrary.Origin {
    /// Such as `built in`, `shipped` or the file's path.
    var words: String {
        switch self {
        case .builtIn: "built in"
        case .shipped: "shipped"
        case .file(let path): path
        }
    }
}

/// A file with a descriptor.
enum DescriptorFile {
    /// The text of a file of a descriptor's size.
    static func text(path: String) throws(FileReason) -> String {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            data = try handle.read(upToCount: DescriptorReader.lengthMaximum + 1) ?? Data()
        } catch {
            throw FileReason(error)
        }
        guard data.count <= DescriptorReader.lengthMaximum else {
            throw FileReason("it is larger than \(DescriptorReader.lengthMaximum / 1024) KiB")
        }
        guard let text = String(bytes: data, encoding: .utf8) else { throw FileReason("it is not UTF-8 text") }
        return text
    }
}
