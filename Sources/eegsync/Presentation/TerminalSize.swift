import Foundation

/// How much room a terminal has.
enum TerminalSize {
    /// Columns of the terminal at a descriptor; nil where there is none, or where it does not say.
    static func columns(of descriptor: Int32) -> Int? {
        size(of: descriptor).flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
    }

    /// Rows of the terminal at a descriptor; nil where there is none, or where it does not say.
    static func rows(of descriptor: Int32) -> Int? {
        size(of: descriptor).flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
    }

    private static func size(of descriptor: Int32) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }
}
