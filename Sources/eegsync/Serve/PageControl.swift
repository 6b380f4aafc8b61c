import Foundation
import Page

/// What the page has done where `control: true` stands in the configuration: what a person would type, run as a command of its
/// own. The rights are those of the user that serves the page, or of the control service.
struct PageControl: Sendable {
    /// The options that name the configuration and the database, as `eegsync serve` was given them.
    let options: [String]
    /// Runs the program with arguments; another one in tests.
    var run: @Sendable ([String]) async -> ChildProgram.End = { arguments in
        await ChildProgram(path: "/proc/self/exe", arguments: arguments, limit: .seconds(50)).run()
    }

    /// Has it done.
    func respond(_ wish: PageWish) async -> PageResponse {
        guard let arguments = arguments(wish) else { return PageWish.refusal }
        let end = await run(arguments)
        if case .exited(0, let output, _) = end {
            return .json((try? PageReading.document(["sentence": output])) ?? Data("{}".utf8))
        }
        if case .exited(_, _, let errors) = end, !errors.isEmpty { return .problem(409, errors) }
        return .problem(503, "The command was not done: \(end.problem ?? "unknown").")
    }

    /// What a person would type; nil for nothing that may be typed here.
    func arguments(_ wish: PageWish) -> [String]? {
        if let headset = wish.headset, !Configuration.isPlainName(headset) || headset.hasPrefix("-") { return nil }
        switch (wish.action, wish.headset) {
        case ("record", let headset?): return ["record", "start", headset] + options
        case ("stop", let headset?): return ["record", "stop", headset] + options
        case ("impedance", let headset?): return ["impedance", headset, "--seconds", "5"] + options
        case ("mark", let headset):
            // An argument ends at a zero byte, and the mark would with it.
            guard let text = wish.text, (1...500).contains(text.count), !text.allSatisfy(\.isWhitespace), !text.utf8.contains(0)
            else { return nil }
            return ["mark"] + (headset.map { ["--headset", $0] } ?? []) + options + ["--", text]
        default: return nil
        }
    }
}
