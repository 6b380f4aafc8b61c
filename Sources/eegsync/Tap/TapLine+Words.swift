import Bluetooth
import Headsets

extension TapLine {
    /// The message for a person.
    func text(clock: WallClock) -> String {
        let time = unixNanoseconds.map(clock.text) ?? Quantity.seconds(boottimeNanoseconds) + " s since boot"
        let subject = [headset, stream].compactMap(\.self).joined(separator: " ")
        return [time, subject.isEmpty ? nil : subject, words].compactMap(\.self).joined(separator: "  ").printable
    }

    private var words: String {
        switch kind {
        case "hello":
            "eegsync \(version ?? ""), \(Quantity.count(Int64(clamping: droppedReaders ?? 0), "reader")) dropped so far"
        case "headset": "recording \(recording ?? 0), model \(model ?? "")"
        case "stream":
            "stream \(streamId ?? 0): \(channels?.map(\.name).joined(separator: " ") ?? ""), \(samplingFrequency ?? 0) Hz"
        case "state": "is \(state ?? "")" + (cause.map { " (\($0))" } ?? "")
        case "clock": "the wall clock is \(isSynchronised == true ? "" : "not ")synchronised"
        case "samples": "\(range)\(isLate == true ? ", late" : ""): \(lastRow)"
        case "fill": "channel \(channel ?? 0) of \(range) has come"
        case "gap": gapWords
        case "mark": "\(source ?? ""): \(description ?? "")" + (n.map { ", n \($0)" } ?? "")
        case "check": "channel \(channel ?? 0): \(condition ?? ""), \(range)"
        case "battery": "\(condition ?? "")" + (batteryPercent.map { ", battery \(Int($0)) %" } ?? "")
        case "impedance": "\(electrode ?? ""): \(kilohms ?? 0) kOhm"
        case "segment": "the time map has \(range) anew, +- \(Int((uncertaintyNanoseconds ?? 0) / 1e6)) ms"
        case "recording": "the recording has \(change ?? "")"
        case "committed": committedWords
        case "refused": "the database has refused what was said up to \(through ?? 0): \(detail ?? "")"
        default: kind
        }
    }

    private var range: String {
        guard let n else { return "" }
        let count = count ?? values.map { Int64($0.count) } ?? 1
        return count > 1 ? "n \(n) ... \(n + count - 1)" : "n \(n)"
    }

    private var lastRow: String {
        (rows?.last ?? []).map { $0.map(String.init) ?? "-" }.joined(separator: " ")
    }

    private var gapWords: String {
        let which = channel.map { $0 == 0 ? "" : "channel \($0) of " } ?? ""
        return switch change {
        case "open": "missing: \(which)" + (count == nil ? "from n \(n ?? 0) on" : range) + " (\(cause ?? ""))"
        case "close": "missing: \(which)\(range) (\(certainty ?? ""))"
        case "recover": "\(Quantity.count(count ?? 0, "sample")) of the gap at \(which)n \(n ?? 0) came after all"
        default: "nothing was missing at \(which)n \(n ?? 0)"
        }
    }

    private var committedWords: String {
        let rows = (committed ?? []).reduce(0) { $0 + $1.count }
        return "\(Quantity.count(rows, "row")) committed, everything said up to \(through ?? 0) is stored"
    }
}
