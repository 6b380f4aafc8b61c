import Foundation
import Headsets

/// The beginning of a stream's channels as curves for a terminal.
struct StreamPlot {
    private let name: String
    private let frequency: Double
    private let seconds: Double
    private let channels: [(description: ChannelDescription, values: [Int32?])]

    /// The widest plot; wider ones are no easier to read.
    private static let columnsMaximum = 120

    init(_ stream: CaptureTrial.Stream, seconds: Double) {
        let last = stream.beginning.compactMap { $0.lastIndex { $0 != nil } }.max() ?? 0
        frequency = stream.description.samplingFrequency
        // A capture that is shorter than the plot fills it.
        self.seconds = min(seconds, Double(last + 1) / frequency)
        let count = max(1, Int((self.seconds * frequency).rounded(.up)))
        name = stream.description.bankName
        channels = zip(stream.description.channels, stream.beginning).map { ($0, Array($1.prefix(count))) }
    }

    func lines(style: TerminalStyle, columns: Int? = nil) -> [String] {
        let rows = channels.count > 4 ? 2 : 3
        let names = channels.map { $0.description.name.printable }
        let width = min(14, max(4, names.map(\.displayWidth).max() ?? 4))
        let gutter = width + 1 + 12 + 1
        let plotWidth = max(20, min(Self.columnsMaximum, columns ?? style.columns ?? 80) - gutter)
        var lines = [style.apply(.heading, to: "\(name.printable), the first \(Quantity.duration(seconds: seconds))")]
        for (channel, values) in channels {
            let physical = values.map { $0.map { Double($0) * channel.scale + channel.offset } }
            let present = physical.compactMap { $0 }
            guard let low = present.min(), let high = present.max() else {
                lines.append(Self.gutter(channel.name, "nothing", width, isName: true, style))
                continue
            }
            let curve = SignalPlot.lines(physical, in: low...high, rows: rows, columns: plotWidth)
            for (row, line) in curve.enumerated() {
                let isLast = row == curve.count - 1
                let scale =
                    row == 0
                    ? Quantity.significant(high, digits: 4)
                    : isLast ? Quantity.significant(low, digits: 4) : channel.unit.printable
                // With two rows only, the unit stands beside the upper value.
                let text = row == 0 && rows == 2 ? "\(scale) \(channel.unit.printable)" : scale
                lines.append(Self.gutter(channel.name, text, width, isName: row == 0, style) + line)
            }
        }
        lines.append(
            String(repeating: " ", count: gutter)
                + style.apply(.faint, to: SignalPlot.timeLine(seconds: seconds, columns: plotWidth)))
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }
    }

    private static func gutter(_ name: String, _ scale: String, _ width: Int, isName: Bool, _ style: TerminalStyle) -> String {
        var label = isName ? name.printable : ""
        while label.displayWidth > width { label.removeLast() }
        label += String(repeating: " ", count: width - label.displayWidth)
        let padding = String(repeating: " ", count: max(0, 12 - scale.displayWidth))
        return label + " " + padding + style.apply(.faint, to: scale) + " "
    }
}
