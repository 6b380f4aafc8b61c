import Bluetooth
import Capture
import Foundation
import Headsets

/// A file with what a headset sent, in one of the formats that `eegsync help replay` describes.
enum CaptureFile {
    /// Reads a capture.
    ///
    /// - Parameters:
    ///   - format: what the bytes of the file are; nil as the file's beginning tells.
    ///   - connection: which of several headsets in a btsnoop file.
    ///   - profile: the model that the capture is of.
    ///   - consequence: what did not happen where it cannot be read.
    /// - Throws: `Failure`.
    static func read(
        _ path: String, format: Replay.Format?, connection: Int?, profile: any HeadsetProfile,
        consequence: String = "nothing was compared."
    ) throws -> (capture: Capture, hasTimes: Bool) {
        let bytes: [UInt8]
        do {
            bytes = try self.bytes(of: path)
        } catch {
            throw Failure(
                problem: "the file \(path) cannot be read: \(FileReason(error).words).", consequence: consequence,
                remedy: "check the path and who may read it (ls -l).", code: .noInput)
        }
        let format = format ?? Replay.Format(of: bytes)
        if connection != nil, format != .btsnoop {
            throw Failure(
                problem: "only a btsnoop file has several connections.", consequence: consequence,
                remedy: "leave --connection out.", code: .usage)
        }
        do {
            let capture: Capture
            switch format {
            case .bytes: capture = try byteStream(bytes, path, profile, consequence)
            case .text: capture = try Capture(text: bytes)
            case .btsnoop:
                // Where only the GATT database tells what sends samples, what the commands go to is the same in every kind.
                let telling = profile.dataCharacteristics.isEmpty ? profile.controlCharacteristics : profile.dataCharacteristics
                capture = try Capture(btsnoop: bytes, connection: connection, notifying: telling)
            }
            if capture.pieces.isEmpty { throw CaptureError.empty }
            return (capture, format != .bytes)
        } catch let error as CaptureError {
            throw Failure(
                problem: "\(path) cannot be played: \(error).", consequence: consequence, remedy: remedy(error),
                code: .dataError)
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileReason("it is a directory, a pipe or a device")
        }
        return Array(try handle.readToEnd() ?? Data())
    }

    /// Bytes without times are cut at the model's nominal rate.
    private static func byteStream(
        _ bytes: [UInt8], _ path: String, _ profile: any HeadsetProfile, _ consequence: String
    ) throws -> Capture {
        if let stream = (profile as? DescribedProfile)?.byteStream {
            return Capture(
                byteStream: bytes, characteristic: stream.characteristic, bytesPerSecond: stream.bytesPerSecond ?? 4132)
        }
        guard profile.dataCharacteristics == [.serialPort] else {
            throw Failure(
                problem: "\(path) holds bytes alone, and a headset of model \(profile.model) sends notifications: where each "
                    + "begins and ends is not in the file.",
                consequence: consequence, remedy: "take a capture of the format text or btsnoop.", code: .dataError)
        }
        return Capture(byteStream: bytes)
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
