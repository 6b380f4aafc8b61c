import Bluetooth
import Capture
import Foundation
import Headsets

/// A file with what a headset sent, in one of the formats that `eegsync help replay` describes.
struct CaptureFile {
    /// What it holds.
    let contents: CaptureContents
    /// False for bytes alone.
    let hasTimes: Bool
    /// What is wrong with some of it, which is left out.
    private(set) var damage = Damage()

    /// What was left out of a file because it is wrong.
    struct Damage: Hashable {
        /// Lines of a text.
        var lineCount = 0
        /// The first reason, as words.
        var reason: String?
        /// True where a btsnoop file ends in the middle of a record.
        var isCutOff = false
    }

    /// The first bytes show the format, and for some models how much they send.
    private static let beginningLength = 1 << 20

    /// Reads a capture.
    ///
    /// - Parameters:
    ///   - path: the file, which may be a pipe; `-` is the standard input.
    ///   - format: what the bytes of the file are; nil as the file's beginning shows.
    ///   - connection: which of several headsets in a btsnoop file.
    ///   - bytesPerSecond: at which rate bytes without times came; nil for the model's own.
    ///   - profile: the model that the capture is of.
    ///   - consequence: what did not happen where it cannot be read.
    /// - Throws: `Failure`.
    static func read(
        _ path: String, format: Replay.Format?, connection: Int?, bytesPerSecond: Double? = nil,
        profile: any HeadsetProfile, consequence: String = "nothing was compared."
    ) throws -> CaptureFile {
        let bytes: CaptureBytes
        do {
            bytes = try CaptureInput.open(path).bytes
        } catch {
            throw Failure(
                problem: "the file \(path) cannot be read: \(FileReason(error).words).", consequence: consequence,
                remedy: "check the path and who may read it (ls -l).", code: .noInput)
        }
        let format = format ?? Replay.Format(of: bytes.prefix(beginningLength))
        if connection != nil, format != .btsnoop {
            throw Failure(
                problem: "only a btsnoop file has several connections.", consequence: consequence,
                remedy: "leave --connection out.", code: .usage)
        }
        if bytesPerSecond != nil, format != .bytes {
            throw Failure(
                problem: "a file of the format \(format.rawValue) has times of its own.", consequence: consequence,
                remedy: "leave --byte-rate out.", code: .usage)
        }
        do throws(CaptureError) {
            let file = try read(bytes, as: format, connection, profile)
            if let file { return file }
        } catch {
            throw Failure(
                problem: "\(path) cannot be played: \(error).", consequence: consequence, remedy: remedy(error),
                code: .dataError)
        }
        let contents = try byteStream(bytes, path, bytesPerSecond, profile, consequence)
        return CaptureFile(contents: contents, hasTimes: false)
    }

    /// Nil for bytes without times.
    private static func read(
        _ bytes: CaptureBytes, as format: Replay.Format, _ connection: Int?, _ profile: any HeadsetProfile
    ) throws(CaptureError) -> CaptureFile? {
        var file: CaptureFile
        switch format {
        case .bytes:
            if bytes.count == 0 { throw .empty }
            return nil
        case .text:
            let (contents, summary) = try CaptureText(bytes).contents()
            file = CaptureFile(contents: contents, hasTimes: true)
            file.damage.lineCount = summary.wrongLineCount
            file.damage.reason = summary.firstError?.description
        case .btsnoop:
            // Where only the GATT database shows what sends samples, what the commands go to is the same in every kind.
            let notifying = profile.dataCharacteristics.isEmpty ? profile.controlCharacteristics : profile.dataCharacteristics
            let snoop = try CaptureSnoop(bytes)
            if let offset = snoop.damagedOffset, snoop.peripherals.isEmpty { throw .malformedRecord(offset: offset) }
            let contents = snoop.contents(of: try snoop.choose(connection: connection, notifying: notifying))
            file = CaptureFile(contents: contents, hasTimes: true)
            file.damage.isCutOff = snoop.damagedOffset != nil
            file.damage.reason = snoop.damagedOffset.map { CaptureError.malformedRecord(offset: $0).description }
        }
        if file.contents.characteristics.isEmpty { throw .empty }
        return file
    }

    /// Bytes without times are cut at the model's nominal rate, fifty pieces a second.
    private static func byteStream(
        _ bytes: CaptureBytes, _ path: String, _ bytesPerSecond: Double?, _ profile: any HeadsetProfile,
        _ consequence: String
    ) throws -> CaptureContents {
        guard let stream = profile.byteStream(beginning: bytes.prefix(beginningLength)) else {
            throw Failure(
                problem: "\(path) holds bytes alone, and a headset of model \(profile.model) sends notifications: where each "
                    + "begins and ends is not in the file.",
                consequence: consequence, remedy: "take a capture of the format text or btsnoop.", code: .dataError)
        }
        guard let rate = bytesPerSecond ?? stream.bytesPerSecond else {
            throw Failure(
                problem: "\(path) holds bytes without times, and nothing shows how many a headset of model \(profile.model) "
                    + "sends in a second.",
                consequence: consequence, remedy: "give --byte-rate.", code: .usage)
        }
        return CaptureByteStream(
            bytes, characteristic: stream.characteristic, bytesPerSecond: rate,
            pieceLength: Int(min(max(1, rate / 50), 4096))
        ).contents
    }

    private static func remedy(_ error: CaptureError) -> String {
        switch error {
        case .severalConnections(let found), .noSuchConnection(_, let found):
            "choose one with --connection NUMBER, such as --connection \(found.last?.number ?? 1)."
        case .nothingWanted: "check --model; a capture must begin before the headset is connected for the first time."
        default: "check the file and --format; `eegsync help replay` describes the formats."
        }
    }
}
