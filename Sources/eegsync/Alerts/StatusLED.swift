import Alerts
import Foundation
import Glibc

/// A lamp that is lit while an alert lasts (Documentation/leds/leds-class.rst of the kernel).
struct StatusLED {
    let lamp: Configuration.Alerts.Lamp
    var files = SystemFiles()

    private var directory: String { "/sys/class/leds/\(lamp.name)" }

    /// Lights it or puts it out; writes only where it is not so yet.
    ///
    /// - Returns: why it cannot; nil where it is so now.
    func set(isLit: Bool) -> String? {
        guard files.exists(directory) else {
            let known = files.names(in: "/sys/class/leds").joined(separator: ", ")
            return "there is no LED \(lamp.name)" + (known.isEmpty ? "" : "; there are \(known)")
        }
        // Any trigger but this one would overrule the brightness.
        let wanted = isLit ? lamp.trigger ?? "none" : "none"
        if trigger != wanted, let problem = write(wanted, to: "trigger") { return problem }
        if isLit, lamp.trigger != nil { return nil }
        let brightness = isLit ? files.text("\(directory)/max_brightness") ?? "1" : "0"
        return files.text("\(directory)/brightness") == brightness ? nil : write(brightness, to: "brightness")
    }

    /// Tries whether it can be lit, and leaves it as it was found.
    func blink() -> DeliveryOutcome {
        let (trigger, brightness) = (trigger, files.text("\(directory)/brightness"))
        if let problem = set(isLit: true) { return .refused(reason: problem) }
        if let trigger, let problem = write(trigger, to: "trigger") { return .refused(reason: problem) }
        if let brightness, trigger == "none", let problem = write(brightness, to: "brightness") {
            return .refused(reason: problem)
        }
        return .delivered
    }

    /// The trigger in brackets is the one in use.
    private var trigger: String? {
        let words = files.text("\(directory)/trigger")?.split(separator: " ").map(String.init)
        return words?.first { $0.hasPrefix("[") && $0.hasSuffix("]") }.map { String($0.dropFirst().dropLast()) }
    }

    private func write(_ text: String, to file: String) -> String? {
        let path = "\(files.root)\(directory)/\(file)"
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
        guard descriptor >= 0 else { return "\(directory)/\(file) cannot be written: \(String(cString: strerror(errno)))" }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            return "\(directory)/\(file) does not take \(text): \(String(cString: strerror(errno)))"
        }
        return nil
    }
}
