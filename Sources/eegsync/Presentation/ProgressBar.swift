import Bluetooth
import Foundation

/// How far long work is, on one line of standard error that overwrites itself; silent where standard error is no terminal.
struct ProgressBar {
    /// What is done, such as `exporting`; shown with the next picture where it changes on the way.
    var label: String {
        didSet { if label != oldValue { isStale = true } }
    }
    private var isStale = false
    private let isTerminal: Bool
    private var shownPerMille = -1
    /// What is counted, such as `rows`; nil where a rate would say nothing.
    private let unit: String?
    private let clock: () -> MonotonicTime
    /// When the first picture was due, and what was done then.
    private var began: (time: MonotonicTime, done: Int64)?

    /// Creates a bar that has shown nothing yet.
    ///
    /// - Parameters:
    ///   - unit: what `done` and `total` count, for a rate and the time that is left.
    ///   - clock: for those.
    init(
        label: String, unit: String? = nil, isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        clock: @escaping () -> MonotonicTime = { HostClock.now }
    ) {
        self.label = label
        self.unit = unit
        self.isTerminal = isTerminal
        self.clock = clock
    }

    /// Shows that `done` of `total` is done; draws only when the picture changes.
    mutating func update(done: Int64, total: Int64) {
        guard isTerminal else { return }
        let perMille = Self.perMille(done: done, total: total)
        guard perMille != shownPerMille || isStale else { return }
        shownPerMille = perMille
        isStale = false
        var pace = ""
        if let unit {
            let now = clock()
            let began = began ?? (now, done)
            self.began = began
            pace = Self.pace(
                done: done - began.done, left: total - done, unit: unit,
                seconds: Double((now - began.time).nanoseconds) / 1e9)
        }
        StandardError.write("\r\u{1B}[K" + Self.line(label: label, perMille: perMille, columns: Self.columns, pace: pace))
    }

    /// `1,200,000 rows/s, 3 min 05 s left`; empty before a second has passed.
    static func pace(done: Int64, left: Int64, unit: String, seconds: Double) -> String {
        guard seconds >= 1, done > 0 else { return "" }
        let rate = Double(done) / seconds
        return "\(Quantity.count(Int64(rate))) \(unit)/s, \(Quantity.duration(seconds: Double(max(0, left)) / rate)) left"
    }

    /// Removes the line.
    mutating func finish() {
        guard isTerminal, shownPerMille >= 0 else { return }
        shownPerMille = -1
        StandardError.write("\r\u{1B}[K")
    }

    /// Removes the line of whatever bar there is; for a signal that ends the process.
    static func removeLine() {
        if isatty(STDERR_FILENO) == 1 { StandardError.write("\r\u{1B}[K") }
    }

    /// The line for a terminal of `columns` columns.
    static func line(label: String, perMille: Int, columns: Int, pace: String = "") -> String {
        var tail = String(format: "%5.1f %%", Double(perMille) / 10)
        if !pace.isEmpty, columns - label.displayWidth - tail.displayWidth - pace.displayWidth - 7 >= 10 { tail += "  " + pace }
        let room = columns - label.displayWidth - tail.displayWidth - 5
        guard room >= 10 else { return "\(label) \(tail)" }
        let width = min(room, 50)
        let filled = width * perMille / 1000
        return "\(label) [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))] \(tail)"
    }

    /// Work that has no size counts as done; work beyond its estimate stays at 1000.
    static func perMille(done: Int64, total: Int64) -> Int {
        total > 0 ? Int((Double(max(0, min(done, total))) / Double(total) * 1000).rounded(.down)) : 1000
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
